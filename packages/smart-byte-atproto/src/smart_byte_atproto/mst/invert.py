"""Undoing the operations of a commit on a partial tree.

A commit's slice holds the nodes of the new tree that the operations touched; undoing the
operations must lead to the root before the commit, and needs no other node of the repository.

Source: AT Protocol, Sync, Commit validation by operation inversion; reference section 9 item 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InversionFailed, MissingBlock

from .build import check_key
from .tree import Tree


class Action(StrEnum):
    """What an operation does to its key."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Operation:
    """One change of a commit.

    Attributes:
        action: Create, update or delete.
        key: Key in the tree.
        cid: Value after; None for a delete.
        prev: Value before; None for a create.
    """

    action: Action
    key: bytes
    cid: CID | None
    prev: CID | None


def invert(tree: Tree, operations: Sequence[Operation]) -> Tree:
    """Undo operations on the tree after them, which may hold only the nodes that they touched.

    They are undone in the reverse of the listed order, for which minimal slices are made; where
    a needed node is missing, once more with deletes first and then by path.

    Args:
        tree: The tree after the operations; its source opens the nodes of the slice.
        operations: As listed in the commit.

    Returns:
        The tree before the operations; compare its root with the commit's `prevData`.

    Raises:
        InversionFailed: `shape` (wrong fields for the action), `duplicate` (a path twice),
            `absent` (a created or updated key is not in the tree), `present` (a deleted key is),
            `value` (the tree holds another value), `incomplete` (a needed node is missing).
        InvalidTree: A node of the slice is malformed.
    """
    check_operations(operations)
    try:
        return _undo(tree, reversed(operations))
    except MissingBlock as first:
        ordered = sorted(operations, key=lambda op: (op.action is not Action.DELETE, op.key))
        try:
            return _undo(tree, ordered)
        except MissingBlock:
            raise InversionFailed(
                "incomplete", f"the slice lacks node {first.cid}, which is needed"
            ) from first


def check_operations(operations: Sequence[Operation], *, need_prev: bool = True) -> None:
    """Check each operation's fields, and that no key occurs twice.

    Args:
        operations: As listed in the commit.
        need_prev: False also accepts updates and deletes without `prev`.

    Raises:
        InversionFailed: `shape` or `duplicate`.
    """
    seen: set[bytes] = set()
    for op in operations:
        cid, prev = _FIELDS[op.action]
        has_prev = op.prev is not None
        if (op.cid is not None) != cid or has_prev > prev or (need_prev and has_prev < prev):
            raise InversionFailed("shape", f"{op.action} with wrong cid or prev", key=op.key)
        if op.key in seen:
            raise InversionFailed("duplicate", "two operations on one path", key=op.key)
        seen.add(check_key(op.key))


_FIELDS = {
    Action.CREATE: (True, False),
    Action.UPDATE: (True, True),
    Action.DELETE: (False, True),
}


def _undo(tree: Tree, operations: Iterable[Operation]) -> Tree:
    for op in operations:
        tree = _undo_one(tree, op)
    return tree


def _undo_one(tree: Tree, op: Operation) -> Tree:
    if op.action is Action.CREATE:
        removed = tree.remove(op.key)
        if removed is None:
            raise InversionFailed("absent", "the created key is not in the tree", key=op.key)
        tree, value = removed
        if value != op.cid:
            raise InversionFailed("value", "the tree holds another value", key=op.key)
        return tree
    assert op.prev is not None  # noqa: S101 - check_operations saw to it
    value_now = tree.get(op.key)
    if op.action is Action.DELETE:
        if value_now is not None:
            raise InversionFailed("present", "the deleted key is in the tree", key=op.key)
        return tree.put(op.key, op.prev)
    if value_now is None:
        raise InversionFailed("absent", "the updated key is not in the tree", key=op.key)
    if value_now != op.cid:
        raise InversionFailed("value", "the tree holds another value", key=op.key)
    return tree.put(op.key, op.prev)
