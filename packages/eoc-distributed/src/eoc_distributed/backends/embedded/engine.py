"""A serving engine in miniature: what it does in each step, how long that takes, what it draws.

Iteration-level scheduling as in vLLM's V1 engine, without its prefix cache:

  1. Each running sequence, oldest first, is given as many tokens as bring it up to date
     (one while it generates, a chunk of its prompt before), within the step's token budget.
     If the cache has no block for them, the newest running sequence gives up all of its own
     and goes to the front of the queue, to be computed again from the start.
  2. If nobody had to give up anything, waiting sequences are let in, first come first served,
     while budget, places and blocks last; a prompt is let in only if all of it fits.
  3. After the step, every sequence that is up to date has one more token.

The engine has no clock. It is told how far time has come (`advance`), runs all steps that
end by then, and keeps one step open. A run of steps in which the same sequences each
generate a token is computed in one piece, so that an hour costs little more than its events.

Energy is exact: every step's micro-joules are shared out among the sequences in it, by the
time that each adds to the step; what is drawn between steps is idle energy; both together
are the meter.

Source: Orca (OSDI 2022) for iterations; vLLM (SOSP 2023) and the V1 scheduler for the rest.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import exp

from eoc_distributed.errors import ContextTooLong, EngineFull
from eoc_distributed.units import MicroJoules

from .accelerators import Profile
from .kv_blocks import BlockPool
from .sequence import Sequence, Status

MAX_WAITING = 4096
"""Sequences that may wait before others are refused."""
TAU_S = 60.0
"""Time constant of the average energy per token, s."""
_LONG_S = 1e7
_PRIOR_BATCH = 8
_PRIOR_PROMPT_TOKENS = 5
"""Prompt tokens for each generated token in the figure before anything has run; the Azure
2023 conversation trace has 1155 for 211."""


@dataclass(slots=True)
class _Step:
    """One or several equal steps that are under way."""

    starts_s: float
    ends_s: float
    repeats: int
    planned: list[tuple[Sequence, int]]
    micro_joules: int
    weights: list[float]


class Engine:
    """Sequences, their cache, and the step that is under way.

    Args:
        profile: The hardware that it imitates.
        started_s: Time at which it is switched on, s.
        max_waiting: Most sequences that wait.
        max_model_tokens: Longest prompt with its answer, tokens.

    Attributes:
        waiting: Sequences that wait, first to last.
        running: Sequences that run, oldest first.
        idle_micro_joules: Energy drawn while nothing ran, µJ.
        step_micro_joules: Energy of all steps, µJ; the sum of the sequences' shares.
        preemptions: Sequences that lost their cache so far.
        largest_step_tokens: Most tokens that any step has computed.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        started_s: float = 0.0,
        max_waiting: int = MAX_WAITING,
        max_model_tokens: int = 131_072,
    ) -> None:
        self.profile = profile
        self.pool = BlockPool(
            blocks=profile.kv_tokens // profile.block_tokens, block_tokens=profile.block_tokens
        )
        self.max_waiting = max_waiting
        self.max_model_tokens = min(max_model_tokens, self.pool.blocks * self.pool.block_tokens)
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.idle_micro_joules = 0
        self.step_micro_joules = 0
        self.preemptions = 0
        self.largest_step_tokens = 0
        self._now_s = started_s
        self._step: _Step | None = None
        self._someone_ended = False
        self._recent_tokens, self._recent_micro_joules = _prior(profile)

    # What it carries.

    @property
    def meter_micro_joules(self) -> MicroJoules:
        """Energy drawn since the start, the open step not counted, µJ."""
        return MicroJoules(self.idle_micro_joules + self.step_micro_joules)

    @property
    def micro_joules_per_token(self) -> MicroJoules:
        """Recent energy of steps for each token read or generated, µJ.

        Before anything has run: what the models say of eight sequences at a time.
        """
        return MicroJoules(round(self._recent_micro_joules / self._recent_tokens))

    @property
    def in_flight(self) -> int:
        """Sequences that run or wait."""
        return len(self.running) + len(self.waiting)

    @property
    def queued_tokens(self) -> int:
        """Prompt tokens of the sequences that have no token yet."""
        return sum(
            sequence.prompt_tokens
            for sequences in (self.waiting, self.running)
            for sequence in sequences
            if not sequence.generated
        )

    @property
    def now_s(self) -> float:
        """Up to when its energy is counted, s."""
        return self._now_s

    @property
    def next_event_s(self) -> float | None:
        """When the open step ends; None while nothing runs."""
        return self._step.ends_s if self._step is not None else None

    # What happens to it.

    def submit(self, *, prompt_tokens: int, output_tokens: int, now_s: float) -> Sequence:
        """Take a sequence in at an instant that is not before the last.

        Args:
            prompt_tokens: Length of the prompt, at least 1.
            output_tokens: Length of the answer, at least 1.
            now_s: When it comes; everything up to then must have been taken by `advance`.

        Raises:
            ContextTooLong: Prompt and answer can never fit.
            EngineFull: Too many wait.
        """
        if prompt_tokens < 1 or output_tokens < 1:
            raise ValueError(f"at least one token each: {prompt_tokens}, {output_tokens}")
        total = prompt_tokens + output_tokens
        if total > self.max_model_tokens:
            raise ContextTooLong(total, self.max_model_tokens)
        if len(self.waiting) >= self.max_waiting:
            raise EngineFull(len(self.waiting))
        self.advance(now_s)
        sequence = Sequence(
            prompt_tokens=prompt_tokens, output_tokens=output_tokens, submitted_s=now_s
        )
        self.waiting.append(sequence)
        if self._step is None:
            self._begin()
        return sequence

    def cancel(self, sequence: Sequence) -> None:
        """Take a sequence out; one that is in the open step leaves when the step ends."""
        if sequence.ended:
            return
        if sequence.status is Status.WAITING:
            self.waiting.remove(sequence)
            sequence.ended_s = self._now_s
        else:
            self._someone_ended = True
        sequence.status = Status.CANCELLED

    def advance(self, until_s: float) -> list[Sequence]:
        """Run every step that ends by `until_s`; return the sequences that have changed.

        A sequence is listed once however many tokens it gained, in the order of its first
        change.
        """
        changed: dict[Sequence, None] = {}
        while self._step is not None and self._step.ends_s <= until_s:
            self._end_step(self._step, changed)
            self._begin(until_s)
        if self._step is None and until_s > self._now_s:
            self.idle_micro_joules += self.profile.power.idle_micro_joules(until_s - self._now_s)
            self._now_s = until_s
        return list(changed)

    def drain(self) -> list[Sequence]:
        """Run until nothing is left; return the sequences that have changed.

        Time stops with the last step.
        """
        changed: dict[Sequence, None] = {}
        while self._step is not None:
            self._end_step(self._step, changed)
            self._begin(self._now_s + _LONG_S)
        return list(changed)

    # One step.

    def _begin(self, until_s: float | None = None) -> None:
        """Plan and open the next step, or several equal ones that all end by `until_s`."""
        planned = self._plan()
        if not planned:
            self._step = None
            return
        model = self.profile.step_time
        prefill_tokens = sum(count for _, count in planned if count > 1)
        context = [sequence.computed if count == 1 else 0 for sequence, count in planned]
        context_tokens = sum(context)
        decoding = sum(1 for _, count in planned if count == 1)
        repeats = 1
        if until_s is not None and decoding == len(planned) == len(self.running):
            repeats = self._equal_steps(planned, until_s - self._now_s, context_tokens)
        if repeats > 1:
            seconds = model.decode_seconds(
                repeats, sequences=decoding, context_tokens=context_tokens
            )
        else:
            seconds = model.seconds(
                prefill_tokens=prefill_tokens,
                decode_sequences=decoding,
                context_tokens=context_tokens,
            )
        tokens = prefill_tokens + decoding
        self.largest_step_tokens = max(self.largest_step_tokens, tokens)
        each_s = model.fixed_s / len(planned)
        growth = (repeats - 1) / 2.0
        self._step = _Step(
            starts_s=self._now_s,
            ends_s=self._now_s + seconds,
            repeats=repeats,
            planned=planned,
            micro_joules=round(self.profile.power.watts(tokens) * seconds * 1e6),
            weights=[
                each_s + count * model.prefill_token_s
                if count > 1
                else each_s + model.decode_sequence_s + (read + growth) * model.context_token_s
                for (_, count), read in zip(planned, context, strict=True)
            ],
        )

    def _plan(self) -> list[tuple[Sequence, int]]:
        """Give tokens and blocks to sequences; return who computes how many."""
        budget = self.profile.step_tokens
        planned: list[tuple[Sequence, int]] = []
        preempted = False
        index = 0
        while index < len(self.running) and budget:
            sequence = self.running[index]
            count = min(sequence.tokens - sequence.computed, budget)
            while not self.pool.grow(sequence.table, sequence.computed + count):
                victim = self.running.pop()
                self._preempt(victim)
                preempted = True
                if victim is sequence:
                    break
            else:
                planned.append((sequence, count))
                budget -= count
                index += 1
        if not preempted:
            self._admit(planned, budget)
        return planned

    def _admit(self, planned: list[tuple[Sequence, int]], budget: int) -> None:
        while budget and self.waiting and len(self.running) < self.profile.max_sequences:
            sequence = self.waiting[0]
            if self.pool.needed(sequence.tokens) > self.pool.free:
                return
            count = min(sequence.tokens, budget)
            self.pool.grow(sequence.table, count)
            self.waiting.popleft()
            sequence.status = Status.RUNNING
            self.running.append(sequence)
            planned.append((sequence, count))
            budget -= count

    def _preempt(self, sequence: Sequence) -> None:
        self.pool.release(sequence.table)
        sequence.computed = 0
        sequence.preemptions += 1
        sequence.status = Status.WAITING
        self.preemptions += 1
        self.waiting.appendleft(sequence)

    def _equal_steps(
        self, planned: list[tuple[Sequence, int]], limit_s: float, context_tokens: int
    ) -> int:
        """Return for how many steps these sequences all generate a token, at least 1.

        Nobody who waits can be let in meanwhile: places, blocks and budget only come free
        when a sequence ends, and the first to end sets the limit. Steps with a first token
        stand alone, since its time counts.
        """
        most = min(sequence.output_tokens - sequence.generated for sequence, _ in planned)
        for sequence, _ in planned:
            if not sequence.generated or sequence.tokens - sequence.computed > 1:
                return 1
        steps = min(
            most,
            self.profile.step_time.decode_steps_within(
                limit_s, sequences=len(planned), context_tokens=context_tokens
            ),
        )
        if steps <= 1:
            return 1
        needed = self.pool.needed
        missing = sum(
            needed(sequence.computed + steps) - len(sequence.table) for sequence, _ in planned
        )
        if missing > self.pool.free:
            return 1
        for sequence, _ in planned:
            self.pool.grow(sequence.table, sequence.computed + steps)
        return steps

    def _end_step(self, step: _Step, changed: dict[Sequence, None]) -> None:
        self._now_s = step.ends_s
        self._share_out(step)
        tokens = 0
        for sequence, count in step.planned:
            gained = count * step.repeats
            sequence.computed += gained
            tokens += gained
            if sequence.status is Status.CANCELLED:
                continue
            if sequence.computed >= sequence.tokens:
                sequence.generated += step.repeats
                tokens += step.repeats if count > 1 else 0
                if sequence.first_token_s is None:
                    sequence.first_token_s = step.ends_s
                if sequence.generated >= sequence.output_tokens:
                    sequence.status = Status.FINISHED
                    self._someone_ended = True
                changed[sequence] = None
        if self._someone_ended:
            self._let_go()
        keep = exp((step.starts_s - step.ends_s) / TAU_S)
        self._recent_tokens = keep * self._recent_tokens + tokens
        self._recent_micro_joules = keep * self._recent_micro_joules + step.micro_joules

    def _let_go(self) -> None:
        for sequence in self.running:
            if sequence.ended:
                self.pool.release(sequence.table)
                sequence.ended_s = self._now_s
        self._someone_ended = False
        self.running = [sequence for sequence in self.running if not sequence.ended]

    def _share_out(self, step: _Step) -> None:
        """Share the step's energy out by weight; rounding loses nothing."""
        energy = step.micro_joules
        self.step_micro_joules += energy
        scale = energy / sum(step.weights)
        reached = 0.0
        given = 0
        for (sequence, _), weight in zip(step.planned, step.weights, strict=True):
            reached += weight
            upto = min(energy, int(reached * scale))
            sequence.micro_joules += upto - given
            given = upto
        step.planned[-1][0].micro_joules += energy - given


def _prior(profile: Profile) -> tuple[float, float]:
    """Return tokens and µJ of one second at eight sequences or what fits, prompts included."""
    batch = min(_PRIOR_BATCH, profile.max_sequences)
    model = profile.step_time
    prompt = _PRIOR_PROMPT_TOKENS * batch
    seconds = model.seconds(
        prefill_tokens=prompt, decode_sequences=batch, context_tokens=batch * 1000
    )
    tokens = (prompt + batch) / seconds
    return tokens, profile.power.watts(prompt + batch) * 1e6
