from __future__ import annotations

from eoc_distributed.gateway.sse import MAX_EVENT_BYTES, EventDecoder


def test_other_fields_and_comments_are_skipped() -> None:
    raw = b"event: x\nid: 1\nretry: 5\n: c\ndata:a\ndata\ndata: b\n\n\n\n"
    assert EventDecoder().feed(raw) == [b"a\n\nb"]


def test_an_event_too_large_is_skipped_and_the_next_is_read() -> None:
    decoder = EventDecoder()
    assert decoder.feed(b"data: ") == []
    for _ in range(MAX_EVENT_BYTES // 1000 + 10):
        assert decoder.feed(b"x" * 1000) == []
    assert decoder.feed(b"\n\ndata: next\n\n") == [b"next"]
    assert decoder.skipped == 1


def test_an_event_of_too_many_lines_is_skipped() -> None:
    decoder = EventDecoder()
    assert decoder.feed(b"data:\n" * (MAX_EVENT_BYTES + 2) + b"\n") == []
    assert decoder.skipped == 1
