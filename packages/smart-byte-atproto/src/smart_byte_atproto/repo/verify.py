"""Verification of a whole repository that somebody else exported.

Each failure has a type and code of its own: InvalidRepo (`root`, `commit`, `version`, `did`,
`rev`, `key-type`, `path`, `record`, `record-size`), BadSignature, InvalidTree (a code for each
rule of the tree), HashMismatch, MissingBlock, InvalidDocument. What is only doubtful is a
warning in the report.

Source: AT Protocol, Repository, Import; reference section 6.3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import (
    HashMismatch,
    InvalidData,
    InvalidRepo,
    InvalidTreeKey,
    MissingBlock,
)
from smart_byte_atproto.mst.source import Blocks
from smart_byte_atproto.mst.validate import validate

from .commit import SignedCommit
from .path import check_path, collection_of
from .repo import MAX_RECORD_BYTES

MAX_WARNINGS = 100


@dataclass(frozen=True, slots=True)
class RepoReport:
    """A repository that passed.

    Attributes:
        did: Account.
        rev: TID of the commit; None in very old ones.
        version: Version of the commit, 2 or 3.
        commit: CID of the commit.
        data: Root of the tree.
        nodes: Number of nodes of the tree.
        records: Number of records.
        warnings: Doubtful records: `$type` is not the collection. At most 100 are listed.
        warning_count: Number of doubtful records.
    """

    did: str
    rev: str | None
    version: int
    commit: CID
    data: CID
    nodes: int
    records: int
    warnings: tuple[str, ...]
    warning_count: int


def verify_repo(
    root: CID,
    blocks: Blocks,
    *,
    key: PublicKey,
    did: str | None = None,
    network: bool = True,
    latest_rev: str | None = None,
    max_record_bytes: int = MAX_RECORD_BYTES,
    on_record: Callable[[], object] | None = None,
) -> RepoReport:
    """Check commit, signature, tree and every record of a repository.

    Args:
        root: CID of the commit, first root of the export.
        blocks: Its blocks; every hash is checked here.
        key: Signing key of the account.
        did: Account that it has to be of, where known.
        network: Refuse what the network refuses; False allows Ed25519.
        latest_rev: TID of a few minutes from the present; later revs are refused.
        max_record_bytes: Longest record allowed.
        on_record: Called after each record, for progress.

    Raises:
        InvalidRepo, BadSignature, InvalidTree, HashMismatch, MissingBlock: See the module.
    """
    block = blocks.get(root)
    if block is None:
        raise MissingBlock(root)
    if not root.is_strict or root.codec != Codec.DAG_CBOR:
        raise InvalidRepo("root", "the root is not a dag-cbor CID")
    if not root.verify(block):
        raise HashMismatch(root)
    commit = SignedCommit.decode(block)
    if did is not None and commit.did != did:
        raise InvalidRepo("did", f"repository of {commit.did}, not of {did}")
    if latest_rev is not None and commit.rev is not None and commit.rev > latest_rev:
        raise InvalidRepo("rev", f"rev {commit.rev} is in the future")
    commit.verify(key, network=network)
    records = _Records(blocks, max_record_bytes, on_record)
    tree = validate(commit.data, blocks, check_key=check_repo_path, on_entry=records.check)
    return RepoReport(
        did=commit.did,
        rev=commit.rev,
        version=commit.version,
        commit=root,
        data=commit.data,
        nodes=tree.nodes,
        records=tree.entries,
        warnings=tuple(records.warnings),
        warning_count=records.warning_count,
    )


def check_repo_path(key: bytes) -> None:
    """Check a key of a repository's tree.

    Raises:
        InvalidRepo: `path`.
    """
    try:
        check_path(key)
    except InvalidTreeKey as error:
        raise InvalidRepo("path", error.reason) from error


class _Records:
    def __init__(
        self, blocks: Blocks, max_bytes: int, on_record: Callable[[], object] | None
    ) -> None:
        self._blocks = blocks
        self._max_bytes = max_bytes
        self._on_record = on_record
        self.warnings: list[str] = []
        self.warning_count = 0

    def check(self, key: bytes, cid: CID) -> None:
        path = key.decode("ascii")
        block = self._blocks.get(cid)
        if block is None:
            raise MissingBlock(cid, at=path)
        if len(block) > self._max_bytes:
            raise InvalidRepo(
                "record-size", f"{len(block)} bytes; at most {self._max_bytes}", at=path
            )
        if cid.codec != Codec.DAG_CBOR:
            raise InvalidRepo("record", "record with a CID that is not dag-cbor", at=path)
        if not cid.verify(block):
            raise HashMismatch(cid, at=path)
        try:
            value = dag_cbor.decode(block)
        except InvalidData as error:
            raise InvalidRepo("record", f"not strict DAG-CBOR: {error}", at=path) from error
        if not isinstance(value, dict):
            raise InvalidRepo("record", "record is not a map", at=path)
        kind = value.get("$type")
        if kind != collection_of(key):
            self.warning_count += 1
            if len(self.warnings) < MAX_WARNINGS:
                self.warnings.append(f"{path}: $type is {kind!r:.80}")
        if self._on_record is not None:
            self._on_record()
