"""One simulated worker: the production batcher, a model of how long its passes take and draw.

Passes in which nothing but decoding happens are not walked one by one. They are planned, as many
as the batcher says will be alike, and are taken at their end; if a request arrives before, those
that have begun by then are taken, and the plan is made anew. A scheduler looks for arrivals
between passes only, so the result is that of walking every pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from eoc_distributed.backends.embedded.accelerators import Profile
from eoc_distributed.batching import BatchLimits, ContinuousBatcher, KVBlockBudget
from eoc_distributed.cluster import Ticket
from eoc_distributed.energy.curve import EnergyCurve, PassEnergy
from eoc_distributed.units import Quality
from eoc_distributed.worker import Capability, InMemoryWorker, Load

from .tally import HOUR_S, WorkerTally

if TYPE_CHECKING:
    from eoc_distributed.scheduling import QueuedRequest

_W_TO_MICRO: Final = 1e6
_NARROW: Final = 8
_LOOK_TOKENS: Final = 64
"""Tokens of a window below which its energy per token says too little."""


class Flight:
    """One request on its way.

    Attributes:
        arrival_s: When it came.
        prompt_tokens: Tokens of its prompt.
        output_tokens: Tokens of its answer.
        ticket: Its place on the worker.
        queued: Its handle in the stealing scheduler; None without one.
        first_s: When its first token came; below 0 before.
    """

    __slots__ = ("arrival_s", "first_s", "output_tokens", "prompt_tokens", "queued", "ticket")

    def __init__(self, arrival_s: float, prompt_tokens: int, output_tokens: int) -> None:
        self.arrival_s = arrival_s
        self.prompt_tokens = prompt_tokens
        self.output_tokens = output_tokens
        self.ticket: Ticket | None = None
        self.queued: QueuedRequest | None = None
        self.first_s = -1.0


class Lane:
    """A worker of the simulated fleet.

    Args:
        worker_id: Its id.
        profile: Hardware that it imitates.
        zone: Where it draws its power.
        model: What it serves.
        context_tokens: The longest sequence it takes.
        block_tokens: Tokens in a block of its KV cache.

    Attributes:
        boundary_s: When the pass or plan under way ends; meaningless without one.
        version: Grows when the plan changes; an event of an older version is void.
        on: Whether it draws power.
        ready: Whether it may be given work; a worker that starts is on and not ready.
    """

    def __init__(
        self,
        worker_id: str,
        profile: Profile,
        zone: str,
        *,
        model: str,
        context_tokens: int,
        block_tokens: int,
    ) -> None:
        self.id = worker_id
        self.profile = profile
        self.zone = zone
        blocks = max(1, profile.kv_tokens // block_tokens)
        limits = BatchLimits(
            batched_tokens=profile.step_tokens,
            sequences=profile.max_sequences,
            model_tokens=min(context_tokens, blocks * block_tokens),
        )
        self.batcher: ContinuousBatcher[Flight] = ContinuousBatcher(
            KVBlockBudget(blocks=blocks, block_size=block_tokens), limits
        )
        self.tally = WorkerTally()
        self.curve = EnergyCurve(prior_of(profile))
        self.worker = InMemoryWorker(
            worker_id,
            Capability(
                models={model},
                accelerator=profile.accelerator,
                max_concurrency=profile.max_sequences,
                zone=zone,
            ),
            self._load(round(self.curve.marginal() + self.curve.opening() / _NARROW)),
        )
        self.boundary_s = 0.0
        self.version = 0
        self.on = self.ready = True
        self.running = False
        self.admitted: list[Flight] = []
        self.first: tuple[Flight, ...] = ()
        self.finished: tuple[Flight, ...] = ()
        self.recent_tokens_per_s = 0.0
        self._looked_s = 0.0
        self._planned = 0
        self._decodes = 0
        self._context = 0
        self._since_s = 0.0
        # What a meter and the gateway have seen since the last look.
        self._seen_micro_joules = 0.0
        self._seen_tokens = 0
        self._seen_prompt = 0
        self._seen_passes = 0

    def _load(self, micro_joules_per_token: int) -> Load:
        return Load(
            micro_joules_per_token=micro_joules_per_token,
            energy_quality=Quality.ESTIMATED,
            prefill_tokens_per_s=1.0 / self.profile.step_time.prefill_token_s,
            marginal_micro_joules_per_token=self.curve.marginal(),
            opening_micro_joules_per_token=self.curve.opening(),
            kv_tokens=self.profile.kv_tokens,
        )

    # Passes

    def begin(self, now_s: float) -> bool:
        """Start the next pass, or plan several; return whether there is anything to run."""
        quiet = self.batcher.quiet()
        step_time = self.profile.step_time
        self._idle_until(now_s)
        if quiet is not None:
            self._planned, self._decodes, self._context = quiet
            length_s = step_time.decode_seconds(
                self._planned, sequences=self._decodes, context_tokens=self._context
            )
            self.boundary_s = now_s + length_s
            self.version += 1
            self.running = True
            return True
        step = self.batcher.step()
        self._planned = 0
        if not step.count:
            self.running = False
            return False
        self.admitted += [one.key for one in step.admitted if not one.resumed]
        self.first, self.finished = step.first_tokens, step.finished
        length_s = step_time.seconds(
            prefill_tokens=step.prefill_tokens,
            decode_sequences=step.decodes,
            context_tokens=step.context_tokens,
        )
        self._spend(now_s, length_s, step.decodes + step.prefill_tokens)
        self._seen_tokens += step.decodes + len(step.first_tokens)
        self._seen_prompt += step.prefill_tokens
        self._seen_passes += 1
        self.tally.passes += 1
        self.boundary_s = now_s + length_s
        self.version += 1
        self.running = True
        return True

    def end(self) -> None:
        """Take the planned passes, at their end; a mixed pass has been taken at its start."""
        if self._planned:
            self._take(self._planned)

    def interrupt(self, now_s: float) -> bool:
        """Let the plan end with the pass under way; return whether that is earlier than planned.

        The passes are taken at once, as the batcher keeps to a plan only while nothing is added.
        """
        planned = self._planned
        if not planned:
            return False
        begun = 1 + self.profile.step_time.decode_steps_within(
            now_s - self._since_s, sequences=self._decodes, context_tokens=self._context
        )
        self._take(min(begun, planned))
        if begun >= planned:
            return False
        self.boundary_s = self._since_s
        self.version += 1
        return True

    def _take(self, passes: int) -> None:
        """Account for the first passes of the plan."""
        decodes = self._decodes
        step = self.batcher.step(at_most=passes)
        if step.count != passes:
            raise RuntimeError(f"{passes} passes were announced and {step.count} taken")
        length_s = self.profile.step_time.decode_seconds(
            passes, sequences=decodes, context_tokens=self._context
        )
        self._spend(self._since_s, length_s, decodes)
        self._seen_tokens += decodes * passes
        self._seen_passes += passes
        self.tally.passes += passes
        self.finished = step.finished
        self._planned = 0

    # Energy

    def _spend(self, start_s: float, length_s: float, tokens: int) -> None:
        """Account for the energy of passes of so many tokens each."""
        micro_joules = self.profile.power.watts(tokens) * length_s * _W_TO_MICRO
        self._add(start_s, length_s, micro_joules)
        self.tally.busy_s += length_s
        self._seen_micro_joules += micro_joules - self.profile.power.idle_w * length_s * _W_TO_MICRO
        self._since_s = start_s + length_s

    def _idle_until(self, now_s: float) -> None:
        """Account for the time since the last pass."""
        length_s = now_s - self._since_s
        if length_s > 0 and self.on:
            micro_joules = self.profile.power.idle_w * length_s * _W_TO_MICRO
            self.tally.idle_micro_joules += micro_joules
            self._add(self._since_s, length_s, micro_joules)
        self._since_s = max(self._since_s, now_s)

    def _add(self, start_s: float, length_s: float, micro_joules: float) -> None:
        """Spread energy over the hours in which it was drawn."""
        tally = self.tally
        tally.on_s += length_s
        hour = int(start_s // HOUR_S)
        last = int((start_s + length_s) // HOUR_S)
        if hour == last:
            tally.micro_joules[hour] = tally.micro_joules.get(hour, 0.0) + micro_joules
            return
        for number in range(hour, last + 1):
            begin_s, end_s = (
                max(start_s, number * HOUR_S),
                min(start_s + length_s, (number + 1) * HOUR_S),
            )
            share = micro_joules * (end_s - begin_s) / length_s
            tally.micro_joules[number] = tally.micro_joules.get(number, 0.0) + share

    def switch(self, now_s: float, *, on: bool) -> None:
        """Turn it on or off; only while nothing runs."""
        self._idle_until(now_s)
        self._since_s = now_s
        self.on = on

    def close(self, now_s: float) -> None:
        """Account for the time up to the end of the simulation."""
        if not self.running:
            self._idle_until(now_s)
        batcher, tally = self.batcher, self.tally
        tally.preemptions = batcher.preemptions
        tally.cached_tokens = batcher.cached_tokens
        tally.looked_up_tokens = batcher.looked_up_tokens

    def look(self, now_s: float) -> None:
        """Tell routing what the meter has shown since the last look, if it says anything."""
        tokens, prompt = self._seen_tokens, self._seen_prompt
        if tokens < _LOOK_TOKENS:
            self.recent_tokens_per_s = 0.0
            return
        self.curve.observe(
            self._seen_micro_joules, passes=self._seen_passes, tokens=tokens, prompt_tokens=prompt
        )
        self.recent_tokens_per_s = (
            tokens / (now_s - self._looked_s) if now_s > self._looked_s else 0.0
        )
        self._looked_s = now_s
        busy = max(0.0, self._seen_micro_joules)
        self.worker.set_load(self._load(round(busy / (tokens + prompt))))
        self._seen_micro_joules = 0.0
        self._seen_tokens = self._seen_prompt = self._seen_passes = 0


def prior_of(profile: Profile) -> PassEnergy:
    """Return the energy of a pass, beside idle power, from the models of the profile.

    The straight line through a batch of 8 and a full one, at contexts of 1,000 tokens; prompts
    are read at full power.
    """

    def beside_idle(sequences: int) -> float:
        length_s = profile.step_time.seconds(
            prefill_tokens=0, decode_sequences=sequences, context_tokens=1000 * sequences
        )
        return (profile.power.watts(sequences) - profile.power.idle_w) * length_s * _W_TO_MICRO

    narrow = min(_NARROW, max(1, profile.max_sequences // 2))
    wide = profile.max_sequences
    per_token = (beside_idle(wide) - beside_idle(narrow)) / (wide - narrow)
    step_time, power = profile.step_time, profile.power
    return PassEnergy(
        max(1.0, beside_idle(narrow) - narrow * per_token),
        max(1.0, per_token),
        step_time.prefill_token_s * (power.peak_w - power.idle_w) * _W_TO_MICRO,
    )
