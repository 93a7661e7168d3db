"""Primitives of the CESR test vectors: codes of the reference are read, others are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from smart_byte_atproto.bridge.cesr import RAW_BYTES, Primitive
from smart_byte_atproto.errors import InvalidPrimitive

pytestmark = pytest.mark.conformance


def _cases(vectors: Path) -> list[dict[str, str]]:
    cases = []
    for file in sorted((vectors / "cesr" / "primitives").glob("*.txt")):
        lines = file.read_text().splitlines()
        cases.append(dict(line.split(" = ", 1) for line in lines if " = " in line))
    return cases


def test_primitives_come_out_as_filed(vectors: Path) -> None:
    read = 0
    for case in _cases(vectors):
        if case["code"] not in RAW_BYTES:
            continue
        raw, binary = (bytes.fromhex(case[name].replace("-", "")) for name in ("raw", "qb2"))
        made = Primitive(case["code"], raw)
        assert (made.qb64, made.qb2) == (case["qb64"], binary)
        assert Primitive.parse(case["qb64"]) == Primitive.decode(binary) == made
        read += 1
    assert read >= 90


def test_codes_that_are_not_read_are_refused_by_name(vectors: Path) -> None:
    refused = 0
    for case in _cases(vectors):
        if case["code"] in RAW_BYTES:
            continue
        with pytest.raises(InvalidPrimitive) as caught:
            Primitive.parse(case["qb64"])
        assert caught.value.code == "code", case
        refused += 1
    assert refused >= 40
