"""Worked examples, derived by hand from the order in which vLLM V1 does things."""

from __future__ import annotations

import pytest

from eoc_distributed.batching import Admission, BatchLimits, ContinuousBatcher, KVBlockBudget, Step
from eoc_distributed.errors import QueueFull, TooLarge


def batcher(
    blocks: int = 100, size: int = 4, watermark: float = 0.0, **limits: object
) -> ContinuousBatcher[str]:
    parameters: dict[str, object] = {"batched_tokens": 16, "sequences": 8, "model_tokens": 1000}
    return ContinuousBatcher(
        KVBlockBudget(blocks=blocks, block_size=size, watermark=watermark),
        BatchLimits(**{**parameters, **limits}),  # type: ignore[arg-type]
    )


def keys(step: Step[str]) -> list[str]:
    return [admission.key for admission in step.admitted]


def test_a_prompt_longer_than_the_budget_is_read_in_chunks_and_then_gives_its_first_token() -> None:
    engine = batcher(batched_tokens=16)
    engine.add("a", prompt_tokens=40, output_tokens=2)
    first = engine.step()
    assert (first.prefill_tokens, first.first_tokens, keys(first)) == (16, (), ["a"])
    assert engine.step().prefill_tokens == 16
    third = engine.step()
    assert (third.prefill_tokens, third.first_tokens, third.finished) == (8, ("a",), ())
    fourth = engine.step()
    assert (fourth.decodes, fourth.prefill_tokens, fourth.finished) == (1, 0, ("a",))
    assert engine.blocks.free == 100
    assert engine.step().count == 0


def test_one_step_mixes_decodes_with_a_chunk_of_what_budget_they_leave() -> None:
    engine = batcher(batched_tokens=16)
    engine.add("a", prompt_tokens=4, output_tokens=10)
    engine.step()
    engine.add("b", prompt_tokens=40, output_tokens=1)
    step = engine.step()
    assert (step.decodes, step.prefill_tokens, keys(step)) == (1, 15, ["b"])
    assert step.context_tokens == 5 + 15


def test_a_request_of_one_token_ends_with_its_prefill() -> None:
    engine = batcher()
    engine.add("a", prompt_tokens=5, output_tokens=1)
    step = engine.step()
    assert (step.first_tokens, step.finished) == (("a",), ("a",))
    assert engine.running == 0


def test_the_last_token_is_sampled_and_never_computed() -> None:
    engine = batcher(blocks=2, size=4)
    engine.add("a", prompt_tokens=4, output_tokens=5)
    steps = [engine.step() for _ in range(5)]
    assert [step.finished for step in steps] == [(), (), (), (), ("a",)]
    with pytest.raises(TooLarge):
        engine.add("b", prompt_tokens=4, output_tokens=6)


def test_a_long_prefill_is_capped_only_while_there_are_others() -> None:
    engine = batcher(long_prefill_tokens=4)
    engine.add("a", prompt_tokens=14, output_tokens=1)
    assert engine.step().prefill_tokens == 14
    engine.add("b", prompt_tokens=14, output_tokens=1)
    engine.add("c", prompt_tokens=3, output_tokens=1)
    step = engine.step()
    assert (step.prefill_tokens, step.finished) == (4 + 3, ("c",))
    assert engine.step().prefill_tokens == 10


def test_capped_prefills_in_front_leave_a_decoder_its_token() -> None:
    engine = batcher(batched_tokens=8, sequences=3, long_prefill_tokens=4)
    engine.add("a", prompt_tokens=20, output_tokens=1)
    engine.add("b", prompt_tokens=2, output_tokens=3)
    engine.add("c", prompt_tokens=20, output_tokens=1)
    assert engine.step().prefill_tokens == 4 + 2 + 2
    second = engine.step()
    assert (second.decodes, second.prefill_tokens) == (1, 4 + 3)
    third = engine.step()
    assert (third.decodes, third.prefill_tokens, third.finished) == (1, 7, ("b",))


def test_without_chunks_a_prompt_waits_until_the_budget_holds_it() -> None:
    engine = batcher(batched_tokens=20, model_tokens=20, chunked_prefill=False)
    engine.add("a", prompt_tokens=12, output_tokens=2)
    engine.add("b", prompt_tokens=12, output_tokens=2)
    assert keys(engine.step()) == ["a"]
    step = engine.step()
    assert (keys(step), step.decodes, step.finished) == (["b"], 1, ("a",))


def test_the_first_that_does_not_fit_holds_up_those_behind_it() -> None:
    engine = batcher(blocks=10, size=4, batched_tokens=100)
    engine.add("a", prompt_tokens=28, output_tokens=4)
    engine.add("big", prompt_tokens=16, output_tokens=1)
    engine.add("small", prompt_tokens=1, output_tokens=1)
    assert keys(engine.step()) == ["a"]
    assert keys(engine.step()) == []
    assert engine.waiting == 2


