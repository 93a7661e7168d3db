"""A repository: records of one account by path, and the commits that sign them.

`Repo` is immutable. Writes return another repo and cost a path of the tree each; `commit` signs
what changed since the head, whatever the order and number of the writes, and puts commit, tree
nodes and records into the store in one step.

Source: AT Protocol, Repository; reference sections 5.4 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from smart_byte_atproto.crypto import PrivateKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import (
    InvalidRepo,
    InvalidTreeKey,
    MissingBlock,
    NotEncodable,
    WriteRefused,
)
from smart_byte_atproto.mst.diff import record_changes
from smart_byte_atproto.mst.invert import Action, Operation
from smart_byte_atproto.mst.proof import covering_nodes
from smart_byte_atproto.mst.tree import Tree
from smart_byte_atproto.stores.base import BlockStore

from .commit import SignedCommit, UnsignedCommit
from .path import check_path

MAX_RECORD_BYTES = 1_000_000

Record = dict[str, dag_cbor.Value]


@dataclass(frozen=True, slots=True)
class Committed:
    """What a commit made.

    Attributes:
        repo: The repository with the commit as its head.
        commit: The signed commit.
        since: TID of the commit before; None for the first.
        prev_data: Root of the tree before; None for the first commit.
        operations: Changes since the commit before, in the order of paths.
        blocks: The slice: commit, nodes that others need to undo the operations, then created and
            updated records. Commit first.
    """

    repo: Repo
    commit: SignedCommit
    since: str | None
    prev_data: CID | None
    operations: tuple[Operation, ...]
    blocks: dict[CID, bytes]


class Repo:
    """Records of one account.

    Attributes:
        did: Account.
        head: Last commit; None before the first.
        tree: Paths to CIDs of records, changes since the head included.
    """

    __slots__ = ("_blocks", "_staged", "did", "head", "tree")

    def __init__(
        self,
        did: str,
        blocks: BlockStore,
        *,
        head: SignedCommit | None,
        tree: Tree,
        staged: dict[CID, bytes],
    ) -> None:
        """Use `create` or `load`."""
        self.did = did
        self.head = head
        self.tree = tree
        self._blocks = blocks
        # Records written since the head, by content. Shared by all repos derived from one head:
        # what a repo does not refer to, it does not commit.
        self._staged = staged

    @classmethod
    def create(cls, did: str, blocks: BlockStore) -> Self:
        """Start an empty repository without a commit."""
        return cls(did, blocks, head=None, tree=Tree(), staged={})

    @classmethod
    def load(cls, blocks: BlockStore, *, root: CID | None = None) -> Self:
        """Open a repository at a commit.

        Args:
            blocks: Where its blocks are.
            root: CID of the commit; the store's root if not given.

        Raises:
            InvalidRepo: `root` (the store has none), or a malformed commit.
            MissingBlock: The commit or the root of its tree is not there.
        """
        root = root or blocks.root()
        if root is None:
            raise InvalidRepo("root", "the store holds no commit")
        block = blocks.get(root)
        if block is None:
            raise MissingBlock(root)
        head = SignedCommit.decode(block)
        return cls(head.did, blocks, head=head, tree=Tree.load(head.data, blocks), staged={})

    @property
    def blocks(self) -> BlockStore:
        """The block store."""
        return self._blocks

    def get_cid(self, path: str) -> CID | None:
        """Return the CID of the record at a path, None where there is none."""
        return self.tree.get(path.encode())

    def get_block(self, cid: CID) -> bytes:
        """Return the bytes of a record.

        Raises:
            MissingBlock: It is not there.
        """
        block = self._staged.get(cid) or self._blocks.get(cid)
        if block is None:
            raise MissingBlock(cid)
        return block

    def get(self, path: str) -> Record | None:
        """Return the record at a path, None where there is none.

        Raises:
            MissingBlock: Its block is not there.
            InvalidRepo: `record`: the block is not a map.
            InvalidData: The block is not strict DAG-CBOR.
        """
        cid = self.get_cid(path)
        if cid is None:
            return None
        value = dag_cbor.decode(self.get_block(cid))
        if not isinstance(value, dict):
            raise InvalidRepo("record", "record is not a map", at=path)
        return value

    def paths(self, *, collection: str | None = None) -> Iterator[str]:
        """Yield paths in order, of one collection or of all."""
        prefix = b"" if collection is None else collection.encode() + b"/"
        for key in self.tree.keys(prefix=prefix):
            yield key.decode("utf-8", "backslashreplace")

    def create_record(self, path: str, record: Mapping[str, dag_cbor.Value]) -> Self:
        """Return a repo with a record at a path that is free.

        Raises:
            WriteRefused: `path`, `exists`, or `record` (not encodable, or over 1,000,000 bytes).
        """
        if self.get_cid(_checked(path)) is not None:
            raise WriteRefused("exists", "there is a record already", path=path)
        return self._put(path, record)

    def update_record(self, path: str, record: Mapping[str, dag_cbor.Value]) -> Self:
        """Return a repo with another record at a path that is taken.

        Raises:
            WriteRefused: `path`, `absent`, or `record`.
        """
        if self.get_cid(_checked(path)) is None:
            raise WriteRefused("absent", "there is no record", path=path)
        return self._put(path, record)

    def delete_record(self, path: str) -> Self:
        """Return a repo without the record at a path.

        Raises:
            WriteRefused: `path` or `absent`.
        """
        removed = self.tree.remove(_checked(path).encode())
        if removed is None:
            raise WriteRefused("absent", "there is no record", path=path)
        return self._with(removed[0])

    def operations(self) -> tuple[Operation, ...]:
        """Return what changed since the head, in the order of paths."""
        before = Tree() if self.head is None else Tree.load(self.head.data, self._blocks)
        return tuple(
            Operation(_action(change.before, change.after), change.key, change.after, change.before)
            for change in record_changes(before, self.tree)
        )

    def commit(self, key: PrivateKey, *, rev: str, network: bool = True) -> Committed:
        """Sign the changes since the head and store them.

        Args:
            key: The account's signing key.
            rev: TID, after that of the head.
            network: Refuse what the network refuses; False allows Ed25519.

        Raises:
            WriteRefused: `rev` (not after the head's) or `key-type`.
            InvalidRepo: `did` or `rev`: malformed.
        """
        head = self.head
        if head is not None and head.rev is not None and rev <= head.rev:
            raise WriteRefused("rev", f"rev {rev} is not after {head.rev}")
        unsigned = UnsignedCommit(self.did, self.tree.root, rev)
        commit = unsigned.sign(key, network=network)
        operations = self.operations()
        block = commit.encode()
        cid = CID.of(block)
        slice_ = {cid: block, self.tree.root: self.tree.root_node.data}
        fresh = {CID(node.link): node.data for node in self.tree.fresh_nodes()}
        slice_ |= fresh
        touched = [op.key for op in operations]
        slice_ |= {
            CID(link): node.data for link, node in covering_nodes(self.tree, touched).items()
        }
        records = {op.cid: self.get_block(op.cid) for op in operations if op.cid is not None}
        slice_ |= records
        self._blocks.put_many([(cid, block), *fresh.items(), *records.items()], root=cid)
        repo = type(self)(
            self.did,
            self._blocks,
            head=commit,
            tree=Tree.load(commit.data, self._blocks),
            staged={},
        )
        return Committed(
            repo=repo,
            commit=commit,
            since=None if head is None else head.rev,
            prev_data=None if head is None else head.data,
            operations=operations,
            blocks=slice_,
        )

    def _put(self, path: str, record: Mapping[str, dag_cbor.Value]) -> Self:
        try:
            block = dag_cbor.encode(dict(record))
        except NotEncodable as error:
            raise WriteRefused("record", error.reason, path=path) from error
        if len(block) > MAX_RECORD_BYTES:
            raise WriteRefused(
                "record", f"{len(block)} bytes; at most {MAX_RECORD_BYTES}", path=path
            )
        cid = CID.of(block)
        self._staged[cid] = block
        return self._with(self.tree.put(path.encode(), cid))

    def _with(self, tree: Tree) -> Self:
        return type(self)(self.did, self._blocks, head=self.head, tree=tree, staged=self._staged)

    def __repr__(self) -> str:
        rev = None if self.head is None else self.head.rev
        return f"Repo({self.did}, head {rev}, tree {self.tree.root})"


def _action(before: CID | None, after: CID | None) -> Action:
    if before is None:
        return Action.CREATE
    return Action.DELETE if after is None else Action.UPDATE


def _checked(path: str) -> str:
    try:
        check_path(path.encode("utf-8", "backslashreplace"))
    except InvalidTreeKey as error:
        raise WriteRefused("path", error.reason, path=path) from error
    return path
