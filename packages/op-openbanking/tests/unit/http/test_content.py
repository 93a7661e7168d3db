from __future__ import annotations

import gzip

import pytest
from hypothesis import given, strategies as st

from op_openbanking.errors import OpenBankingError, ProtocolViolation
from op_openbanking.http.content import Body


def read(*chunks: bytes, coding: str | None = "gzip", limit_bytes: int = 1000) -> bytes:
    body = Body(limit_bytes=limit_bytes, content_encoding=coding)
    for chunk in chunks:
        body.feed(chunk)
    return body.finish()


@given(st.binary(max_size=500), st.integers(1, 20))
def test_gzip_is_undone_in_any_pieces(octets: bytes, size: int) -> None:
    packed = gzip.compress(octets)
    pieces = [packed[n : n + size] for n in range(0, len(packed), size)]
    assert read(*pieces) == octets


@pytest.mark.parametrize("coding", [None, "identity", " Identity "])
def test_a_plain_body_is_kept(coding: str | None) -> None:
    assert read(b"a", b"", b"b", coding=coding) == b"ab"


def test_an_empty_body_is_empty_under_gzip_too() -> None:
    assert read(coding="gzip") == b""


def test_the_limit_counts_decoded_octets() -> None:
    assert len(read(gzip.compress(bytes(1000)))) == 1000
    with pytest.raises(ProtocolViolation, match="longer than 1000"):
        read(gzip.compress(bytes(1001)))
    with pytest.raises(ProtocolViolation, match="longer than 1000"):
        read(bytes(600), bytes(600), coding=None)


@pytest.mark.parametrize("coding", ["br", "deflate", "gzip, gzip", "zstd"])
def test_refuses_a_coding_that_was_not_asked_for(coding: str) -> None:
    with pytest.raises(ProtocolViolation, match="not asked for"):
        read(b"x", coding=coding)


@given(st.binary(min_size=1, max_size=200))
def test_damaged_gzip_is_the_peers_fault(octets: bytes) -> None:
    try:
        read(octets)
    except OpenBankingError:
        return


def test_a_stream_that_stops_or_goes_on_is_refused() -> None:
    packed = gzip.compress(b"hello")
    with pytest.raises(ProtocolViolation, match="stops in the middle"):
        read(packed[:-1])
    with pytest.raises(ProtocolViolation):
        read(packed + b"more")


def test_a_second_gzip_stream_is_named_as_such() -> None:
    with pytest.raises(ProtocolViolation, match="goes on"):
        read(gzip.compress(b"a") + gzip.compress(b"b"))
