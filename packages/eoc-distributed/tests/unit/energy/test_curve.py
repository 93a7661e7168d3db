from __future__ import annotations

from random import Random

import pytest

from eoc_distributed.backends.embedded.accelerators import H100
from eoc_distributed.energy.curve import EnergyCurve, PassEnergy

PRIOR = PassEnergy(2e6, 60_000.0, 20_000.0)
TRUE = PassEnergy(3e6, 90_000.0, 15_000.0)


def show(curve: EnergyCurve, true: PassEnergy, *, count: int, seed: int = 1) -> None:
    """Let a meter of another truth than the prior be read, with a little noise."""
    rng = Random(seed)
    for _ in range(count):
        passes, width = rng.randint(50, 500), rng.choice([1, 4, 16, 64])
        tokens, prompt = passes * width, rng.randint(0, 50_000)
        cost = true.of(passes=passes, tokens=tokens, prompt_tokens=prompt)
        curve.observe(cost * rng.gauss(1, 0.02), passes=passes, tokens=tokens, prompt_tokens=prompt)


def test_the_prior_stands_until_something_is_measured() -> None:
    assert EnergyCurve(PRIOR).estimate == PRIOR


def test_the_truth_is_learnt_from_traffic_of_all_widths() -> None:
    curve = EnergyCurve(PRIOR)
    show(curve, TRUE, count=300)
    assert curve.estimate.per_pass == pytest.approx(TRUE.per_pass, rel=0.15)
    assert curve.estimate.per_token == pytest.approx(TRUE.per_token, rel=0.15)
    assert curve.estimate.per_prompt_token == pytest.approx(TRUE.per_prompt_token, rel=0.15)


def test_a_single_width_moves_the_level_and_keeps_the_proportions() -> None:
    curve = EnergyCurve(PRIOR)
    double = PassEnergy(2 * PRIOR.per_pass, 2 * PRIOR.per_token, 2 * PRIOR.per_prompt_token)
    cost = double.of(passes=100, tokens=1600, prompt_tokens=8000)
    for _ in range(200):
        curve.observe(cost, passes=100, tokens=1600, prompt_tokens=8000)
    predicted = curve.estimate.of(passes=100, tokens=1600, prompt_tokens=8000)
    assert predicted == pytest.approx(cost, rel=0.02)
    assert curve.estimate.per_pass / PRIOR.per_pass == pytest.approx(2, rel=0.5)


def test_figures_that_cannot_be_say_nothing() -> None:
    curve = EnergyCurve(PRIOR)
    for micro_joules, passes in (
        (0.0, 1),
        (-1.0, 1),
        (float("nan"), 1),
        (float("inf"), 1),
        (1.0, 0),
    ):
        curve.observe(micro_joules, passes=passes, tokens=1, prompt_tokens=1)
    assert curve.estimate == PRIOR
    assert curve.observations == 0


def test_no_measurement_drives_a_part_out_of_bounds() -> None:
    curve = EnergyCurve(PRIOR)
    for cost in (1e18, 1.0) * 50:
        curve.observe(cost, passes=1, tokens=1, prompt_tokens=0)
        for part, prior in (
            (curve.estimate.per_pass, PRIOR.per_pass),
            (curve.estimate.per_prompt_token, PRIOR.per_prompt_token),
        ):
            assert prior / 10 <= part <= prior * 10


def test_one_more_token_is_cheap_where_passes_run_and_dear_where_none_does() -> None:
    curve = EnergyCurve(PRIOR)
    curve.observe(
        PRIOR.of(passes=1, tokens=1, prompt_tokens=1), passes=1, tokens=1, prompt_tokens=1
    )
    assert curve.marginal() < PRIOR.per_token
    assert curve.opening() > 3 * curve.marginal()


def test_a_prior_without_a_part_is_refused() -> None:
    with pytest.raises(ValueError, match="above 0"):
        EnergyCurve(PassEnergy(0.0, 1.0, 1.0))


def test_the_published_points_of_one_accelerator_lie_on_such_a_line() -> None:
    # The form that `routing.marginal` states: J/token = fixed / n + marginal, within 4 %.
    narrow, wide = H100.published[0], H100.published[-1]
    fixed = (narrow.joules_per_token - wide.joules_per_token) / (1 / narrow.batch - 1 / wide.batch)
    marginal = wide.joules_per_token - fixed / wide.batch
    for point in H100.published:
        assert marginal + fixed / point.batch == pytest.approx(point.joules_per_token, rel=0.04)
