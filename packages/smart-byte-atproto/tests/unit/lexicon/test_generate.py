from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smart_byte_atproto.errors import InvalidLexicon, UnknownSchema
from smart_byte_atproto.lexicon import Catalog, from_value
from smart_byte_atproto.lexicon.generate import generate

POST: dict[str, Any] = {
    "lexicon": 1,
    "id": "com.example.class.post",
    "defs": {
        "main": {
            "type": "record",
            "key": "tid",
            "record": {
                "type": "object",
                "required": ["text", "at", "link"],
                "nullable": ["at"],
                "properties": {
                    "text": {"type": "string"},
                    "at": {"type": "integer"},
                    "link": {"type": "cid-link"},
                    "class": {"type": "string", "enum": ["a", "b"]},
                    "title:lang": {"type": "boolean"},
                    "reply": {"type": "ref", "ref": "#reply"},
                    "embed": {"type": "union", "refs": ["com.example.other"]},
                    "strict": {"type": "union", "refs": ["#reply"], "closed": True},
                    "mood": {"type": "ref", "ref": "com.example.other#happy"},
                    "absent": {"type": "ref", "ref": "com.example.absent"},
                    "list": {"type": "array", "items": {"type": "bytes"}},
                },
            },
        },
        "reply": {"type": "object", "description": 'Say "hi" \\ """', "properties": {}},
        "params": {"type": "string", "knownValues": ["x"]},
    },
}
OTHER: dict[str, Any] = {
    "lexicon": 1,
    "id": "com.example.other",
    "defs": {
        "main": {"type": "object", "properties": {"n": {"type": "integer", "const": 5}}},
        "happy": {"type": "token"},
    },
}
CALL: dict[str, Any] = {
    "lexicon": 1,
    "id": "com.example.getThings",
    "defs": {
        "main": {
            "type": "query",
            "parameters": {"type": "params", "properties": {"q": {"type": "string"}}},
            "output": {
                "encoding": "application/json",
                "schema": {"type": "ref", "ref": "com.example.other"},
            },
            "errors": [{"name": "NotThere"}],
        }
    },
}
USE = """
from smart_byte_atproto.data.cid import CID
from {package}.com.example import getThings
from {package}.com.example.class_.post import Post, Reply

link = CID.parse("bafyreiclp443lavogvhj3d2ob2cxbfuscni2k5jk7bebjzg7khl3esabwq")
post: Post = {{"$type": "com.example.class.post", "text": "hi", "at": None, "link": link}}
post["reply"] = Reply()
post["class"] = "a"
name: getThings.ErrorName = "NotThere"
output: getThings.Output = {{"n": 5}}
"""


def write(folder: Path, package: str) -> None:
    catalog = Catalog(map(from_value, (POST, OTHER, CALL)))
    for path, text in generate(catalog, package=package):
        file = folder / package / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def test_the_package_can_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "made_a")
    monkeypatch.syspath_prepend(tmp_path)
    post = importlib.import_module("made_a.com.example.class_.post")
    assert post.NSID == "com.example.class.post"
    assert post.Post.__required_keys__ == {"$type", "text", "at", "link"}
    assert {"class", "title:lang", "list"} <= post.Post.__optional_keys__
    assert importlib.import_module("made_a.com.example.other").Happy == "com.example.other#happy"


def test_one_module_brings_no_other(tmp_path: Path) -> None:
    write(tmp_path, "made_b")
    code = "import sys, made_b.com.example.class_.post; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "made_b.com.example.other" not in done.stdout
    assert "smart_byte" not in done.stdout


@pytest.mark.slow
def test_a_strict_type_checker_agrees(tmp_path: Path) -> None:
    write(tmp_path, "made_c")
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(USE.format(package="made_c"))
    bad.write_text(USE.format(package="made_c") + 'post["text"] = 5\noutput["n"] = 6\n')
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    cache = ["--cache-dir", str(tmp_path / "cache")]
    for file, problems in ((good, 0), (bad, 2)):
        done = subprocess.run(
            [*command, *cache, file.name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert len(done.stdout.splitlines()) == problems, done.stdout


def test_a_catalogue_refuses_a_name_twice_and_knows_what_it_lacks(tmp_path: Path) -> None:
    catalog = Catalog([from_value(POST)])
    with pytest.raises(InvalidLexicon):
        catalog.add(from_value(POST))
    with pytest.raises(UnknownSchema):
        catalog.resolve("com.example.class.post#absent")
    assert ("com.example.class.post", "com.example.absent") in list(catalog.dangling())
    file = tmp_path / "com" / "example" / "wrong.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"lexicon":1,"id":"com.example.other","defs":{"main":{"type":"token"}}}')
    with pytest.raises(InvalidLexicon, match=r"the file of com[.]example[.]wrong holds"):
        Catalog.from_folder(tmp_path)["com.example.wrong"]
