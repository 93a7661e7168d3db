from __future__ import annotations

from random import Random

import pytest

from eoc_distributed.sim.sketch import QuantileSketch


def test_quantiles_are_off_by_half_a_percent_at_most() -> None:
    rng = Random(1)
    values = sorted(rng.lognormvariate(0, 2) for _ in range(10_000))
    sketch = QuantileSketch()
    for value in values:
        sketch.add(value)
    for share in (0.01, 0.5, 0.9, 0.99, 0.999):
        assert sketch.quantile(share) == pytest.approx(values[int(share * 10_000)], rel=0.0051)
    assert sketch.quantile(1.0) == pytest.approx(values[-1], rel=0.0051)
    assert sketch.mean() == pytest.approx(sum(values) / 10_000)
    assert sketch.above(1.0) == pytest.approx(0.5, abs=0.02)


def test_nothing_has_no_quantile_and_zero_is_a_value() -> None:
    sketch = QuantileSketch()
    assert sketch.quantile(0.5) is None
    assert sketch.mean() is None
    sketch.add(0.0)
    assert sketch.quantile(0.5) == 0.0
    assert sketch.above(0.0) == 0.0
