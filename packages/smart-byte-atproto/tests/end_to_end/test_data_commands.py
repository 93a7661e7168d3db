from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from smart_byte_atproto import car
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID

pytestmark = pytest.mark.end_to_end

RECORDS = [dag_cbor.encode({"n": number}) for number in range(3)]
BLOCKS = [(CID.of(record), record) for record in RECORDS]
PLC_LOG = Path(__file__).parents[1] / "data" / "plc_audit_log.json"


def _run(*arguments: str | Path, stdin: bytes = b"") -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "smart_byte_atproto", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=30,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_help_lists_every_family_with_its_summary() -> None:
    status, out, _ = _run("--help")
    assert status == 0
    for name in ("syntax", "cbor", "cid", "car", "plc"):
        assert f"  {name} " in out


def test_wrong_usage_has_status_2() -> None:
    for arguments in (("nothing",), ("syntax", "nothing", "-"), ("cid", "/no/such/file"), ("cid",)):
        assert _run(*arguments)[0] == 2


def test_syntax_judges_one_value_a_line() -> None:
    status, out, _ = _run("syntax", "did", "-", stdin=b"did:plc:abc\n did:plc:abc\n\xff\n\ndid:a:b")
    lines = out.split("\n")
    assert status == 1
    assert [line.split("\t")[0] for line in lines] == [
        "valid",
        "invalid",
        "invalid",
        "invalid",
        "valid",
        "",
    ]
    assert lines[2] == "invalid\tnot UTF-8"
    assert _run("syntax", "handle", "-", stdin=b"alice.test\n") == (0, "valid\n", "")


def test_cbor_turns_into_json_and_back() -> None:
    encoded = "a16568656c6c6f65776f726c64"
    assert _run("cbor", "decode", stdin=encoded.encode() + b"\n") == (0, '{"hello": "world"}\n', "")
    assert _run("cbor", "decode", stdin=bytes.fromhex(encoded))[1] == '{"hello": "world"}\n'
    assert _run("cbor", "encode", stdin=b'{"hello":"world"}') == (0, encoded + "\n", "")


def test_bad_cbor_and_json_have_status_1_and_a_reason() -> None:
    for arguments, stdin, reason in (
        (("cbor", "decode"), b"fb3ff8000000000000", "float"),
        (("cbor", "decode"), b"a00", "not hex"),
        (("cbor", "decode"), b"", "cut off"),
        (("cbor", "decode", "--lenient"), b"1801", "shortest"),
        (("cbor", "encode"), b"1.5", "not an integer"),
    ):
        status, out, err = _run(*arguments, stdin=stdin)
        assert (status, out) == (1, "")
        assert reason in err
        assert "Traceback" not in err
    assert _run("cbor", "decode", "--lenient", stdin=b"fb3ff8000000000000")[:2] == (0, "1.5\n")


def test_cid_names_a_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"hello world")
    raw = "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"
    assert _run("cid", "--codec", "raw", path)[1] == f"{raw}\n"
    path.write_bytes(b"\xa0")
    empty = "bafyreigbtj4x7ip5legnfznufuopl4sg4knzc2cof6duas4b3q2fy6swua"
    assert _run("cid", "--codec", "dag-cbor", path)[1] == f"{empty}\n"


def test_car_is_listed_and_verified(tmp_path: Path) -> None:
    path = tmp_path / "x.car"
    path.write_bytes(car.dump([BLOCKS[0][0]], [*BLOCKS, BLOCKS[1]]))
    status, out, _ = _run("car", "ls", path)
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == [
        str(cid) for cid, _ in [*BLOCKS, BLOCKS[1]]
    ]
    rows = [json.loads(line) for line in _run("car", "ls", "--json", path)[1].splitlines()]
    assert rows[0] == {"cid": str(BLOCKS[0][0]), "codec": "dag-cbor", "size": 4, "root": True}
    status, out, _ = _run("car", "verify", "--json", path)
    assert status == 0
    assert json.loads(out) == {
        "valid": True,
        "roots": [str(BLOCKS[0][0])],
        "blocks": 4,
        "repeated": 1,
        "bytes": 16,
    }
    assert _run("car", "verify", path)[1].startswith("valid: 4 blocks")


def test_bad_cars_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.car"
    data = car.dump([BLOCKS[0][0]], BLOCKS)
    for content, error, retryable in (
        (data[:-1], "Truncated", True),
        (data[:-1] + b"\xff", "HashMismatch", False),
        (car.dump([CID.of(b"x")], BLOCKS), "MissingBlock", False),
        (b"", "Truncated", True),
    ):
        path.write_bytes(content)
        status, out, _ = _run("car", "verify", "--json", path)
        verdict = json.loads(out)
        assert (status, verdict["valid"]) == (1, False)
        assert (verdict["error"], verdict["retryable"]) == (error, retryable)
        status, out, err = _run("car", "verify", path)
        assert (status, out) == (1, "")
        assert ("fetch it again" in err) == retryable


def test_plc_log_is_audited(tmp_path: Path) -> None:
    status, out, _ = _run("plc", "audit", PLC_LOG)
    entries = json.loads(PLC_LOG.read_text())
    assert (status, out.splitlines()[0]) == (
        0,
        f"valid: {entries[0]['did']} is ended by a tombstone",
    )
    path = tmp_path / "log.json"
    path.write_text(json.dumps(entries[:1]))
    verdict = json.loads(_run("plc", "audit", "--json", path)[1])
    assert verdict["alsoKnownAs"] == ["at://alice.test"]
    path.write_text(json.dumps([entries[0] | {"nullified": True}]))
    status, out, err = _run("plc", "audit", path)
    assert (status, out) == (1, "")
    assert "operation 0" in err
    status, out, _ = _run("plc", "audit", "--json", path)
    assert (status, json.loads(out)["code"]) == (1, "nullified")
