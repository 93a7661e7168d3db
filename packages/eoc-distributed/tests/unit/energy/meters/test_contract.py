"""What every registered meter must do on a machine that does not have it."""

from __future__ import annotations

import pytest

from eoc_distributed.energy.meters import REGISTRY, Meter, open_meter
from eoc_distributed.errors import ConfigError, MeterFailed, UnknownPlugin


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_a_meter_that_is_absent_says_so_or_reads_a_rising_counter(name: str) -> None:
    refusal = ""
    try:
        meter: Meter | None = open_meter(name)
    except (MeterFailed, ConfigError) as error:
        meter, refusal = None, str(error)
    if meter is None:
        assert name in refusal
    else:
        first = meter.read_micro_joules()
        assert 0 <= first <= meter.read_micro_joules()


def test_an_unknown_meter_is_refused_with_the_known_names() -> None:
    with pytest.raises(UnknownPlugin, match="rapl"):
        open_meter("sundial")
