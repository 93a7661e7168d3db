from __future__ import annotations

import pytest

from eoc_distributed.errors import ConfigError
from eoc_distributed.sim.policy import Policy, parse_policy


@pytest.mark.parametrize("name", ["round-robin", "sticky+least-busy+stealing+autoscale"])
def test_a_name_and_its_policy_are_one(name: str) -> None:
    assert parse_policy(name).name == name


def test_the_order_of_words_does_not_matter() -> None:
    assert parse_policy("autoscale+marginal-joules+sticky") == Policy(
        "marginal-joules", sticky=True, autoscale=True
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "none of"),
        ("sticky", "exactly one router"),
        ("round-robin+least-busy", "exactly one router"),
        ("round-robin+sticky+sticky", "twice"),
        ("round-robin+magic", "'magic' is none of"),
    ],
)
def test_a_name_that_means_nothing_is_refused(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        parse_policy(name)
