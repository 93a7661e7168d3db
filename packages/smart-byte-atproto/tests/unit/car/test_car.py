from __future__ import annotations

import mmap
from io import BytesIO
from pathlib import Path

import pytest

from smart_byte_atproto import car
from smart_byte_atproto.data import dag_cbor, varint
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import (
    ATProtoError,
    HashMismatch,
    InvalidData,
    LimitExceeded,
    NotCanonical,
    Truncated,
)

RECORDS = [dag_cbor.encode({"n": number, "text": "x" * number}) for number in range(0, 400, 13)]
BLOCKS = [(CID.of(record), record) for record in RECORDS]
BLOCKS += [
    (CID.of(b"", codec=Codec.RAW), b""),
    (CID.of(b"\x00" * 20_000, codec=Codec.RAW), b"\x00" * 20_000),
]
BLOCKS += BLOCKS[:2]
ROOTS = [BLOCKS[0][0]]
DATA = car.dump(ROOTS, BLOCKS)
HEADER = next(car.chunks(ROOTS, []))


def _section(content: bytes) -> bytes:
    return varint.encode(len(content)) + content


def _read_all(data: bytes) -> list[type[ATProtoError]]:
    """Errors of every way of reading."""
    errors = []
    for read in (car.load, lambda data: list(car.CARReader(BytesIO(data))), _push):
        with pytest.raises(ATProtoError) as caught:
            read(data)
        errors.append(type(caught.value))
    return errors


def _push(data: bytes, size: int = 7) -> list[tuple[CID, bytes]]:
    decoder = car.CARDecoder()
    blocks = []
    for start in range(0, len(data), size):
        blocks += decoder.feed(data[start : start + size])
    decoder.close()
    return blocks


def test_what_is_written_is_read_back() -> None:
    assert car.load(DATA) == car.CAR(tuple(ROOTS), BLOCKS)
    assert b"".join(car.chunks(ROOTS, iter(BLOCKS))) == DATA


def test_decoded_blocks_are_values_or_raw_bytes() -> None:
    values = list(car.load(DATA).decoded())
    assert values[1] == (BLOCKS[1][0], {"n": 13, "text": "x" * 13})
    assert values[len(RECORDS)][1] == b""


def test_a_file_is_read_in_pieces() -> None:
    reader = car.CARReader(BytesIO(DATA))
    assert reader.roots == tuple(ROOTS)
    assert list(reader) == BLOCKS


def test_a_mapped_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.car"
    path.write_bytes(DATA)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert car.load(mapped).blocks == BLOCKS


@pytest.mark.parametrize("size", [1, 2, 3, 37, 1000, 10**6])
def test_pieces_of_any_size_give_the_same(size: int) -> None:
    assert _push(DATA, size) == BLOCKS


def test_roots_are_known_once_the_header_is_there() -> None:
    decoder = car.CARDecoder()
    assert decoder.feed(HEADER[:-1]) == []
    assert decoder.roots is None
    assert decoder.feed(HEADER[-1:]) == []
    assert decoder.roots == tuple(ROOTS)
    decoder.close()


def test_every_cut_is_truncation_unless_it_is_between_sections() -> None:
    whole = {
        len(b"".join(list(car.chunks(ROOTS, BLOCKS))[:count]))
        for count in range(1, len(BLOCKS) + 2)
    }
    for end in range(0, len(DATA), 97):
        if end not in whole:
            assert _read_all(DATA[:end]) == [Truncated] * 3
    for end in whole:
        car.load(DATA[:end])


def test_truncation_says_what_is_missing_and_may_be_tried_again() -> None:
    data = car.dump(ROOTS, BLOCKS[:3])
    with pytest.raises(Truncated) as caught:
        car.load(data[:-5])
    assert (caught.value.needed, caught.value.retryable) == (5, True)
    assert caught.value.at == len(car.dump(ROOTS, BLOCKS[:2]))


@pytest.mark.parametrize("at", [-1, 100, 150, 1000])
def test_a_changed_byte_is_corruption(at: int) -> None:
    data = bytearray(DATA)
    data[at] ^= 1
    for error in _read_all(bytes(data)):
        assert issubclass(error, InvalidData)
        assert not error.retryable


def test_a_block_under_another_cid_does_not_hash() -> None:
    data = HEADER + _section(BLOCKS[0][0].raw + RECORDS[1])
    assert _read_all(data) == [HashMismatch] * 3
    with pytest.raises(HashMismatch) as caught:
        car.load(data)
    assert caught.value.cid == BLOCKS[0][0]
    assert caught.value.at == len(HEADER) + 1


@pytest.mark.parametrize(
    ("rest", "error"),
    [
        (b"\x00", InvalidData),
        (_section(b"\x01\x71\x12\x20"), InvalidData),
        (_section(b"\x12\x20" + bytes(40)), InvalidData),
        (_section(bytes.fromhex("01551114") + bytes(40)), InvalidData),
        (_section(bytes.fromhex("01711e20") + bytes(40)), NotCanonical),
        (b"\xa4\x00" + bytes(36), NotCanonical),
        (b"\xff" * 9 + b"\x01", InvalidData),
        (varint.encode((1 << 63) - 1), LimitExceeded),
        (varint.encode(5_000_037), LimitExceeded),
    ],
)
def test_sections_that_cannot_be_are_refused(rest: bytes, error: type[ATProtoError]) -> None:
    assert _read_all(HEADER + rest) == [error] * 3


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\xa0",
        b"\x80",
        b"\x01\x02",
        dag_cbor.encode({"version": 1}),
        dag_cbor.encode({"roots": []}),
        dag_cbor.encode({"roots": [], "version": 2}),
        dag_cbor.encode({"roots": [], "version": True}),
        dag_cbor.encode({"roots": [], "version": "1"}),
        dag_cbor.encode({"roots": [1], "version": 1}),
        dag_cbor.encode({"roots": {}, "version": 1}),
        dag_cbor.encode({"roots": [], "version": 1, "x": 1}),
        bytes(70_000),
    ],
)
def test_headers_that_are_none_are_refused(header: bytes) -> None:
    for error in _read_all(_section(header)):
        assert issubclass(error, InvalidData)


def test_an_empty_input_is_cut_off() -> None:
    assert _read_all(b"") == [Truncated] * 3


def test_no_roots_are_left_to_the_caller() -> None:
    assert car.load(car.dump([], BLOCKS[:1])) == car.CAR((), BLOCKS[:1])


def test_blocks_may_be_limited() -> None:
    longest = max(len(block) for _, block in BLOCKS)
    assert car.load(DATA, max_block_bytes=longest).blocks == BLOCKS
    with pytest.raises(LimitExceeded):
        car.load(DATA, max_block_bytes=longest - 1)


def test_a_huge_length_is_refused_before_its_bytes_come() -> None:
    decoder = car.CARDecoder()
    decoder.feed(HEADER)
    with pytest.raises(LimitExceeded):
        decoder.feed(varint.encode(1 << 40))
