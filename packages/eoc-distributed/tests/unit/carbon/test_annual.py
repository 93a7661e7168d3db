from __future__ import annotations

from datetime import UTC, datetime

from eoc_distributed.carbon import Annual, Factors
from eoc_distributed.units import Quality

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_known_zone_has_its_annual_mean_and_says_what_it_is() -> None:
    intensity = Annual().intensity("FR", AT)
    assert intensity is not None
    assert intensity.g_per_kwh == 31.0
    assert intensity.factors is Factors.LIFECYCLE
    assert intensity.quality is Quality.ESTIMATED
    assert "Electricity Maps" in intensity.source


def test_an_unknown_zone_is_not_known() -> None:
    assert Annual().intensity("ATLANTIS", AT) is None
