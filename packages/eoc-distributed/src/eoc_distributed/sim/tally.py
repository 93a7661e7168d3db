"""What a simulation counts, in memory that does not grow with its trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from .sketch import QuantileSketch

HOUR_S: Final = 3600.0


@dataclass(slots=True)
class HourTally:
    """One hour of the whole fleet.

    Attributes:
        requests: Requests that finished in it.
        tokens: Tokens that they generated.
        ttft_s: Their times to first token, s.
        workers_s: Sum over workers of the time for which they were on, s.
    """

    requests: int = 0
    tokens: int = 0
    ttft_s: QuantileSketch = field(default_factory=QuantileSketch)
    workers_s: float = 0.0


@dataclass(slots=True)
class WorkerTally:
    """One worker.

    Attributes:
        requests: Requests that it finished.
        prompt_tokens: Tokens of their prompts.
        output_tokens: Tokens that it generated for them.
        micro_joules: Energy by hour, idle power included, µJ.
        idle_micro_joules: Of that, what it drew without work, µJ.
        grams: Emissions by hour, gCO2e.
        busy_s: Time in passes, s.
        on_s: Time for which it drew power, s.
        passes: Forward passes.
        preemptions: Sequences preempted.
        cached_tokens: Prompt tokens found in its cache.
        looked_up_tokens: Prompt tokens that were looked up.
        peak_in_flight: Most requests at a time.
    """

    requests: int = 0
    prompt_tokens: int = 0
    output_tokens: int = 0
    micro_joules: dict[int, float] = field(default_factory=dict)
    idle_micro_joules: float = 0.0
    grams: dict[int, float] = field(default_factory=dict)
    busy_s: float = 0.0
    on_s: float = 0.0
    passes: int = 0
    preemptions: int = 0
    cached_tokens: int = 0
    looked_up_tokens: int = 0
    peak_in_flight: int = 0

    @property
    def total_micro_joules(self) -> float:
        """Energy of all hours, µJ."""
        return sum(self.micro_joules.values())

    @property
    def total_grams(self) -> float:
        """Emissions of all hours, gCO2e."""
        return sum(self.grams.values())


@dataclass(slots=True)
class Tally:
    """One simulation.

    Attributes:
        workers: By worker id.
        hours: By hour from the start.
        arrived: Requests of the trace.
        finished: Requests answered.
        refused: Requests refused, by reason.
        clipped: Requests cut to the longest context.
        ttft_s: Times to first token, s.
        token_s: Mean times between tokens of each request with more than one, s.
        waiting_s: Times from arrival to the first computed token of the prompt, s.
        late: Requests whose time to first token broke the objective.
        end_s: When the last event happened, s.
        stolen: Requests that an idle worker took from another's queue.
    """

    workers: dict[str, WorkerTally]
    hours: dict[int, HourTally] = field(default_factory=dict)
    arrived: int = 0
    finished: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    clipped: int = 0
    ttft_s: QuantileSketch = field(default_factory=QuantileSketch)
    token_s: QuantileSketch = field(default_factory=QuantileSketch)
    waiting_s: QuantileSketch = field(default_factory=QuantileSketch)
    late: int = 0
    end_s: float = 0.0
    stolen: int = 0

    def hour(self, now_s: float) -> HourTally:
        """Return the tally of the hour in which an instant lies."""
        number = int(now_s // HOUR_S)
        found = self.hours.get(number)
        if found is None:
            found = self.hours[number] = HourTally()
        return found

    @property
    def output_tokens(self) -> int:
        """Tokens generated."""
        return sum(worker.output_tokens for worker in self.workers.values())

    @property
    def micro_joules(self) -> float:
        """Energy, idle power included, µJ."""
        return sum(worker.total_micro_joules for worker in self.workers.values())

    @property
    def grams(self) -> float:
        """Emissions, gCO2e."""
        return sum(worker.total_grams for worker in self.workers.values())

    @property
    def hit_rate(self) -> float | None:
        """Share of the prompts' tokens that was found in a cache; None without prompts."""
        looked_up = sum(worker.looked_up_tokens for worker in self.workers.values())
        cached = sum(worker.cached_tokens for worker in self.workers.values())
        return cached / looked_up if looked_up else None

    @property
    def load_imbalance(self) -> float | None:
        """The most tokens that a worker computed over the fleet's mean; None if none did any.

        Tokens found in a cache are not computed.
        """
        loads = [w.prompt_tokens - w.cached_tokens + w.output_tokens for w in self.workers.values()]
        return max(loads) * len(loads) / sum(loads) if any(loads) else None
