"""Strict decoding of one node.

The bytes are walked once, comparing the fixed parts of the map as they must stand; anything
else goes to a second, slow look that names the rule which the bytes break. Both accept exactly
the same bytes: those that `Node.data` writes for a node with a longest prefix in every entry.

Source: reference sections 2.2, 5.2 and 5.7.
"""

from __future__ import annotations

from hashlib import sha256

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import ATProtoError, InvalidTree

from .node import (
    CID_BYTES,
    DAG_CBOR_PREFIX,
    ENTRIES_HEAD,
    LEFT_HEAD,
    LINK_HEAD,
    MAX_KEY_BYTES,
    NULL,
    RAW_PREFIX,
    Node,
    RawCID,
    common_prefix,
)

# Keys can be mined to share a layer; a node of a million honest keys has fewer than 100 entries.
MAX_ENTRIES = 4096

_KEY_FIELD = b"\xa4\x61k"
_TREE_NULL = b"\x61t\xf6\x61v" + LINK_HEAD
_TREE_LINK = b"\x61t" + LINK_HEAD + DAG_CBOR_PREFIX
_VALUE_FIELD = b"\x61v" + LINK_HEAD
_LEFT_NULL = LEFT_HEAD + NULL
_LEFT_LINK = LEFT_HEAD + LINK_HEAD + DAG_CBOR_PREFIX
_LEFT_LINK_BYTES = len(LEFT_HEAD + LINK_HEAD) + CID_BYTES
_LINK_START = len(b"\x61t" + LINK_HEAD)
_LINK_FIELD_BYTES = _LINK_START + CID_BYTES
_TREE_NULL_BYTES = len(_TREE_NULL)
_PREFIXES = (DAG_CBOR_PREFIX, RAW_PREFIX)
_PREFIX_BYTES = len(DAG_CBOR_PREFIX)


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
    try:
        return _decode(data, link, max_entries)
    except (_Malformed, IndexError):
        raise explain(data, max_entries=max_entries) from None


def _decode(data: bytes, link: RawCID | None, max_entries: int) -> Node:  # noqa: C901, PLR0912, PLR0915 - one loop, unrolled for speed
    if data[:3] != ENTRIES_HEAD:
        raise _Malformed
    count, at = _length(data, 3, 0x80)
    if count > max_entries:
        raise _Malformed
    keys: list[bytes] = []
    values: list[RawCID] = []
    trees: list[RawCID | None] = [None]
    previous = b""
    for _ in range(count):
        if data[at : at + 3] != _KEY_FIELD:
            raise _Malformed
        size = data[at + 3] - 0x40
        if 0 <= size < 24:  # noqa: PLR2004 - RFC 8949, section 3
            at += 4
        else:
            size, at = _length(data, at + 3, 0x40)
        suffix = data[at : at + size]
        at += size
        if data[at] != 0x61 or data[at + 1] != 0x70:  # noqa: PLR2004 - the text "p"
            raise _Malformed
        shared = data[at + 2]
        if shared < 24:  # noqa: PLR2004 - RFC 8949, section 3
            at += 3
        else:
            shared, at = _length(data, at + 2, 0x00)
        if shared:
            if shared > len(previous):
                raise _Malformed
            key = previous[:shared] + suffix
        else:
            key = suffix
        if key <= previous or len(key) > MAX_KEY_BYTES:
            raise _Malformed
        if shared < len(previous) and previous[shared] == suffix[0]:
            raise _Malformed
        if data[at : at + _TREE_NULL_BYTES] == _TREE_NULL:
            trees.append(None)
            at += _TREE_NULL_BYTES
        else:
            if not data.startswith(_TREE_LINK, at):
                raise _Malformed
            trees.append(data[at + _LINK_START : at + _LINK_FIELD_BYTES])
            at += _LINK_FIELD_BYTES
            if data[at : at + _LINK_START] != _VALUE_FIELD:
                raise _Malformed
            at += _LINK_START
        value = data[at : at + CID_BYTES]
        if value[:_PREFIX_BYTES] not in _PREFIXES:
            raise _Malformed
        values.append(value)
        at += CID_BYTES
        keys.append(key)
        previous = key
    if data[at:] != _LEFT_NULL:
        if len(data) - at != _LEFT_LINK_BYTES or not data.startswith(_LEFT_LINK, at):
            raise _Malformed
        trees[0] = data[-CID_BYTES:]
    if link is None:
        link = DAG_CBOR_PREFIX + sha256(data).digest()
    return Node.sealed(tuple(keys), tuple(values), tuple(trees), data=data, link=link)


def _length(data: bytes, at: int, major: int) -> tuple[int, int]:
    """Read a CBOR head of up to two bytes of length; returns the value and the next offset."""
    value = data[at] - major
    if 0 <= value < 24:  # noqa: PLR2004 - RFC 8949, section 3
        return value, at + 1
    if value == 24 and data[at + 1] >= 24:  # noqa: PLR2004
        return data[at + 1], at + 2
    if value == 25 and data[at + 1]:  # noqa: PLR2004
        return data[at + 1] << 8 | data[at + 2], at + 3
    raise _Malformed


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
        if not isinstance(suffix, bytes) or not isinstance(shared, int) or shared is True:
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
