"""One record and the proof that it is in an account's repository, as `sync.getRecord` answers.

The CAR holds the commit, the nodes on the way to the record, and the record. Nothing of the host
that serves it is trusted.

Source: reference sections 5.8 and 13; atproto lexicon `com.atproto.sync.getRecord`.
"""

from __future__ import annotations

from dataclasses import dataclass

from smart_byte_atproto.car import CAR
from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import InvalidData, InvalidRepo, MissingBlock
from smart_byte_atproto.mst.proof import look_up

from .commit import SignedCommit
from .path import check_path


@dataclass(frozen=True, slots=True)
class ProvenRecord:
    """What a proof shows.

    Attributes:
        did: Account.
        rev: Revision of the repository that it is from; None in very old ones.
        commit: CID of the signed commit.
        cid: CID of the record; None if the proof shows that there is none.
        value: The record; None likewise.
    """

    did: str
    rev: str | None
    commit: CID
    cid: CID | None
    value: dict[str, Value] | None


def verify_record(
    proof: CAR, *, key: PublicKey, did: str, collection: str, record_key: str
) -> ProvenRecord:
    """Check a proof and return the record, or that there is none.

    Args:
        proof: The answer, as `car.load` returns it: every hash is checked.
        key: Signing key of the account.
        did: The account.
        collection: NSID.
        record_key: Key of the record in it.

    Raises:
        InvalidRepo: No commit, or that of another account.
        BadSignature: The commit is not signed by that key.
        ProofFailed: The nodes do not lead to the record or to where it would be.
        MissingBlock: The record itself is not there.
        InvalidData: The record is no map.
    """
    if not proof.roots:
        raise InvalidRepo("root", "the proof names no commit")
    blocks = dict(proof.blocks)
    root = proof.roots[0]
    block = blocks.get(root)
    if block is None:
        raise MissingBlock(root)
    commit = SignedCommit.decode(block)
    if commit.did != did:
        raise InvalidRepo("did", f"proof from {commit.did}, not from {did}")
    commit.verify(key)
    path = check_path(f"{collection}/{record_key}".encode())
    cid = look_up(commit.data, path, blocks)
    if cid is None:
        return ProvenRecord(did, commit.rev, root, None, None)
    record = blocks.get(cid)
    if record is None:
        raise MissingBlock(cid)
    value = dag_cbor.decode(record)
    if not isinstance(value, dict):
        raise InvalidData("record is not a map", at=f"{collection}/{record_key}")
    return ProvenRecord(did, commit.rev, root, cid, value)
