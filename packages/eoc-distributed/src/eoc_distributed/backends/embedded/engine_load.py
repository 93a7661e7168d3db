"""What routing is told of an engine."""

from __future__ import annotations

from eoc_distributed.units import Quality
from eoc_distributed.worker import Load

from .engine import Engine


def load_of(engine: Engine) -> Load:
    """Return what an engine carries; its energy is estimated."""
    return Load(
        in_flight=engine.in_flight,
        queued_tokens=engine.queued_tokens,
        micro_joules_per_token=engine.micro_joules_per_token,
        energy_quality=Quality.ESTIMATED,
        prefill_tokens_per_s=1.0 / engine.profile.step_time.prefill_token_s,
    )
