"""The data layer against slow oracles, and against rubbish."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from smart_byte_atproto import car
from smart_byte_atproto.data import base32, dag_cbor, json as atproto_json, varint
from smart_byte_atproto.data.cbor_survey import survey
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import ATProtoError, InvalidData
from smart_byte_atproto.syntax import FORMATS, TID

CIDS = st.builds(CID.of, st.binary(max_size=8), codec=st.sampled_from(Codec))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 63) - 1)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
    | CIDS
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(
    lambda key: not key.startswith("$")
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=40,
)


def _oracle(value: Any) -> bytes:  # noqa: PLR0911  one for each type
    """Encode by the book, and also what must not be: floats, wide integers, other tags."""
    match value:
        case None | bool():
            return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
        case int():
            return _head(0, value) if value >= 0 else _head(1, -1 - value)
        case float():
            return b"\xfb" + struct.pack(">d", value)
        case str():
            return _head(3, len(value.encode())) + value.encode()
        case bytes():
            return _head(2, len(value)) + value
        case CID():
            return b"\xd8\x2a" + _oracle(b"\x00" + value.raw)
        case list():
            return _head(4, len(value)) + b"".join(map(_oracle, value))
        case _:
            keys = sorted(value, key=lambda key: (len(key.encode()), key.encode()))
            return _head(5, len(keys)) + b"".join(_oracle(k) + _oracle(value[k]) for k in keys)


def _head(major: int, argument: int) -> bytes:
    if argument < 24:
        return bytes([major << 5 | argument])
    width = next(width for width in (1, 2, 4, 8) if argument < 1 << 8 * width)
    return bytes([major << 5 | 23 + width.bit_length()]) + argument.to_bytes(width, "big")


@given(VALUES)
def test_encoding_is_that_of_the_oracle_and_decoding_undoes_it(value: Any) -> None:
    data = dag_cbor.encode(value)
    assert data == _oracle(value)
    assert dag_cbor.decode(data) == value
    assert dag_cbor.decode_first(b"\xf6" + data + b"\xff", 1) == (value, len(data) + 1)
    assert dag_cbor.encode(dag_cbor.decode(data)) == data


@given(VALUES)
def test_json_keeps_every_value(value: Any) -> None:
    assert atproto_json.loads(atproto_json.dumps(value)) == value


BAD = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(1 << 63, (1 << 64) - 1)
    | st.integers(-(1 << 64), -(1 << 63) - 1)
    | st.builds(CID, st.binary(max_size=40))
)


@given(VALUES, BAD, st.randoms(use_true_random=False), st.integers(0, 300))
def test_one_bad_value_anywhere_is_found(
    value: Any, bad: Any, rng: random.Random, padding: int
) -> None:
    for _ in range(rng.randrange(6)):
        value = rng.choice([[value], [0, value, b"\xfb"], {"a": ";", "b": value}, {"é": value}])
    assert dag_cbor.decode(_oracle(["p" * padding, value]))
    with pytest.raises(InvalidData):
        dag_cbor.decode(_oracle(["p" * padding, value, bad]))
    with pytest.raises(InvalidData):
        dag_cbor.decode(_oracle([{"a": value, "bb": {"c": [bad]}}]))


def _verdict(read: Callable[[bytes], object], data: bytes) -> bool:
    try:
        read(data)
    except InvalidData:
        return False
    return True


def _mutate(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                changed[at:at] = bytes([rng.randrange(0x80, 0xC0)]) * rng.randrange(1, 60)
            case 2:
                del changed[at : at + rng.randrange(1, 9)]
            case 3:
                changed[at:at] = rng.choice(
                    [b"\xfb", b"\x1b\xff", b"\x3b\x80", b"\xd8\x2a", b"\x9a"]
                )
            case _:
                start = rng.randrange(len(changed) + 1)
                changed[at:at] = changed[start : start + rng.randrange(40)]
    return bytes(changed)


SEEDS = [
    _oracle({"text": "héllo; wörld" * 5, "langs": ["en"], "reply": {"root": {"cid": "b" * 59}}}),
    _oracle({"embed": {"images": [{"ref": CID.of(b"x"), "size": 70_000}] * 3}, "n": [-5, 300]}),
    _oracle([[[["あ", {"a": None, "b": True}]]], b"\x00" * 30, (1 << 63) - 1, -(1 << 63)]),
    _oracle({f"k{n}": [n, CID.of(b"y")] for n in range(60)}),
    _oracle([b"\x9a" * 9_000, {"a": "ü" * 3_000}]),
]


def test_mutated_cbor_gets_the_verdict_of_the_survey_and_no_other_error() -> None:
    rng = random.Random(20_240_101)
    for round_ in range(6_000):
        data = _mutate(SEEDS[round_ % len(SEEDS)], rng)

        def whole(data: bytes) -> None:
            if survey(data) != len(data):
                raise InvalidData("more follows")

        good = _verdict(whole, data)
        assert _verdict(dag_cbor.decode, data) == good, data.hex()
        if good:
            assert dag_cbor.encode(dag_cbor.decode(data)) == data
        _verdict(dag_cbor.decode_lenient, data)
        _verdict(dag_cbor.decode_first, data)


def _rejected(read: Callable[[bytes], object], data: bytes) -> type[ATProtoError] | None:
    try:
        read(data)
    except ATProtoError as bad:
        return type(bad)
    return None


def test_mutated_cars_get_one_verdict_and_no_other_error() -> None:
    rng = random.Random(20_240_102)
    blocks = [(CID.of(seed), seed) for seed in SEEDS[:4]]
    whole = car.dump([blocks[0][0]], blocks)

    def push(data: bytes) -> list[tuple[CID, bytes]]:
        decoder = car.CARDecoder()
        cut = rng.randrange(len(data) + 1)
        got = decoder.feed(data[:cut]) + decoder.feed(data[cut:])
        decoder.close()
        return got

    for _ in range(3_000):
        data = _mutate(whole, rng)
        verdict = _rejected(car.load, data)
        assert _rejected(lambda data: list(car.CARReader(BytesIO(data))), data) == verdict
        assert _rejected(push, data) == verdict
        if verdict is None:
            for cid, block in car.load(data).blocks:
                assert cid.verify(block)


@given(st.lists(st.tuples(st.binary(max_size=300), st.sampled_from(Codec)), max_size=8), st.data())
@settings(max_examples=50)
def test_any_blocks_in_any_pieces_come_back(
    contents: list[tuple[bytes, Codec]], data: st.DataObject
) -> None:
    blocks = [(CID.of(content, codec=codec), content) for content, codec in contents]
    roots = [cid for cid, _ in blocks[:2]]
    whole = car.dump(roots, blocks)
    decoder = car.CARDecoder()
    got, rest = [], whole
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        got += decoder.feed(rest[:size])
        rest = rest[size:]
    decoder.close()
    assert (decoder.roots, got) == (tuple(roots), blocks)
    assert car.load(whole) == car.CAR(tuple(roots), blocks)


@given(st.binary(max_size=60))
def test_base32_round_trips(content: bytes) -> None:
    assert base32.decode(base32.encode(content)) == content


@given(st.integers(0, (1 << 63) - 1), st.binary(max_size=3))
def test_varints_round_trip(number: int, behind: bytes) -> None:
    encoded = varint.encode(number)
    assert varint.decode(encoded + behind) == (number, len(encoded))


@given(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1))
def test_tids_sort_like_their_numbers(one: int, other: int) -> None:
    assert int(TID.of(one)) == one
    assert (TID.of(one) < TID.of(other)) == (one < other)


@given(st.sampled_from(sorted(FORMATS)), st.text() | st.from_regex(r"\A[a-z0-9:./%-]{0,40}\Z"))
def test_formats_accept_or_refuse_and_nothing_else(kind: str, text: str) -> None:
    try:
        assert FORMATS[kind](text) == text
    except ATProtoError:
        return
    assert text.isascii()
    assert not set(text) & set(" \n\t\r")
