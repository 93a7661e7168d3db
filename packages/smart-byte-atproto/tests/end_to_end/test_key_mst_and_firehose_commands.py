from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner, Result

from smart_byte_atproto.car import dump
from smart_byte_atproto.cli import main
from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.firehose.encode import commit_body, encode_frame
from smart_byte_atproto.firehose.recording import write_frames
from smart_byte_atproto.mst import SketchMST, Tree
from smart_byte_atproto.repo import Repo
from smart_byte_atproto.stores.memory import MemoryStore

pytestmark = pytest.mark.end_to_end

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
SECRET = bytes(range(1, 33))
DID_KEY = "did:key:zQ3shWLyu8mc4GLnyzrxvWj9kJPijwGbjdrr3pZ8hacUYxawh"


def run(*arguments: object, stdin: bytes = b"") -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


@pytest.mark.parametrize("kind", sorted(KeyType))
def test_a_generated_key_signs_what_its_public_key_verifies(tmp_path: Path, kind: KeyType) -> None:
    file = tmp_path / "key"
    made = run("key", "generate", "--type", kind, "--output", file, "--json")
    assert made.exit_code == 0, made.output
    facts = json.loads(made.output)
    assert facts["type"] == kind
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not {"secret_hex", "secret_multikey"} & facts.keys()
    assert file.read_text().strip() not in made.output
    signature = run("key", "sign", "--key", file, stdin=b"message").output.strip()
    verify = ("key", "verify", "--key", facts["did_key"], "--signature", signature)
    good = run(*verify, stdin=b"message")
    assert (good.exit_code, good.output) == (0, "valid\n")
    bad = run(*verify, stdin=b"massage")
    assert bad.exit_code == 1
    assert "mismatch" in bad.output
    again = run("key", "generate", "--output", file)
    assert again.exit_code == 1
    assert PrivateKey.from_multikey(file.read_text().strip()).public_key.did_key == facts["did_key"]


def test_a_key_without_a_file_is_printed() -> None:
    facts = json.loads(run("key", "generate", "--json").output)
    key = PrivateKey.from_hex(KeyType.K256, facts["secret_hex"])
    assert key.export_multikey() == facts["secret_multikey"]
    assert key.public_key.did_key == facts["did_key"]


def test_inspect_reads_did_keys_multikeys_and_legacy_forms() -> None:
    facts = json.loads(run("key", "inspect", DID_KEY, "--json").output)
    assert facts == {
        "type": "K-256",
        "did_key": DID_KEY,
        "multikey": DID_KEY.removeprefix("did:key:"),
        "public_hex": "0284bf7562262bbd6940085748f3be6afa52ae317155181ece31b66351ccffa4b0",
        "network_valid": True,
    }
    legacy = run(
        "key", "inspect", "zxdM8dSstjrpZaRUwBmDvjGXweKuEMVN95A9oJBFjkWMh",
        "--type", "EcdsaSecp256r1VerificationKey2019",
    )  # fmt: skip
    assert "did:key:zDnaembgSGUhZULN2Caob4HLJPaxBh92N7rtH21TErzqf8HQo" in legacy.output
    assert "network valid   yes" in legacy.output
    assert run("key", "inspect", "did:key:z6").exit_code == 1


def test_wrong_usage_of_key_has_status_2(tmp_path: Path) -> None:
    assert run("key", "verify", "--key", DID_KEY, "--signature", "xyz").exit_code == 2
    assert run("key", "sign").exit_code == 2
    file = tmp_path / "key"
    file.write_bytes(b"\xff")
    assert run("key", "sign", "--key", file).exit_code == 1


def test_mst_root_takes_lines_in_any_order() -> None:
    pairs = {b"k/%d" % n: CID.of(b"%d" % n) for n in range(50)} | {b"a key": CID.of(b"")}
    lines = b"".join(key + b" " + str(cid).encode() + b"\n" for key, cid in reversed(pairs.items()))
    assert run("mst", "root", "-", stdin=lines).output.strip() == str(Tree.build(pairs).root)
    sketch = run("mst", "root", "--sketch", "-", stdin=lines)
    assert sketch.output.strip() == SketchMST.build(pairs).root.hex()
    empty = run("mst", "root", "-").output.strip()
    assert empty == "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm"


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        (b"key\n", "line 1"),
        (b"a %s\nb x\n" % str(CID.of(b"")).encode(), "line 2"),
        (b"a \xff\n", "line 1"),
        (b" %s\n" % str(CID.of(b"")).encode(), "0 bytes"),
        (b"a %s\n" % str(CID.of(b"")).encode() * 2, "twice"),
    ],
)
def test_mst_root_says_which_line_is_wrong(lines: bytes, where: str) -> None:
    done = run("mst", "root", "-", stdin=lines)
    assert done.exit_code == 1
    assert where in done.output


