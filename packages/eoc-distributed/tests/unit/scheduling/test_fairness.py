from __future__ import annotations

import pytest

from eoc_distributed.scheduling import TokenCounters


def test_answers_weigh_twice_as_much_as_prompts() -> None:
    counters = TokenCounters()
    counters.arrive("a")
    counters.charge("a", prompt_tokens=10, answer_tokens=5)
    assert counters.served("a") == 20.0


def test_the_tenant_served_least_is_next() -> None:
    counters = TokenCounters()
    for tenant in "abc":
        counters.arrive(tenant)
    counters.charge("a", prompt_tokens=10)
    counters.charge("c", prompt_tokens=3)
    assert counters.in_turn("abc") == ["b", "c", "a"]


def test_weights_give_larger_shares() -> None:
    counters = TokenCounters({"a": 2.0})
    counters.arrive("a")
    counters.charge("a", prompt_tokens=10)
    assert counters.served("a") == 5.0


def test_staying_away_earns_no_claim() -> None:
    counters = TokenCounters()
    counters.arrive("busy")
    counters.charge("busy", prompt_tokens=1000)
    counters.arrive("late")
    assert counters.served("late") == 1000.0


def test_leaving_and_coming_back_keeps_the_debt() -> None:
    counters = TokenCounters()
    counters.arrive("a")
    counters.arrive("b")
    counters.charge("a", prompt_tokens=500)
    counters.leave("a")
    counters.arrive("a")
    assert counters.in_turn("ab") == ["b", "a"]


def test_idle_tenants_are_forgotten_beyond_a_limit() -> None:
    counters = TokenCounters()
    for number in range(12_000):
        counters.arrive(f"t{number}")
        counters.leave(f"t{number}")
        counters.charge(f"t{number}", answer_tokens=1)
    assert len(counters._served) == len(counters._idle) == 10_000
    counters.charge("t0", answer_tokens=1)
    assert counters.served("t0") == 0.0


def test_a_weight_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        TokenCounters({"a": 0.0})
