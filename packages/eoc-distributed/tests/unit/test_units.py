from __future__ import annotations

import pytest

from eoc_distributed.units import Quality, grams_co2e, worst


def test_a_kilowatt_hour_emits_the_intensity() -> None:
    assert grams_co2e(3_600_000_000_000, 475.0) == 475.0


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (Quality.MEASURED, Quality.MEASURED, Quality.MEASURED),
        (Quality.MEASURED, Quality.ESTIMATED, Quality.ESTIMATED),
        (Quality.DECLARED, Quality.ESTIMATED, Quality.DECLARED),
        (Quality.MEASURED, Quality.DECLARED, Quality.DECLARED),
    ],
)
def test_a_sum_is_as_good_as_its_worst_part(
    first: Quality, second: Quality, expected: Quality
) -> None:
    assert worst(first, second) is expected
    assert worst(second, first) is expected
