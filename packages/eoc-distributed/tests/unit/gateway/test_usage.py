from __future__ import annotations

import pytest

from eoc_distributed.gateway.usage import Counted, StreamCount, count_answer


def stream(*events: str) -> StreamCount:
    count = StreamCount()
    for event in events:
        count.feed(f"data: {event}\n\n".encode())
    return count


def test_usage_of_an_answer_is_exact() -> None:
    body = b'{"usage":{"prompt_tokens":17,"completion_tokens":8,"total_tokens":25}}'
    assert count_answer(body) == Counted(17, 8, exact=True)


def test_usage_of_the_responses_api_is_read() -> None:
    assert count_answer(b'{"usage":{"input_tokens":3,"output_tokens":2}}') == Counted(
        3, 2, exact=True
    )


def test_embeddings_have_no_completion() -> None:
    assert count_answer(b'{"usage":{"prompt_tokens":4,"total_tokens":4}}') == Counted(
        4, 0, exact=True
    )


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"usage":null}', b'{"usage":{"prompt_tokens":"x"}}', b"[" * 9999]
)
def test_an_answer_without_usage_tells_nothing(body: bytes) -> None:
    assert count_answer(body) is None


def test_events_with_content_are_counted_and_the_role_is_not() -> None:
    count = stream(
        '{"choices":[{"delta":{"role":"assistant","content":""}}]}',
        '{"choices":[{"delta":{"content":"Hel"}}]}',
        '{"choices":[{"delta":{"reasoning_content":"hm"}}]}',
        '{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}',
        '{"choices":[{"text":"lo"}]}',
        '{"choices":[{"delta":{},"finish_reason":"stop"}]}',
        "[DONE]",
    )
    assert count.result() == Counted(None, 4, exact=False)
    assert count.done


def test_the_usage_chunk_wins_over_counting() -> None:
    count = stream(
        '{"choices":[{"delta":{"content":"a b c"}}]}',
        '{"choices":[],"usage":{"prompt_tokens":17,"completion_tokens":3}}',
    )
    assert count.result() == Counted(17, 3, exact=True)


def test_events_of_the_responses_api_are_counted() -> None:
    count = stream(
        '{"type":"response.output_text.delta","delta":"Hi"}',
        '{"type":"response.completed","response":{"usage":{"input_tokens":5,"output_tokens":1}}}',
    )
    assert count.events == 1
    assert count.result() == Counted(5, 1, exact=True)


def test_what_is_no_json_is_passed_over() -> None:
    assert stream(
        "{", "[[", '{"choices":5}', "\udcff".encode("utf-8", "replace").decode()
    ).result() == (Counted(None, None, exact=False))


def test_a_usage_that_leaves_the_prompt_out_is_not_exact() -> None:
    assert count_answer(b'{"usage":{"completion_tokens":3}}') == Counted(None, 3, exact=False)