def test_the_whole_prompt_must_fit_though_its_first_chunk_would() -> None:
    def second_step(*, whole_prompt: bool) -> list[str]:
        engine = batcher(blocks=10, size=4, whole_prompt=whole_prompt)
        engine.add("a", prompt_tokens=16, output_tokens=9)
        engine.step()
        engine.add("b", prompt_tokens=28, output_tokens=1)
        return keys(engine.step())

    assert second_step(whole_prompt=True) == []
    assert second_step(whole_prompt=False) == ["b"]


def test_the_watermark_holds_only_beside_others() -> None:
    engine = batcher(blocks=10, size=4, watermark=0.2)
    engine.add("a", prompt_tokens=16, output_tokens=9)
    engine.add("b", prompt_tokens=16, output_tokens=9)
    assert keys(engine.step()) == ["a"]
    assert keys(engine.step()) == []
    alone = batcher(blocks=4, size=4, watermark=0.5)
    alone.add("a", prompt_tokens=16, output_tokens=1)
    assert keys(alone.step()) == ["a"]


def test_not_more_sequences_run_than_may() -> None:
    engine = batcher(sequences=2)
    for key in "abc":
        engine.add(key, prompt_tokens=2, output_tokens=2)
    assert keys(engine.step()) == ["a", "b"]
    assert engine.step().finished == ("a", "b")
    assert keys(engine.step()) == ["c"]


def test_the_newest_is_preempted_and_waits_at_the_front() -> None:
    # Four blocks of four: a and b hold two each, and a's ninth token needs a third.
    engine = batcher(blocks=4, size=4, batched_tokens=100)
    engine.add("a", prompt_tokens=8, output_tokens=4)
    engine.add("b", prompt_tokens=7, output_tokens=4)
    engine.add("c", prompt_tokens=1, output_tokens=1)
    assert keys(engine.step()) == ["a", "b"]
    second = engine.step()
    assert (second.preempted, second.decodes, keys(second)) == (("b",), 1, [])
    third = engine.step()
    # One block is free; b needs two, so c waits behind it.
    assert (keys(third), third.decodes, engine.waiting) == ([], 1, 2)
    fourth = engine.step()
    assert (fourth.finished, keys(fourth)) == (("a",), [])
    fifth = engine.step()
    assert fifth.admitted == (Admission("b", 0, resumed=True), Admission("c", 0, resumed=False))
    # b computes its seven prompt tokens and the one it had sampled; it is no first token.
    assert (fifth.prefill_tokens, fifth.first_tokens, fifth.finished) == (9, ("c",), ("c",))
    assert engine.preemptions == 1


def test_nobody_is_admitted_in_a_step_that_preempted() -> None:
    engine = batcher(blocks=4, size=4, batched_tokens=100)
    engine.add("a", prompt_tokens=8, output_tokens=3)
    engine.add("b", prompt_tokens=5, output_tokens=4)
    engine.step()
    engine.add("tiny", prompt_tokens=1, output_tokens=1)
    step = engine.step()
    assert (step.preempted, keys(step)) == (("b",), [])
    assert engine.blocks.free == 1


def test_the_one_that_lacks_a_block_preempts_itself_if_it_is_the_newest() -> None:
    engine = batcher(blocks=4, size=4, batched_tokens=100)
    engine.add("a", prompt_tokens=6, output_tokens=3)
    engine.add("b", prompt_tokens=8, output_tokens=2)
    engine.step()
    step = engine.step()
    assert (step.preempted, step.decodes) == (("b",), 1)
    assert engine.running == 1


def test_a_cached_prefix_is_not_computed_again() -> None:
    engine = batcher()
    engine.add("a", prompt_tokens=10, output_tokens=1, hashes=[1, 2])
    assert engine.step().prefill_tokens == 10
    engine.add("b", prompt_tokens=13, output_tokens=1, hashes=[1, 2, 3])
    step = engine.step()
    assert step.admitted == (Admission("b", 8, resumed=False),)
    assert (step.prefill_tokens, step.context_tokens) == (5, 13)
    assert (engine.cached_tokens, engine.looked_up_tokens) == (8, 23)


def test_at_least_one_token_of_a_fully_cached_prompt_is_computed() -> None:
    engine = batcher()
    engine.add("a", prompt_tokens=8, output_tokens=1, hashes=[1, 2])
    engine.step()
    engine.add("b", prompt_tokens=8, output_tokens=1, hashes=[1, 2])
    step = engine.step()
    assert (step.admitted[0].cached_tokens, step.prefill_tokens) == (4, 4)


def test_a_prefix_is_shared_within_the_step_that_computes_it() -> None:
    engine = batcher(blocks=5, size=4)
    engine.add("a", prompt_tokens=9, output_tokens=2, hashes=[1, 2])
    engine.add("b", prompt_tokens=9, output_tokens=2, hashes=[1, 2])
    step = engine.step()
    assert [admission.cached_tokens for admission in step.admitted] == [0, 8]
    assert engine.blocks.free == 5 - 4


