from __future__ import annotations

from eoc_distributed.autoscaling import DrainCandidate, choose_to_drain, choose_to_restore
from eoc_distributed.autoscaling.drain import Saving


def worker(
    worker_id: str,
    idle_w: float | None = 100.0,
    micro_joules: float | None = 100_000.0,
    **fields: float,
) -> DrainCandidate:
    return DrainCandidate(
        worker_id,
        {"m"},
        in_flight=int(fields.get("in_flight", 0)),
        tokens_per_s=fields.get("tokens_per_s", 100.0),
        idle_w=idle_w,
        micro_joules_per_token=micro_joules,
        g_co2e_per_kwh=fields.get("g_co2e_per_kwh"),
    )


def test_the_highest_idle_power_goes_first_where_tokens_cost_the_same() -> None:
    fleet = [worker("a", 50.0), worker("b", 140.0), worker("c", 90.0)]
    assert choose_to_drain(fleet, count=2) == ("b", "c")


def test_dear_tokens_can_outweigh_idle_power() -> None:
    # a saves 50 W + 1000/s x (0.4 - 0.1) J = 350 W, b saves 200 W - 300 W.
    fleet = [
        worker("a", 50.0, 400_000.0, tokens_per_s=1000.0),
        worker("b", 200.0, 100_000.0, tokens_per_s=1000.0),
    ]
    assert choose_to_drain(fleet, count=1) == ("a",)


def test_carbon_weighs_energy_by_place() -> None:
    fleet = [
        worker("hydro", 300.0, g_co2e_per_kwh=30.0),
        worker("coal", 100.0, g_co2e_per_kwh=700.0),
        worker("gas", 100.0, g_co2e_per_kwh=400.0),
    ]
    assert choose_to_drain(fleet, count=1) == ("hydro",)
    assert choose_to_drain(fleet, count=2, saving=Saving.CARBON) == ("coal", "gas")


def test_the_last_worker_of_a_model_stays() -> None:
    fleet = [
        DrainCandidate("a", {"m", "n"}, idle_w=500.0, micro_joules_per_token=1.0),
        DrainCandidate("b", {"m"}, idle_w=10.0, micro_joules_per_token=1.0),
    ]
    assert choose_to_drain(fleet, count=5) == ("b",)
    assert choose_to_drain(fleet[:1], count=1) == ()
    assert choose_to_drain([], count=1) == ()


def test_where_the_others_figures_are_missing_the_idle_power_counts() -> None:
    fleet = [worker("a", 50.0, 9e6), worker("b", None), worker("c", None)]
    assert choose_to_drain(fleet, count=1) == ("a",)


def test_missing_figures_come_last_and_the_least_to_finish_first() -> None:
    fleet = [
        worker("unknown", None, in_flight=5),
        worker("vague", None, in_flight=1),
        worker("known", 1.0),
        worker("more", 2.0),
    ]
    assert choose_to_drain(fleet, count=4) == ("more", "known", "vague")


def test_of_equals_the_least_busy_goes() -> None:
    fleet = [worker("a", in_flight=9), worker("b", in_flight=1), worker("c", in_flight=5)]
    assert choose_to_drain(fleet, count=1) == ("b",)


def test_the_cheapest_tokens_come_back_first() -> None:
    fleet = [
        worker("dear", 1.0, 300_000.0),
        worker("unknown", None),
        worker("cheap", 90.0, 100_000.0),
        worker("cheap and calm", 20.0, 100_000.0),
    ]
    assert choose_to_restore(fleet, count=3) == ("cheap and calm", "cheap", "dear")
    assert choose_to_restore(fleet, count=9)[-1] == "unknown"
    assert choose_to_restore(fleet, count=1, saving=Saving.CARBON) == ("cheap",)
