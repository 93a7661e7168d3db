"""Every line of the interop syntax files."""

from __future__ import annotations

from pathlib import Path

import pytest

from smart_byte_atproto.errors import InvalidSyntax
from smart_byte_atproto.syntax import FORMATS

pytestmark = pytest.mark.conformance

OWN = Path(__file__).parents[1] / "data" / "syntax"
NAMES = {
    "atidentifier": "at-identifier",
    "aturi": "at-uri",
    "cid": "cid",
    "datetime": "datetime",
    "did": "did",
    "handle": "handle",
    "language": "language",
    "nsid": "nsid",
    "recordkey": "record-key",
    "tid": "tid",
    "uri": "uri",
}
CASES = [
    f"{name}_{kind}.txt"
    for name in NAMES
    for kind in ("syntax_valid", "syntax_invalid", "parse_valid", "parse_invalid")
]


def _lines(file: Path) -> list[str]:
    lines = file.read_text("utf-8").split("\n")
    return [line for line in lines if line and not line.startswith("#")]


def _judge(file: Path) -> None:
    check = FORMATS[NAMES[file.name.split("_")[0]]]
    lines = _lines(file)
    assert lines
    for line in lines:
        if file.stem.endswith("_valid"):
            assert check(line) == line
        else:
            with pytest.raises(InvalidSyntax):
                check(line)


@pytest.mark.parametrize("name", CASES)
def test_published_lines_get_the_published_verdict(vectors: Path, name: str) -> None:
    file = vectors / "atproto-interop-tests" / "syntax" / name
    if not file.is_file():
        pytest.skip(f"this copy of the interop tests has no {name}")
    _judge(file)


@pytest.mark.parametrize("file", sorted(OWN.glob("*.txt")), ids=lambda file: file.name)
def test_lines_of_our_own_get_their_verdict(file: Path) -> None:
    _judge(file)


def test_own_lines_cover_every_format() -> None:
    have = {file.name for file in OWN.glob("*.txt")}
    assert have == {f"{name}_syntax_{kind}.txt" for name in NAMES for kind in ("valid", "invalid")}
