from __future__ import annotations

from hypothesis import given, strategies as st

from eoc_distributed.gateway.sse import EventDecoder

LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=12)
EVENTS = st.lists(st.lists(LINE, min_size=1, max_size=3), max_size=5)


@given(EVENTS, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.lists(st.integers(1, 9)))
def test_events_are_the_same_however_the_bytes_are_cut(
    events: list[list[str]], end: str, bom: bool, cuts: list[int]
) -> None:
    text = "".join(
        f": ping{end}" + "".join(f"data: {line}{end}" for line in lines) + end for lines in events
    )
    raw = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    expected = ["\n".join(lines).encode() for lines in events]
    decoder = EventDecoder()
    got: list[bytes] = []
    for size in cuts:
        got += decoder.feed(raw[:size])
        raw = raw[size:]
    got += decoder.feed(raw)
    got += decoder.feed(b": the line after ends a lone CR\n")
    assert got == expected


@given(st.binary(max_size=300))
def test_no_bytes_make_it_fail(raw: bytes) -> None:
    decoder = EventDecoder()
    for number in range(len(raw)):
        decoder.feed(raw[number : number + 1])