def test_mst_validate_judges_trees_and_repositories(tmp_path: Path) -> None:
    tree = Tree.build({b"k/%d" % n: CID.of(b"") for n in range(50)})
    nodes = [(CID(node.link), node.data) for node in tree.nodes()]
    file = tmp_path / "tree.car"
    file.write_bytes(dump([tree.root], nodes))
    facts = json.loads(run("mst", "validate", file, "--json").output)
    assert (facts["valid"], facts["entries"], facts["nodes"]) == (True, 50, len(nodes))
    assert run("mst", "validate", file).output.startswith("valid: 50 entries")
    file.write_bytes(dump([tree.root], nodes[:-1]))
    bad = run("mst", "validate", file, "--json")
    assert (bad.exit_code, json.loads(bad.output)["code"]) == (1, "missing")
    assert run("mst", "validate", file).exit_code == 1
    node = b"\xa2\x61e\x80\x61l\xd8\x2a\x58\x25\x00" + nodes[0][0].raw
    file.write_bytes(dump([CID.of(node)], [(CID.of(node), node), *nodes]))
    bad = run("mst", "validate", file, "--json")
    assert (bad.exit_code, json.loads(bad.output)["code"]) == (1, "root-empty")
    assert run("mst", "validate", tmp_path / "absent").exit_code == 2


def recording() -> tuple[list[bytes], dict[str, object]]:
    key = PrivateKey(KeyType.K256, SECRET)
    repo = Repo.create(DID, MemoryStore())
    frames = []
    for n in range(3):
        repo = repo.create_record(f"app.bsky.feed.post/{n}", {"$type": "app.bsky.feed.post"})
        made = repo.commit(key, rev=f"3jzfcijpj2z2{'abc'[n]}")
        repo = made.repo
        body = commit_body(made, seq=n + 1, time="2026-01-01T00:00:00Z")
        frames.append(encode_frame("#commit", body))
    method = {
        "id": "#atproto",
        "type": "Multikey",
        "controller": DID,
        "publicKeyMultibase": key.public_key.multikey,
    }
    return frames, {DID: {"id": DID, "verificationMethod": [method]}}


def test_firehose_verify_gives_one_verdict_a_frame(tmp_path: Path) -> None:
    frames, documents = recording()
    file, docs = tmp_path / "frames.bin", tmp_path / "docs.json"
    docs.write_text(json.dumps(documents))
    command = ("firehose", "verify", file, "--did-docs", docs)
    file.write_bytes(b"".join(write_frames(frames)))
    good = run(*command, "--json")
    assert good.exit_code == 0, good.output
    verdicts = [json.loads(line) for line in good.output.splitlines()]
    assert [(v["frame"], v["good"], v["operations"]) for v in verdicts] == [
        (1, True, 1),
        (2, True, 1),
        (3, True, 1),
    ]
    assert run(*command).output.endswith("3 good, 0 bad\n")

    forged = bytearray(frames[1])
    forged[-1] ^= 1
    file.write_bytes(b"".join(write_frames([frames[0], bytes(forged), frames[2]])))
    bad = run(*command, "--quiet")
    assert bad.exit_code == 1
    assert "2 good, 1 bad" in bad.output
    assert len(bad.output.splitlines()) == 2
    assert "desynchronized" not in bad.output

    file.write_bytes(b"".join(write_frames(frames))[:-1])
    cut = run(*command)
    assert cut.exit_code == 1
    assert "2 good, 0 bad" in cut.output
    file.write_bytes(b"\xff\xff\xff\xff")
    assert run(*command).exit_code == 1
    packed = zstandard.compress(b"".join(write_frames(frames)))
    file.write_bytes(packed)
    assert run(*command).output.endswith("3 good, 0 bad\n")
    for broken in (packed[:-1], packed[:20], packed + packed[:9], b"\x28\xb5\x2f\xfd" + bytes(20)):
        file.write_bytes(broken)
        assert run(*command).exit_code == 1
    file.write_bytes(packed[:12] + b"\xff" * 8 + packed[20:])
    assert run(*command).exit_code == 1
    docs.write_text("[]")
    assert run(*command).exit_code == 1
    assert run("firehose", "verify", file).exit_code == 2
