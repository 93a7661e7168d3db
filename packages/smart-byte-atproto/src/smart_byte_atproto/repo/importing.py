"""Taking over what somebody else exported: whole repositories, and slices on top of one.

Nothing is stored before all of it is verified, and then in one step with the root.

Source: reference sections 6.3 and 6.4.
"""

from __future__ import annotations

from smart_byte_atproto.car import CAR
from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID, Codec
from smart_byte_atproto.errors import InvalidRepo, MissingBlock
from smart_byte_atproto.mst.diff import record_changes
from smart_byte_atproto.mst.tree import Tree
from smart_byte_atproto.stores.base import BlockStore
from smart_byte_atproto.stores.memory import MemoryStore
from smart_byte_atproto.stores.overlay import OverlayStore

from .commit import VERSION, SignedCommit
from .repo import Repo
from .verify import check_repo_path, verify_repo


def import_repo(
    whole: CAR, store: BlockStore, *, key: PublicKey, did: str | None = None, network: bool = True
) -> Repo:
    """Verify a whole repository and keep it in a store.

    Args:
        whole: The export, as `car.load` returns it.
        store: Where it goes; its root becomes the commit.
        key: Signing key of the account.
        did: Account that it has to be of, where known.
        network: Refuse what the network refuses; False allows Ed25519.

    Raises:
        InvalidRepo, BadSignature, InvalidTree, HashMismatch, MissingBlock: As `verify_repo`.
    """
    if not whole.roots:
        raise InvalidRepo("root", "the CAR names no root")
    root = whole.roots[0]
    verify_repo(root, MemoryStore(whole.blocks), key=key, did=did, network=network)
    store.put_many(whole.blocks, root=root)
    return Repo.load(store)


def apply_slice(repo: Repo, changes: CAR, *, key: PublicKey, network: bool = True) -> Repo:
    """Verify a slice (a CAR with what is fresh since the head) and move a repository to its commit.

    Only nodes that differ are opened; they and the changed records have to be in the slice or in
    the store already.

    Args:
        repo: The repository before, with nothing staged.
        changes: The slice, as `car.load` returns it.
        key: Signing key of the account.
        network: Refuse what the network refuses; False allows Ed25519.

    Raises:
        InvalidRepo: `root`, `version`, `did` (another account), `rev` (not after the head),
            `path`, `record`, or a malformed commit.
        BadSignature, InvalidTree, MissingBlock: The slice does not hold what it should.
    """
    if not changes.roots:
        raise InvalidRepo("root", "the slice names no root")
    root = changes.roots[0]
    both = OverlayStore(repo.blocks)
    both.put_many(changes.blocks)
    commit = _next_commit(repo, root, both)
    commit.verify(key, network=network)
    for change in record_changes(repo.tree, Tree.load(commit.data, both)):
        path = change.key.decode("utf-8", "backslashreplace")
        if change.after is None:
            continue
        check_repo_path(change.key)
        if change.after.codec != Codec.DAG_CBOR:
            raise InvalidRepo("record", "the link to a record is not one to DAG-CBOR", at=path)
        record = both.get(change.after)
        if record is None:
            raise MissingBlock(change.after, at=path)
        if not isinstance(dag_cbor.decode(record), dict):
            raise InvalidRepo("record", "record is not a map", at=path)
    repo.blocks.put_many(both, root=root)
    return Repo.load(repo.blocks)


def _next_commit(repo: Repo, root: CID, both: BlockStore) -> SignedCommit:
    """Return the commit of a slice that may follow the head, its signature unchecked."""
    block = both.get(root)
    if block is None:
        raise MissingBlock(root)
    commit = SignedCommit.decode(block)
    if root.codec != Codec.DAG_CBOR:
        raise InvalidRepo("root", "the link to the commit is not one to DAG-CBOR")
    if commit.version != VERSION:
        raise InvalidRepo("version", f"version {commit.version} is read and never built upon")
    if commit.did != repo.did:
        raise InvalidRepo("did", f"slice of {commit.did}, not of {repo.did}")
    last = None if repo.head is None else repo.head.rev
    if commit.rev is None or (last is not None and commit.rev <= last):
        raise InvalidRepo("rev", f"rev {commit.rev} is not after {last}")
    return commit
