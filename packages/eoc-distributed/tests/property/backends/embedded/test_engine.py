from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings, strategies as st

from eoc_distributed.backends.embedded.accelerators import H100, Profile
from eoc_distributed.backends.embedded.engine import Engine
from eoc_distributed.backends.embedded.sequence import Sequence, Status

profiles = st.builds(
    lambda blocks, block, budget, places: replace(
        H100,
        kv_tokens=blocks * block,
        block_tokens=block,
        step_tokens=budget,
        max_sequences=places,
    ),
    st.integers(8, 40),
    st.integers(1, 8),
    st.integers(1, 50),
    st.integers(1, 8),
)
# Gap to the one before in ms, prompt, output, and whether it is cancelled after some ms.
arrivals = st.lists(
    st.tuples(
        st.integers(0, 80),
        st.integers(1, 30),
        st.integers(1, 30),
        st.one_of(st.none(), st.integers(0, 200)),
    ),
    min_size=1,
    max_size=25,
)
Arrivals = list[tuple[int, int, int, int | None]]


def check(engine: Engine, sequences: list[Sequence]) -> None:
    held = [block for sequence in sequences for block in sequence.table]
    assert len(held) == len(set(held))
    assert len(held) + engine.pool.free == engine.pool.blocks
    assert engine.largest_step_tokens <= engine.profile.step_tokens
    assert len(engine.running) <= engine.profile.max_sequences
    for sequence in sequences:
        assert sequence.generated <= sequence.output_tokens
        if sequence.ended_s is not None:
            assert not sequence.table
        else:
            assert sequence.computed <= len(sequence.table) * engine.pool.block_tokens
    shares = sum(sequence.micro_joules for sequence in sequences)
    assert shares == engine.step_micro_joules
    assert engine.meter_micro_joules == engine.idle_micro_joules + shares


def run(profile: Profile, plan: Arrivals, *, every_step: bool) -> tuple[Engine, list[Sequence]]:
    engine = Engine(profile)
    sequences: list[Sequence] = []
    events: list[tuple[float, int, int]] = []
    now_ms = 0
    for index, (gap_ms, _, _, cancel_ms) in enumerate(plan):
        now_ms += gap_ms
        events.append((now_ms / 1000, 0, index))
        if cancel_ms is not None:
            events.append(((now_ms + cancel_ms) / 1000, 1, index))
    for at_s, kind, index in sorted(events):
        if every_step:
            while engine.next_event_s is not None and engine.next_event_s <= at_s:
                engine.advance(engine.next_event_s)
                check(engine, sequences)
        engine.advance(at_s)
        if kind == 0:
            _, prompt, output, _ = plan[index]
            # No sequence may be longer than the whole cache.
            fits = engine.max_model_tokens
            prompt = min(prompt, fits - 1)
            output = min(output, fits - prompt)
            sequences.append(engine.submit(prompt_tokens=prompt, output_tokens=output, now_s=at_s))
        else:
            engine.cancel(sequences[index])
        check(engine, sequences)
    engine.advance(1e6)
    check(engine, sequences)
    return engine, sequences


@given(profiles, arrivals)
@settings(max_examples=80, deadline=None)
def test_blocks_are_held_once_the_budget_holds_energy_is_conserved_and_nobody_starves(
    profile: Profile, plan: Arrivals
) -> None:
    engine, sequences = run(profile, plan, every_step=True)
    assert engine.in_flight == 0
    assert engine.pool.free == engine.pool.blocks
    for sequence in sequences:
        assert sequence.ended
        assert sequence.ended_s is not None
        if sequence.status is Status.FINISHED:
            assert sequence.generated == sequence.output_tokens
            assert sequence.first_token_s is not None
            assert sequence.submitted_s < sequence.first_token_s <= sequence.ended_s


@given(profiles, arrivals)
@settings(max_examples=80, deadline=None)
def test_steps_computed_in_one_piece_come_to_the_same_as_steps_one_by_one(
    profile: Profile, plan: Arrivals
) -> None:
    _, slow = run(profile, plan, every_step=True)
    _, fast = run(profile, plan, every_step=False)
    for one, other in zip(slow, fast, strict=True):
        assert one.generated == other.generated
        assert one.status == other.status
        assert one.preemptions == other.preemptions
        assert one.first_token_s is None or other.first_token_s is not None
        assert abs((one.first_token_s or 0) - (other.first_token_s or 0)) < 1e-6
        assert abs((one.ended_s or 0) - (other.ended_s or 0)) < 1e-6
        assert abs(one.micro_joules - other.micro_joules) <= 2 + one.tokens * 2


@given(profiles, arrivals)
@settings(max_examples=30, deadline=None)
def test_same_arrivals_give_the_same_run(profile: Profile, plan: Arrivals) -> None:
    _, first = run(profile, plan, every_step=False)
    _, second = run(profile, plan, every_step=False)
    assert [(s.micro_joules, s.ended_s) for s in first] == [
        (s.micro_joules, s.ended_s) for s in second
    ]
