"""Chained hashes of a prompt's blocks, for routers that do not know the engine's own.

Hash i covers blocks 0 to i, so that equal hashes mean equal prefixes. Only full blocks
count, as in the engines. Any unit of text serves as long as both sides of a comparison use
the same: 64 bytes are about one block of 16 tokens of English.

Source: the chain h_i = H(h_(i-1), block_i) is vLLM's; H here is BLAKE2b of 64 bits, RFC 7693.
"""

from __future__ import annotations

from hashlib import blake2b

_HASH_BYTES = 8


def block_hashes(
    prompt: bytes, *, block_bytes: int = 64, salt: bytes = b"", limit: int = 2048
) -> tuple[int, ...]:
    """Return the chained 64-bit hashes of the full blocks of a prompt.

    Args:
        prompt: The text that the engine reads, from its start.
        block_bytes: Length of a block, at least 1.
        salt: What keeps prompts apart that must not share a cache: model, tenant, adapter.
        limit: Blocks hashed at most; a longer prompt is told apart by these.

    Raises:
        ValueError: `block_bytes` is below 1, or `limit` below 0.
    """
    if block_bytes < 1 or limit < 0:
        raise ValueError(f"block_bytes {block_bytes} is at least 1, limit {limit} at least 0")
    previous = blake2b(salt, digest_size=_HASH_BYTES).digest()
    hashes: list[int] = []
    for start in range(0, min(len(prompt) // block_bytes, limit) * block_bytes, block_bytes):
        block = prompt[start : start + block_bytes]
        previous = blake2b(previous + block, digest_size=_HASH_BYTES).digest()
        hashes.append(int.from_bytes(previous, "big"))
    return tuple(hashes)
