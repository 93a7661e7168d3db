from __future__ import annotations

import pytest

from eoc_distributed.clock import ManualClock, SystemClock


def test_manual_clock_moves_only_when_told() -> None:
    clock = ManualClock(5.0)
    assert clock.now_s() == 5.0
    clock.advance(1.5)
    assert clock.now_s() == 6.5


def test_manual_clock_refuses_to_go_back() -> None:
    with pytest.raises(ValueError, match="does not go back"):
        ManualClock().advance(-0.1)


def test_system_clock_never_goes_back() -> None:
    clock = SystemClock()
    first = clock.now_s()
    assert clock.now_s() >= first
