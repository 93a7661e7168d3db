"""The pool of KV-cache blocks of one engine.

A block holds the keys and values of a fixed number of tokens. Blocks are numbered from 0;
each is either free or in the table of exactly one sequence.
"""

from __future__ import annotations


class BlockPool:
    """Free blocks, handed out and taken back.

    Args:
        blocks: How many blocks there are, at least 1.
        block_tokens: Tokens in a block, at least 1.
    """

    def __init__(self, *, blocks: int, block_tokens: int) -> None:
        if blocks < 1 or block_tokens < 1:
            raise ValueError(f"a pool needs blocks of tokens: {blocks} of {block_tokens}")
        self.blocks = blocks
        self.block_tokens = block_tokens
        self._free = list(range(blocks - 1, -1, -1))

    @property
    def free(self) -> int:
        """Blocks that nobody holds."""
        return len(self._free)

    @property
    def usage(self) -> float:
        """Share of blocks that are held, 0 to 1."""
        return 1.0 - len(self._free) / self.blocks

    def needed(self, tokens: int) -> int:
        """Return how many blocks hold `tokens` tokens."""
        return -(-tokens // self.block_tokens)

    def grow(self, table: list[int], tokens: int) -> bool:
        """Extend a sequence's table so that it holds `tokens` tokens.

        Returns:
            Whether there were enough free blocks; if not, nothing has changed.
        """
        missing = self.needed(tokens) - len(table)
        if missing > len(self._free):
            return False
        if missing > 0:
            table.extend(self._free[: -missing - 1 : -1])
            del self._free[-missing:]
        return True

    def release(self, table: list[int]) -> None:
        """Take all blocks of a table back and empty it."""
        self._free.extend(reversed(table))
        table.clear()
