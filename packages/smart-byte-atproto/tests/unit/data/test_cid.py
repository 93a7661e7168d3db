from __future__ import annotations

import pytest

from smart_byte_atproto.data import base32, varint
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import InvalidData, InvalidSyntax, NotCanonical, Truncated

TEXT = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
SHA1 = bytes.fromhex("01551114") + bytes(20)


def test_cid_knows_its_parts() -> None:
    cid = CID.of(b"hello world", codec=Codec.RAW)
    assert str(cid) == TEXT
    assert repr(cid) == f"CID({TEXT})"
    assert CID.parse(TEXT) == cid
    assert CID.decode(cid.raw) == cid
    assert len(cid.raw) == 36
    assert bytes(cid) == cid.raw
    assert cid.codec == Codec.RAW
    assert cid.digest == cid.raw[4:]
    assert cid.verify(b"hello world")
    assert not cid.verify(b"hello worlds")


def test_cid_equals_no_bytes_and_no_text() -> None:
    cid = CID.parse(TEXT)
    others: list[object] = [cid.raw, TEXT, cid.digest, None]
    assert cid not in others
    assert cid == CID.parse(TEXT)
    assert len({cid, cid.raw, TEXT}) == 3


def test_cid_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        CID.parse(TEXT).raw = b""  # type: ignore[misc]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "b",
        TEXT.upper(),
        TEXT[:-1],
        TEXT + "=",
        TEXT + "a",
        TEXT[:-1] + "f",  # a spare bit
        "z" + TEXT[1:],
        TEXT[:10] + "1" + TEXT[11:],
        TEXT[:10] + "ä" + TEXT[11:],
        "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG",
        "b" + base32.encode(bytes.fromhex("1220") + bytes(32)),
        "b" * 10_000,
    ],
)
def test_what_is_no_cid_in_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidSyntax):
        CID.parse(text)
    with pytest.raises(InvalidSyntax):
        CID.parse(text, lenient=True)


def test_other_codecs_and_hashes_are_read_only_when_asked_for() -> None:
    dag_pb, blake3 = bytes.fromhex("01701220"), bytes.fromhex("01711e20")
    for raw in (SHA1, dag_pb + bytes(32), blake3 + bytes(32)):
        with pytest.raises(NotCanonical):
            CID.decode(raw)
        cid = CID.decode(raw, lenient=True)
        assert cid.raw == raw
        assert not cid.is_strict
        assert not cid.verify(b"")
        assert CID.parse(str(cid), lenient=True) == cid
    assert CID.decode(SHA1, lenient=True).digest == bytes(20)
    assert CID.decode(SHA1, lenient=True).codec == 0x55


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x01",
        b"\x01\x71\x12",
        b"\x01\x71\x12\x20",
        b"\x01\x71\x12\x20" + bytes(31),
        b"\x01\x71\x12\x20" + bytes(33),
        b"\x01\x71\x12\x00",
        b"\x12\x20" + bytes(32),
        b"\x00\x71\x12\x20" + bytes(32),
        b"\x02\x71\x12\x20" + bytes(32),
        b"\x01\xf1\x00\x12\x20" + bytes(32),
        b"\x01\x71\x12\x64" + bytes(100),
    ],
)
def test_what_is_no_cid_in_bytes_is_refused(raw: bytes) -> None:
    for lenient in (False, True):
        with pytest.raises(InvalidData):
            CID.decode(raw, lenient=lenient)


@pytest.mark.parametrize(
    ("number", "encoded"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (300, "ac02"),
        ((1 << 63) - 1, "ffffffffffffffff7f"),
    ],
)
def test_varints_are_written_and_read(number: int, encoded: str) -> None:
    assert varint.encode(number).hex() == encoded
    data = b"\xff" + bytes.fromhex(encoded) + b"\xff"
    assert varint.decode(data, 1) == (number, len(data) - 1)


def test_varints_have_one_form_and_nine_bytes() -> None:
    for data in (b"\x80\x00", b"\xff\x80\x00"):
        with pytest.raises(NotCanonical):
            varint.decode(data)
    with pytest.raises(InvalidData, match="9 bytes"):
        varint.decode(b"\xff" * 10)
    for data in (b"", b"\x80", b"\xff" * 8):
        with pytest.raises(Truncated):
            varint.decode(data)
    for number in (-1, 1 << 63):
        with pytest.raises(ValueError, match="out of range"):
            varint.encode(number)
