"""Where the nodes behind links come from.

Source: reference section 5.7 (a block proves nothing until its hash is checked).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidTree, MissingBlock

from .codec import MAX_ENTRIES, decode_node
from .node import DAG_CBOR_PREFIX, Node, RawCID

DEFAULT_CACHE_NODES = 8192


class Blocks(Protocol):
    """Anything that holds blocks by CID; every block store fits."""

    def get(self, cid: CID, /) -> bytes | None:
        """Return the bytes of a block, None where there is none."""


class NodeSource(Protocol):
    """Opens links."""

    def open(self, link: RawCID, /) -> Node:
        """Return the node behind a link.

        Raises:
            MissingBlock: There is none.
            InvalidTree: Its bytes are malformed or have another hash.
        """


class NoNodes:
    """The source of trees that are wholly in memory: every stub stays closed."""

    def open(self, link: RawCID, /) -> Node:
        raise MissingBlock(CID(link))


class StoredNodes:
    """Nodes of a block store, hashes checked, the latest `cache_nodes` kept decoded."""

    def __init__(
        self,
        blocks: Blocks,
        *,
        cache_nodes: int = DEFAULT_CACHE_NODES,
        max_entries: int = MAX_ENTRIES,
    ) -> None:
        self._blocks = blocks
        self._max_entries = max_entries
        self._cache: dict[RawCID, Node] = {}
        self._cache_nodes = cache_nodes

    def open(self, link: RawCID, /) -> Node:
        node = self._cache.get(link)
        if node is not None:
            return node
        cid = CID(link)
        data = self._blocks.get(cid)
        if data is None:
            raise MissingBlock(cid)
        if DAG_CBOR_PREFIX + sha256(data).digest() != link:
            raise InvalidTree("hash", "bytes of a node do not match its CID", cid=cid)
        try:
            node = decode_node(data, link=link, max_entries=self._max_entries)
        except InvalidTree as error:
            raise InvalidTree(error.code, error.detail, cid=cid) from None
        while len(self._cache) >= self._cache_nodes:
            del self._cache[next(iter(self._cache))]
        self._cache[link] = node
        return node


class SliceNodes:
    """Nodes of a CAR slice whose block hashes were all checked on reading.

    Attributes:
        opened: Links opened so far, in order of first use, with their nodes.
    """

    def __init__(self, blocks: dict[RawCID, bytes]) -> None:
        self._blocks = blocks
        self.opened: dict[RawCID, Node] = {}

    def open(self, link: RawCID, /) -> Node:
        node = self.opened.get(link)
        if node is None:
            data = self._blocks.get(link)
            if data is None:
                raise MissingBlock(CID(link))
            node = self.opened[link] = decode_node(data, link=link)
        return node
