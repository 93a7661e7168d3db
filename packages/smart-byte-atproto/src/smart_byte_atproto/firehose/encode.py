"""Frames that a host sends.

Source: Lexicon com.atproto.sync.subscribeRepos; reference section 8.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.mst.invert import Action
from smart_byte_atproto.repo.repo import Committed

from .frame import MESSAGE
from .slice import write_slice


def encode_frame(kind: str, body: Mapping[str, dag_cbor.Value]) -> bytes:
    """Encode a message of a type such as `#identity`."""
    return dag_cbor.encode({"op": MESSAGE, "t": kind}) + dag_cbor.encode(dict(body))


def commit_body(made: Committed, *, seq: int, time: str) -> dict[str, dag_cbor.Value]:
    """Return the payload of the `#commit` that announces a commit.

    Args:
        made: What `Repo.commit` returned.
        seq: Position in the stream, from 1.
        time: Datetime as text, such as `2026-01-01T00:00:00.000Z`.
    """
    cid = made.commit.cid
    ops: list[dag_cbor.Value] = []
    for op in made.operations:
        entry: dict[str, dag_cbor.Value] = {
            "action": str(op.action),
            "path": op.key.decode("ascii"),
            "cid": op.cid,
        }
        if op.action is not Action.CREATE:
            entry["prev"] = op.prev
        ops.append(entry)
    body: dict[str, dag_cbor.Value] = {
        "seq": seq,
        "repo": str(made.commit.did),
        "time": time,
        "rev": str(made.commit.rev),
        "since": None if made.since is None else str(made.since),
        "commit": cid,
        "blocks": write_slice(cid, made.blocks),
        "ops": ops,
        "blobs": [],
        "rebase": False,
        "tooBig": False,
    }
    if made.prev_data is not None:
        body["prevData"] = made.prev_data
    return body
