from __future__ import annotations

from eoc_distributed.energy.accounting import Energy, Ledger, cost_of
from eoc_distributed.units import MicroJoules, Quality

MEASURED = Energy(MicroJoules(5_000_000), Quality.MEASURED)
PER_TOKEN = Energy(MicroJoules(70_000), Quality.DECLARED)


def test_what_the_worker_reports_wins() -> None:
    cost = cost_of(
        prompt_tokens=10,
        completion_tokens=5,
        reported=MEASURED,
        per_token=PER_TOKEN,
        g_per_kwh=36.0,
    )
    assert cost.energy == MEASURED
    assert cost.g_co2e == 5_000_000 / 1e6 / 3.6e6 * 36.0


def test_energy_per_token_counts_every_token_of_the_request() -> None:
    cost = cost_of(
        prompt_tokens=10, completion_tokens=5, reported=None, per_token=PER_TOKEN, g_per_kwh=None
    )
    assert cost.energy == Energy(MicroJoules(15 * 70_000), Quality.DECLARED)
    assert cost.g_co2e is None


def test_unknown_energy_is_counted_apart_and_never_as_zero() -> None:
    ledger = Ledger()
    unknown = cost_of(
        prompt_tokens=10, completion_tokens=5, reported=None, per_token=None, g_per_kwh=36.0
    )
    ledger.charge("w", unknown)
    totals = ledger.workers["w"]
    assert unknown.energy is None
    assert (totals.requests, totals.unknown_energy, totals.unknown_carbon) == (1, 1, 1)
    assert totals.quality is None


def test_totals_are_exact_and_as_good_as_their_worst_part() -> None:
    ledger = Ledger()
    for per_token in (Energy(MicroJoules(3), Quality.MEASURED), PER_TOKEN):
        ledger.charge(
            "w",
            cost_of(
                prompt_tokens=1,
                completion_tokens=1,
                reported=None,
                per_token=per_token,
                g_per_kwh=None,
            ),
        )
    totals = ledger.workers["w"]
    assert totals.micro_joules == 2 * 3 + 2 * 70_000
    assert (totals.prompt_tokens, totals.completion_tokens) == (2, 2)
    assert totals.quality is Quality.DECLARED
