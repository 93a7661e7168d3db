"""Frames of the event stream fully verified per second, on one core.

Fully: frame and schema, every block hash, commit object, signature, paths, records present, and
the operations undone to prevData. The recorded frames of the jetstream corpus are used where
they lie beside the checkout (`../shared` or VECTORS_DIR), else frames made here.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from smart_byte_atproto.crypto import KeyType, PrivateKey, PublicKey
from smart_byte_atproto.crypto.k256 import ENGINE
from smart_byte_atproto.firehose.encode import commit_body, encode_frame
from smart_byte_atproto.firehose.events import CommitEvent, parse_event
from smart_byte_atproto.firehose.frame import decode_frame
from smart_byte_atproto.firehose.recording import read_frames
from smart_byte_atproto.firehose.verdict import StreamVerifier
from smart_byte_atproto.firehose.verify import verify_commit
from smart_byte_atproto.identity.signing_key import signing_key
from smart_byte_atproto.repo import Repo
from smart_byte_atproto.stores.memory import MemoryStore
from smart_byte_atproto.syntax.tid import TID

DID = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
POST = "app.bsky.feed.post"
ROUNDS = 20
PER_FRAME = "full verification of a frame"
LIMITS = {PER_FRAME: 200.0}  # 5,000 a second


def corpus() -> tuple[str, list[bytes], dict[str, PublicKey]] | None:
    beside = Path(__file__).resolve().parents[4] / "shared/vectors/atproto"
    folder = Path(os.environ.get("VECTORS_DIR", beside)) / "jetstream-corpus"
    recording = folder / "frames-000-099.bin.zst"
    if not recording.is_file():
        return None
    documents = json.loads((folder / "did_docs-000-099.json").read_bytes())
    with recording.open("rb") as file:
        frames = list(read_frames(file))
    keys = {did: signing_key(doc, did=did) for did, doc in documents.items()}
    return "recorded frames", frames, keys


def made_here() -> tuple[str, list[bytes], dict[str, PublicKey]]:
    """100 commits of one post each to a repository of 20,000."""
    key = PrivateKey(KeyType.K256, bytes(range(1, 33)))
    repo = Repo.create(DID, MemoryStore())
    for n in range(20_000):
        repo = repo.create_record(f"{POST}/{TID.at(n * 7919)}", {"$type": POST, "text": "hello"})
    repo = repo.commit(key, rev=TID.at(1)).repo
    frames = []
    for n in range(100):
        record = {"$type": POST, "text": f"a post of ordinary length, number {n}"}
        repo = repo.create_record(f"{POST}/{TID.at(10**12 + n)}", dict(record))
        commit = repo.commit(key, rev=TID.at(n + 2))
        repo = commit.repo
        body = commit_body(commit, seq=n + 1, time="2026-01-01T00:00:00.000Z")
        frames.append(encode_frame("#commit", body))
    return "frames made here", frames, {DID: key.public_key}


def per_second(frames: list[bytes], work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return len(frames) / best


def measure() -> Iterator[tuple[str, str, float, str]]:
    """Yield case, library, value and unit; higher is better."""
    name, frames, keys = corpus() or made_here()

    def events() -> None:
        for frame in frames:
            event = parse_event(decode_frame(frame))
            assert isinstance(event, CommitEvent)
            assert verify_commit(event, key=keys[event.repo]).inverted

    def verdicts() -> None:
        stream = StreamVerifier(keys.get)
        assert all(stream.verify(frame).good for frame in frames)

    rate = per_second(frames, events)
    case = f"{name} fully verified on one core"
    yield case, f"smart-byte on {ENGINE.name}", rate, "/s"
    yield case, "with a verdict for each", per_second(frames, verdicts), "/s"
    yield PER_FRAME, f"smart-byte on {ENGINE.name}", 1e6 / rate, "us"


if __name__ == "__main__":
    for case, who, value, unit in measure():
        print(f"{case:44} {who:26} {value:8.0f} {unit}")
