"""Verification of the event stream, frame by frame (sync 1.1).

Checks of a `#commit`, with the codes of their failures:

1. frame and schema: `size`, `frame`, `schema`, `did`, `rev`, `time`, `seq`, `limits`, `too-big`;
2. slice: `car`, `hash`, `root` (first root, `commit` field and commit block are one CID);
3. commit object: `commit`, `version`, `commit-did`, `commit-rev`;
4. order: `stale` (rev not after the last one), `future`;
5. account: `inactive`;
6. signature: `key-missing`, `key-type`, `signature-*` (such as `signature-high-s`);
7. operations: `op-*`, `record-missing`, `limits`;
8. inversion: `op-*` (such as `op-incomplete`), `tree-*`, `prev-data-missing`, `prev-data`;
9. chain: a genuine commit that does not continue from the last one is no failure, but something
   before it was missed: the account is desynchronized and its repository has to be fetched.

Strict consumers demand prevData and the prev of every operation; lenient ones do steps 1 to 7
where old producers left them out. Nothing here reads a clock or looks up a key: both are given.

Source: AT Protocol, Sync, Firehose Validation; reference section 9.
"""

from __future__ import annotations

from dataclasses import dataclass

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import (
    BadSignature,
    InvalidFrame,
    InvalidRepo,
    InvalidTree,
    InvalidTreeKey,
    InversionFailed,
    MissingBlock,
)
from smart_byte_atproto.mst.invert import Action, check_operations, invert
from smart_byte_atproto.mst.node import EMPTY
from smart_byte_atproto.mst.source import SliceNodes
from smart_byte_atproto.mst.tree import Tree
from smart_byte_atproto.repo.commit import VERSION, SignedCommit
from smart_byte_atproto.repo.path import check_path

from .events import CommitEvent, SyncEvent
from .slice import Slice, read_slice

MAX_RECORD_BYTES = 1_000_000
EMPTY_TREE = CID(EMPTY.link)


@dataclass(frozen=True, slots=True)
class AccountState:
    """What is kept of an account between two events.

    Attributes:
        rev: TID of the last commit.
        data: Root of its tree.
        active: Whether the account is active.
        synchronized: Whether the commits since the last known one are all here; once one was
            missed it stays False until the repository has been fetched, or a `#sync` tells all.
    """

    rev: str | None = None
    data: CID | None = None
    active: bool = True
    synchronized: bool = True


@dataclass(frozen=True, slots=True)
class VerifiedCommit:
    """A `#commit` that passed.

    Attributes:
        commit: The commit object.
        inverted: Whether the operations were undone to prevData; False only when lenient.
        continues: Whether since and prevData are those of the last commit, where that is known,
            and nothing before it was missed.
        state: What to keep for the next event of the account.
    """

    commit: SignedCommit
    inverted: bool
    continues: bool
    state: AccountState


def verify_commit(
    event: CommitEvent,
    *,
    key: PublicKey,
    state: AccountState | None = None,
    latest_rev: str | None = None,
    lenient: bool = False,
) -> VerifiedCommit:
    """Verify a `#commit` completely.

    Args:
        event: As parsed; its schema holds.
        key: Signing key of the account. On a signature failure the caller refreshes the identity
            once and tries again.
        state: What is known of the account; None for an account not seen before.
        latest_rev: TID of a few minutes from the present; later revs are refused.
        lenient: Accept commits without prevData or prev, uninverted.

    Raises:
        InvalidFrame: With the code of the failed check; see the module.
    """
    state = state or AccountState()
    if event.too_big:
        raise InvalidFrame("too-big", "the commit came without its blocks")
    slice_ = read_slice(event.blocks)
    commit = _commit_of(slice_, event.commit, event.repo, event.rev)
    _check_order(event, state, latest_rev)
    check_signature(commit, key)
    # The first commit of an account has no prevData: its tree was empty before.
    before = event.prev_data
    if before is None and event.since is None and not lenient:
        before = EMPTY_TREE
    complete = before is not None and all(
        op.prev is not None or op.action is Action.CREATE for op in event.operations
    )
    if not complete and not lenient:
        raise InvalidFrame("prev-data-missing", "prevData or the prev of an operation is absent")
    _check_records(event, slice_)
    tree_root = _check_tree(event, slice_, commit, invertible=complete)
    if complete and tree_root != before:
        raise InvalidFrame("prev-data", "undoing the operations leads to another root")
    continues = state.synchronized and (
        state.rev is None or (event.since == state.rev and event.prev_data in {None, state.data})
    )
    after = AccountState(event.rev, commit.data, state.active, continues)
    return VerifiedCommit(commit, complete, continues, after)


