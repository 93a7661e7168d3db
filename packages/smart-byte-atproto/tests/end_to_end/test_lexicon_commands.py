from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

POST = {
    "lexicon": 1,
    "id": "com.example.post",
    "defs": {
        "main": {
            "type": "record",
            "key": "tid",
            "record": {
                "type": "object",
                "required": ["text"],
                "properties": {"text": {"type": "string", "maxGraphemes": 3}},
            },
        }
    },
}


def run(*arguments: str | Path, stdin: str = "", cwd: Path | None = None) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "smart_byte_atproto", "lexicon", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        cwd=cwd,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def lexicons(tmp_path: Path) -> Path:
    file = tmp_path / "schemas" / "com" / "example" / "post.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(POST))
    return tmp_path / "schemas"


def test_documents_are_checked(lexicons: Path) -> None:
    status, out, _ = run("check", lexicons)
    assert (status, out.count("valid")) == (0, 1)
    bad = lexicons / "com" / "example" / "bad.json"
    bad.write_text('{"lexicon": 1, "id": "com.example.bad", "defs": {"main": {"type": "ref"}}}')
    status, out, _ = run("check", "--json", lexicons)
    verdicts = [json.loads(line) for line in out.splitlines()]
    assert status == 1
    assert [verdict["valid"] for verdict in verdicts] == [False, True]
    assert "defs/main" in verdicts[0]["reason"]


def test_a_reference_that_leads_nowhere_is_told(lexicons: Path) -> None:
    document = {
        "lexicon": 1,
        "id": "com.example.list",
        "defs": {"a": {"type": "array", "items": {"type": "ref", "ref": "com.example.absent"}}},
    }
    (lexicons / "com" / "example" / "list.json").write_text(json.dumps(document))
    status, out, _ = run("check", lexicons)
    assert status == 1
    assert "com.example.list: no document here has com.example.absent" in out


def test_a_record_is_checked(lexicons: Path) -> None:
    good = json.dumps({"$type": "com.example.post", "text": "abc", "more": 1})
    command = ("validate", "--lexicons", lexicons)
    assert run(*command, "-", stdin=good) == (0, "valid\n", "")
    status, out, _ = run(
        *command, "--json", "--rkey", "self", "-", stdin=good.replace("abc", "abcd")
    )
    assert status == 1
    verdict = json.loads(out)
    assert [problem["code"] for problem in verdict["problems"]] == ["key", "graphemes"]
    assert verdict["problems"][1]["at"] == "text"


def test_bad_input_has_status_1_and_says_what(lexicons: Path) -> None:
    for stdin, said in (
        ("{", "not JSON"),
        ('{"$type": "com.example.absent"}', "no schema at hand"),
        ("[]", "not a map"),
    ):
        status, out, err = run("validate", "--lexicons", lexicons, "-", stdin=stdin)
        assert status == 1
        assert said in out
        assert err == ""


def test_a_package_is_generated(lexicons: Path, tmp_path: Path) -> None:
    status, out, _ = run("generate", lexicons, "--out", tmp_path / "made")
    assert status == 0
    assert "files in" in out
    code = "from made.com.example import post; print(post.NSID, post.Post.__required_keys__)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "com.example.post" in done.stdout
    assert "'text'" in done.stdout
    assert run("generate", lexicons, "--out", tmp_path / "not-a-name")[0] == 2
