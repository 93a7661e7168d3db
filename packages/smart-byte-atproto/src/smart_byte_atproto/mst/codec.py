"""Strict decoding of one node.

Between the bytes of two keys a node has a fixed form, which one regular expression matches for
each entry; anything else goes to a second, slow look that names the rule which the bytes break.
Both accept exactly the same bytes: those that `Node.data` writes for a node with a longest
prefix in every entry.

Source: reference sections 2.2, 5.2 and 5.7.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TypeAlias

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import ATProtoError, InvalidTree

from .node import (
    CID_BYTES,
    DAG_CBOR_PREFIX,
    KEY_HEADS,
    LINK_HEAD,
    MAX_KEY_BYTES,
    PREFIX_FIELDS,
    RAW_PREFIX,
    Node,
    RawCID,
    common_prefix,
    list_head,
)

# Keys can be mined to share a layer; a node of a million honest keys has fewer than 100 entries.
MAX_ENTRIES = 4096

_LINK = re.escape(LINK_HEAD)
_NODE_LINK = _LINK + rb"(\x01\x71\x12\x20.{32})"
_KEY_HEAD = rb"\xa4\x61k(?:[\x40-\x57]|\x58[\x18-\xff]|\x59[\x01-\xff].)"
_START = re.compile(
    rb"\xa2\x61e([\x81-\x97]|\x98[\x18-\xff]|\x99[\x01-\xff].)(" + _KEY_HEAD + rb")", re.DOTALL
).match
# What follows the bytes of a key: p, t, v, and then either the next key's head or l.
_FIELDS = re.compile(
    rb"(\x61p(?:[\x00-\x17]|\x18[\x18-\xff]|\x19[\x01-\xff].))"
    rb"\x61t(?:\xf6|" + _NODE_LINK + rb")"
    rb"\x61v" + _LINK + rb"(\x01[\x71\x55]\x12\x20.{32})"
    rb"(?:(" + _KEY_HEAD + rb")|\x61l(?:\xf6|" + _NODE_LINK + rb")\Z)",
    re.DOTALL,
).match
_WITHOUT_ENTRIES = re.compile(rb"\xa2\x61e\x80\x61l(?:\xf6|" + _NODE_LINK + rb")", re.DOTALL)
_KEY_SIZES = {head: size for size, head in enumerate(KEY_HEADS)}
_PREFIX_SIZES = {head: size for size, head in enumerate(PREFIX_FIELDS)}
_PREFIXES = (DAG_CBOR_PREFIX, RAW_PREFIX)
_PREFIX_BYTES = len(DAG_CBOR_PREFIX)


_Parts: TypeAlias = tuple[tuple[bytes, ...], tuple[RawCID, ...], tuple[RawCID | None, ...]]


class _Malformed(Exception):
    pass


def decode_node(data: bytes, *, link: RawCID | None = None, max_entries: int = MAX_ENTRIES) -> Node:
    """Decode the bytes of one node.

    Checks everything that can be seen in the node alone: canonical DAG-CBOR, the exact fields,
    keys strictly increasing, longest prefixes, links in the blessed form, the limits. Layers and
    bounds need the tree around it, see `validate`.

    Args:
        data: The block.
        link: Its CID where that is known to match; computed otherwise.
        max_entries: Most entries allowed.

    Raises:
        InvalidTree: With the code of the broken rule.
    """
    if link is None:
        link = DAG_CBOR_PREFIX + sha256(data).digest()
    try:
        keys, values, trees = _decode(data, max_entries)
    except (_Malformed, KeyError, IndexError):
        raise explain(data, max_entries=max_entries) from None
    return Node(keys, values, trees, data, link)


def _decode(data: bytes, max_entries: int) -> _Parts:
    start = _START(data)
    if start is None:
        left = _WITHOUT_ENTRIES.fullmatch(data)
        if left is None:
            raise _Malformed
        return (), (), (left[1],)
    count, head = start.groups()
    at = start.end()
    keys: list[bytes] = []
    values: list[RawCID] = []
    trees: list[RawCID | None] = [None]
    previous = b""
    left_tree: RawCID | None = None
    while head is not None:
        size = _KEY_SIZES[head]
        end = at + size
        fields = _FIELDS(data, end)
        if fields is None:
            raise _Malformed
        prefix, tree, value, head, left_tree = fields.groups()
        shared = _PREFIX_SIZES[prefix]
        key = previous[:shared] + data[at:end]
        # Longest prefix: no byte of the previous key goes on where the suffix starts.
        if (
            key <= previous
            or len(key) != shared + size
            or (shared < len(previous) and previous[shared] == data[at])
        ):
            raise _Malformed
        at = fields.end()
        keys.append(key)
        values.append(value)
        trees.append(tree)
        previous = key
    if (
        list_head(len(keys)) != count
        or len(keys) > max_entries
        or max(map(len, keys)) > MAX_KEY_BYTES
    ):
        raise _Malformed
    trees[0] = left_tree
    return tuple(keys), tuple(values), tuple(trees)


def explain(data: bytes, *, max_entries: int = MAX_ENTRIES) -> InvalidTree:
    """Name the first rule that the bytes of a node break, by decoding them as general DAG-CBOR."""
    try:
        value = dag_cbor.decode(data)
    except ATProtoError as error:
        return InvalidTree("cbor", f"node is not strict DAG-CBOR: {error}")
    if not isinstance(value, dict) or set(value) != {"e", "l"} or not isinstance(value["e"], list):
        return InvalidTree("fields", "node is not a map of exactly e, a list, and l")
    entries, left = value["e"], value["l"]
    if len(entries) > max_entries:
        return InvalidTree("entries", f"{len(entries)} entries; at most {max_entries} are allowed")
    wrong = _link_fault(left, "l", prefixes=(DAG_CBOR_PREFIX,))
    previous = b""
    for index, entry in enumerate(entries):
        if wrong is not None:
            break
        if not isinstance(entry, dict) or set(entry) != {"k", "p", "t", "v"}:
            return InvalidTree("fields", f"entry {index} is not a map of exactly k, p, t and v")
        suffix, shared = entry["k"], entry["p"]
        if not isinstance(suffix, bytes) or not isinstance(shared, int) or type(shared) is bool:
            return InvalidTree("fields", f"entry {index}: k is not bytes or p not an integer")
        wrong = _entry_fault(previous, suffix, shared, index) or (
            _link_fault(entry["t"], f"t of entry {index}", prefixes=(DAG_CBOR_PREFIX,))
            or _link_fault(entry["v"], f"v of entry {index}", prefixes=_PREFIXES, optional=False)
        )
        previous = previous[: max(shared, 0)] + suffix
    return wrong or InvalidTree("cbor", "node is not in the form that its content requires")


def _entry_fault(previous: bytes, suffix: bytes, shared: int, index: int) -> InvalidTree | None:
    if not 0 <= shared <= len(previous):
        return InvalidTree(
            "prefix-range", f"entry {index}: p is {shared}, the previous key has {len(previous)}"
        )
    key = previous[:shared] + suffix
    if not key or len(key) > MAX_KEY_BYTES:
        return InvalidTree("key", f"entry {index}: key of {len(key)} bytes; 1 to {MAX_KEY_BYTES}")
    if key <= previous:
        return InvalidTree("key-order", f"entry {index}: key is not after the one before it")
    if common_prefix(previous, key) != shared:
        return InvalidTree("prefix", f"entry {index}: p is not the longest shared prefix")
    return None


def _link_fault(
    value: object, name: str, *, prefixes: tuple[bytes, ...], optional: bool = True
) -> InvalidTree | None:
    if value is None:
        return None if optional else InvalidTree("fields", f"{name} is null")
    if not isinstance(value, CID):
        return InvalidTree("fields", f"{name} is not a link")
    raw = value.raw
    if len(raw) != CID_BYTES or raw[:_PREFIX_BYTES] not in prefixes:
        return InvalidTree("link", f"{name} is not a CIDv1 of the blessed form")
    return None