def verify_sync(
    event: SyncEvent,
    *,
    key: PublicKey,
    state: AccountState | None = None,
    latest_rev: str | None = None,
) -> VerifiedCommit:
    """Verify a `#sync`: its commit object, its place after what is known, and its signature.

    Args:
        event: The event.
        key: The account's signing key.
        state: What is known of the account.
        latest_rev: The highest rev that is not in the future, None not to check.

    Raises:
        InvalidFrame: With the code of the failed check; see the module.
    """
    slice_ = read_slice(event.blocks)
    commit = _commit_of(slice_, CID(slice_.root), event.did, event.rev)
    _check_sync_order(event, commit, state or AccountState(), latest_rev)
    check_signature(commit, key)
    after = AccountState(event.rev, commit.data, True)
    return VerifiedCommit(commit, False, False, after)


def _commit_of(slice_: Slice, cid: CID, did: str, rev: str) -> SignedCommit:
    block = slice_.blocks.get(slice_.root)
    if slice_.root != cid.raw or block is None:
        raise InvalidFrame("root", "the slice does not start at the commit that the event names")
    if cid.codec != Codec.DAG_CBOR:
        raise InvalidFrame("root", "the link to the commit is not one to DAG-CBOR")
    try:
        commit = SignedCommit.decode(block)
    except InvalidRepo as error:
        code = "version" if error.code == "version" else "commit"
        raise InvalidFrame(code, error.reason) from error
    if commit.version != VERSION:
        raise InvalidFrame("version", f"version {commit.version} in a stream")
    if commit.did != did:
        raise InvalidFrame("commit-did", f"commit of {commit.did} in an event of {did}")
    if commit.rev != rev:
        raise InvalidFrame("commit-rev", f"commit of rev {commit.rev} in an event of rev {rev}")
    return commit


def _check_order(event: CommitEvent, state: AccountState, latest_rev: str | None) -> None:
    if not state.active:
        raise InvalidFrame("inactive", "the account is not active")
    if state.rev is not None and event.rev <= state.rev:
        raise InvalidFrame("stale", f"rev {event.rev} is not after {state.rev}")
    if latest_rev is not None and event.rev > latest_rev:
        raise InvalidFrame("future", f"rev {event.rev} is in the future")


def _check_sync_order(
    event: SyncEvent, commit: SignedCommit, state: AccountState, latest_rev: str | None
) -> None:
    """A `#sync` may repeat what is known, and never go back behind it."""
    if not state.active:
        raise InvalidFrame("inactive", "the account is not active")
    if state.rev is not None:
        if event.rev < state.rev:
            raise InvalidFrame("stale", f"rev {event.rev} is before {state.rev}")
        if event.rev == state.rev and state.data not in (None, commit.data):
            raise InvalidFrame("stale", f"another tree at the known rev {event.rev}")
    if latest_rev is not None and event.rev > latest_rev:
        raise InvalidFrame("future", f"rev {event.rev} is in the future")


def check_signature(commit: SignedCommit, key: PublicKey) -> None:
    """Check the signature of a commit from the network.

    Raises:
        InvalidFrame: `key-type` or `signature-*`.
    """
    try:
        commit.verify(key)
    except BadSignature as error:
        raise InvalidFrame(f"signature-{error.code}", error.reason) from error
    except InvalidRepo as error:
        raise InvalidFrame("key-type", error.reason) from error


def _check_records(event: CommitEvent, slice_: Slice) -> None:
    """Step 7, what needs no tree: paths, and the block of every record that is left."""
    for op in event.operations:
        try:
            check_path(op.key)
        except InvalidTreeKey as error:
            raise InvalidFrame("op-path", error.reason) from error
        if op.action is Action.DELETE:
            continue
        if op.cid is not None and op.cid.codec != Codec.DAG_CBOR:
            raise InvalidFrame("op-shape", "the link to a record is not one to DAG-CBOR")
        block = None if op.cid is None else slice_.blocks.get(op.cid.raw)
        if block is None:
            raise InvalidFrame("record-missing", "the slice lacks a record", at=op.key.decode())
        if len(block) > MAX_RECORD_BYTES:
            raise InvalidFrame("limits", f"record of {len(block)} bytes", at=op.key.decode())


def _check_tree(
    event: CommitEvent, slice_: Slice, commit: SignedCommit, *, invertible: bool
) -> CID | None:
    """Steps 7 and 8: the operations stand in the tree; undo them and return the root before."""
    source = SliceNodes(slice_.blocks)
    try:
        tree = Tree.open(commit.data.raw, source)
        if invertible:
            return invert(tree, event.operations).root
        check_operations(event.operations, need_prev=False)
        for op in event.operations:
            if tree.get(op.key) != op.cid:
                raise InvalidFrame("op-value", "the tree holds another value", at=op.key.decode())
    except InversionFailed as error:
        raise InvalidFrame(f"op-{error.code}", error.reason) from error
    except InvalidTree as error:
        raise InvalidFrame(f"tree-{error.code}", error.reason) from error
    except MissingBlock as error:
        raise InvalidFrame("op-incomplete", error.reason) from error
    return None
