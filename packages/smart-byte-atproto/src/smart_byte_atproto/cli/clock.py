"""The clock of the commands: what the core is told of the present."""

from __future__ import annotations

import time
from random import SystemRandom

from smart_byte_atproto.syntax.tid import TID, TIDGenerator

# Clocks of hosts may differ by this much.
_TOLERANCE_S = 300
_LAST_CLOCK_ID = 1023


def latest_rev() -> TID:
    """Return the greatest TID that is not in the future, five minutes allowed."""
    return TID.at((time.time_ns() // 1000) + _TOLERANCE_S * 1_000_000, _LAST_CLOCK_ID)


def next_rev(last: TID | None) -> TID:
    """Return a TID of this moment, after the last one whatever the clock says."""
    clock = TIDGenerator(lambda: time.time_ns() // 1000, rng=SystemRandom(), last=last)
    return clock.next()