def test_a_preempted_sequence_finds_most_of_its_own_blocks_again() -> None:
    engine = batcher(blocks=4, size=4, batched_tokens=100)
    engine.add("a", prompt_tokens=4, output_tokens=6)
    engine.add("b", prompt_tokens=7, output_tokens=6, hashes=[1])
    engine.step()
    preempted: tuple[str, ...] = ()
    while not preempted:
        preempted = engine.step().preempted
    assert preempted == ("b",)
    resumed: tuple[Admission[str], ...] = ()
    while not resumed:
        resumed = engine.step().admitted
    assert resumed == (Admission("b", 4, resumed=True),)


def test_without_prefix_caching_nothing_is_found() -> None:
    engine = batcher(prefix_caching=False)
    for key in "ab":
        engine.add(key, prompt_tokens=9, output_tokens=1, hashes=[1, 2])
        assert engine.step().prefill_tokens == 9


def test_a_cancelled_request_frees_its_blocks_at_the_next_step() -> None:
    engine = batcher(blocks=4, size=4)
    engine.add("a", prompt_tokens=16, output_tokens=1)
    engine.add("b", prompt_tokens=16, output_tokens=1)
    engine.add("c", prompt_tokens=9, output_tokens=5)
    engine.step()
    engine.step()
    engine.step()
    assert engine.running == 1
    assert engine.cancel("c")
    assert engine.blocks.free == 1
    engine.add("d", prompt_tokens=13, output_tokens=1)
    step = engine.step()
    assert (step.cancelled, keys(step), engine.blocks.free) == (("c",), ["d"], 4)
    assert not engine.cancel("c")


def test_many_cancelled_waiters_are_not_kept() -> None:
    engine = batcher(blocks=2, size=4)
    engine.add("a", prompt_tokens=8, output_tokens=1)
    for number in range(1000):
        engine.add(f"w{number}", prompt_tokens=8, output_tokens=1)
        engine.cancel(f"w{number}")
    assert engine.waiting == 1
    assert len(engine._waiting) < 200


def test_many_cancelled_decoders_are_not_kept() -> None:
    engine = batcher(blocks=300, size=4)
    for number in range(1000):
        key = f"d{number}"
        engine.add(key, prompt_tokens=5, output_tokens=900, hashes=[number * 1000, *range(200)])
        engine.step()
        engine.cancel(key)
        engine.step()
    assert len(engine._ends) < 200
    assert len(engine._fills) < 200
    assert engine.blocks.free == 300


def test_a_full_waiting_queue_pushes_back() -> None:
    engine = batcher(waiting=2)
    engine.add("a", prompt_tokens=1, output_tokens=1)
    engine.add("b", prompt_tokens=1, output_tokens=1)
    with pytest.raises(QueueFull) as full:
        engine.add("c", prompt_tokens=1, output_tokens=1)
    assert full.value.limit == 2
    assert full.value.retry_after_s > 0


def test_what_never_fits_is_refused_at_once() -> None:
    engine = batcher(blocks=4, size=4, model_tokens=100)
    with pytest.raises(TooLarge, match="KV blocks: 5 needed, 4 is the most"):
        engine.add("a", prompt_tokens=16, output_tokens=2)
    with pytest.raises(TooLarge, match="prompt tokens"):
        engine.add("a", prompt_tokens=100, output_tokens=1)


def test_the_length_of_the_model_ends_an_answer() -> None:
    engine = batcher(model_tokens=10)
    engine.add("a", prompt_tokens=7, output_tokens=100)
    steps = [engine.step() for _ in range(3)]
    assert [step.finished for step in steps] == [(), (), ("a",)]


@pytest.mark.parametrize(("prompt", "output"), [(0, 1), (1, 0), (-1, 5)])
def test_counts_below_one_are_refused(prompt: int, output: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        batcher().add("a", prompt_tokens=prompt, output_tokens=output)


def test_a_key_in_use_is_refused_until_its_request_is_gone() -> None:
    engine = batcher()
    engine.add("a", prompt_tokens=1, output_tokens=2)
    with pytest.raises(ValueError, match="in the batcher already"):
        engine.add("a", prompt_tokens=1, output_tokens=1)
    engine.cancel("a")
    engine.add("a", prompt_tokens=1, output_tokens=1)
    assert engine.step().finished == ("a",)


def test_many_passes_are_taken_at_once_up_to_the_next_end() -> None:
    engine = batcher()
    engine.add("a", prompt_tokens=4, output_tokens=11)
    engine.add("b", prompt_tokens=4, output_tokens=31)
    engine.step()
    step = engine.step(at_most=1000)
    assert (step.count, step.decodes, step.finished) == (10, 2, ("a",))
    assert step.total_context_tokens() == sum(2 * (5 + index) for index in range(10))
    assert engine.step(at_most=7).count == 7
    assert engine.step(at_most=1000).finished == ("b",)


def test_limits_out_of_range_are_refused() -> None:
    for wrong in (
        {"sequences": 0},
        {"model_tokens": 1},
        {"batched_tokens": 7, "sequences": 8},
        {"chunked_prefill": False, "batched_tokens": 10, "model_tokens": 11},
        {"waiting": 0},
        {"long_prefill_tokens": -1},
    ):
        with pytest.raises(ValueError, match=r"."):
            batcher(**wrong)
