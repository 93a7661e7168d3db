from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.firehose.encode import encode_frame
from smart_byte_atproto.firehose.recording import read_frames, write_frames
from smart_byte_atproto.firehose.verdict import StreamVerifier
from smart_byte_atproto.identity.signing_key import signing_key

pytestmark = pytest.mark.conformance

CORPUS = "jetstream-corpus"
INDIGO = "indigo"


def corpus(vectors: Path) -> tuple[list[bytes], dict[str, PublicKey]]:
    with (vectors / CORPUS / "frames-000-099.bin.zst").open("rb") as file:
        frames = list(read_frames(file))
    documents = json.loads((vectors / CORPUS / "did_docs-000-099.json").read_text("utf-8"))
    return frames, {did: signing_key(doc, did=did) for did, doc in documents.items()}


def test_jetstream_corpus_frames_000_099(vectors: Path) -> None:
    frames, keys = corpus(vectors)
    assert len(frames) == 100
    stream = StreamVerifier(keys.get)
    verdicts = [stream.verify(frame) for frame in frames]
    assert [verdict.code for verdict in verdicts if not verdict.good] == []
    assert {verdict.type for verdict in verdicts} == {"#commit"}
    assert sum(verdict.operations for verdict in verdicts) == 102


def test_jetstream_corpus_plain_recording_holds_the_same_frames(vectors: Path) -> None:
    frames, _ = corpus(vectors)
    plain = b"".join(write_frames(frames))
    assert list(read_frames(io.BytesIO(plain))) == frames
    packed = zstandard.compress(plain)
    assert list(read_frames(io.BytesIO(packed))) == frames


def test_jetstream_corpus_any_flipped_byte_of_a_slice_is_noticed(vectors: Path) -> None:
    frames, keys = corpus(vectors)
    for number, frame in enumerate(frames):
        header, at = dag_cbor.decode_first(frame)
        body, _ = dag_cbor.decode_first(frame, at)
        assert isinstance(body, dict)
        blocks = body["blocks"]
        assert isinstance(blocks, bytes)
        position = (number * 7919) % len(blocks)
        flipped = bytearray(blocks)
        flipped[position] ^= 1 << number % 8
        body["blocks"] = bytes(flipped)
        verdict = StreamVerifier(keys.get).verify(dag_cbor.encode(header) + dag_cbor.encode(body))
        assert not verdict.good, f"frame {number}, byte {position}"


def data_model(value: Any) -> dag_cbor.Value:
    if isinstance(value, dict):
        if value.keys() == {"$link"}:
            return CID.parse(value["$link"])
        if value.keys() == {"$bytes"}:
            text = value["$bytes"]
            return base64.b64decode(text + "=" * (-len(text) % 4))
        return {key: data_model(item) for key, item in value.items()}
    if isinstance(value, list):
        return [data_model(item) for item in value]
    assert value is None or isinstance(value, bool | int | str)
    return value


@pytest.mark.parametrize(
    "name",
    ["account_lifecycle.json", "legacy.json", "post_lifecycle.json", "rev_ordering.json"],
)
def test_indigo_relay_scenarios(vectors: Path, name: str) -> None:
    path = vectors / INDIGO / "cmd/relay/testing/testdata" / name
    scenario = json.loads(path.read_text("utf-8"))
    keys = {}
    for account in scenario["accounts"]:
        identity = account["identity"]
        key = identity["keys"]["atproto"]
        keys[identity["did"]] = PublicKey.from_verification_method(
            key["type"], key["publicKeyMultibase"]
        )
    stream = StreamVerifier(keys.get, lenient=scenario["lenient"])
    for message in scenario["messages"]:
        frame = message["frame"]
        body = data_model(frame["body"])
        assert isinstance(body, dict)
        verdict = stream.verify(encode_frame(frame["header"]["t"], body))
        assert verdict.good is not message["drop"], verdict


@pytest.mark.parametrize("name", ["firehose_commit_4621317030", "firehose_commit_4623075231"])
def test_indigo_firehose_commits(vectors: Path, name: str) -> None:
    path = vectors / INDIGO / f"atproto/repo/testdata/{name}.json"
    body = data_model(json.loads(path.read_text("utf-8")))
    assert isinstance(body, dict)
    # Their keys are not known: all that comes before the signature has to pass.
    stranger = PublicKey.from_did_key("did:key:zQ3shWLyu8mc4GLnyzrxvWj9kJPijwGbjdrr3pZ8hacUYxawh")
    verdict = StreamVerifier(lambda did: stranger, lenient=True).verify(
        encode_frame("#commit", body)
    )
    assert verdict.code == "signature-mismatch"
