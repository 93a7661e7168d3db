"""The breaker under any history of passes, outcomes and times."""

from __future__ import annotations

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from eoc_distributed.health import BreakerPolicy, CircuitBreaker, Outcome
from eoc_distributed.health.circuit_breaker import Pass, State

POLICY = BreakerPolicy(
    failures=3, window_s=20.0, open_s=10.0, max_open_s=40.0, probes=2, successes=2
)


class Breaker(RuleBasedStateMachine):
    """Few probes at a time, no way from open to closed but through successes, no dead end."""

    def __init__(self) -> None:
        super().__init__()
        self.breaker = CircuitBreaker(POLICY)
        self.now_s = 0.0
        self.passes: list[Pass] = []
        self.probes: list[tuple[Pass, float]] = []
        self.successes = 0

    @rule(seconds=st.sampled_from([0.0, 1.0, 5.0, 11.0, 41.0]))
    def wait(self, seconds: float) -> None:
        self.now_s += seconds

    @rule()
    def begin(self) -> None:
        allowed = self.breaker.allows(self.now_s)
        state = self.breaker.state(self.now_s)
        granted = self.breaker.begin(self.now_s)
        assert (granted is not None) == allowed
        if granted is not None:
            assert state is not State.OPEN
            self.passes.append(granted)
            if state is State.HALF_OPEN:
                self.probes.append((granted, self.now_s))

    @rule(which=st.integers(0, 50), outcome=st.sampled_from(Outcome))
    def end(self, which: int, outcome: Outcome) -> None:
        if not self.passes:
            return
        granted = self.passes.pop(which % len(self.passes))
        self.probes = [probe for probe in self.probes if probe[0] is not granted]
        before = self.breaker.state(self.now_s)
        self.breaker.end(granted, outcome, self.now_s)
        after = self.breaker.state(self.now_s)
        if before is State.OPEN:
            assert after is State.OPEN
        if after is State.CLOSED and before is State.HALF_OPEN:
            assert outcome is Outcome.SUCCESS
        if outcome is Outcome.NEUTRAL:
            assert after is before

    @invariant()
    def few_probes_are_out_within_an_open_time(self) -> None:
        recent = [at for _, at in self.probes if self.now_s - at < POLICY.open_s]
        if self.breaker.state(self.now_s) is State.HALF_OPEN:
            assert len([at for at in recent if at > self.now_s - 1e-9]) <= 2 * POLICY.probes

    @invariant()
    def it_never_stays_shut_for_ever(self) -> None:
        later_s = self.now_s + POLICY.max_open_s
        twin = CircuitBreaker(POLICY)
        for slot in CircuitBreaker.__slots__:
            value = getattr(self.breaker, slot)
            setattr(twin, slot, value.copy() if slot == "_failed_s" else value)
        assert twin.begin(later_s) is not None


TestBreaker = Breaker.TestCase
TestBreaker.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
