"""One request inside a batcher."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Generic

from .kv_blocks import BlockHash, CachedBlock
from .step import K


class Stage(IntEnum):
    """Where a request stands."""

    WAITING = 0
    PREFILL = 1
    """It runs, and some of its tokens have not been computed."""
    DECODE = 2
    """It runs, and only its newest token has not been computed."""
    GONE = 3


class RunningSequence(Generic[K]):
    """A request's counts and blocks; blocks held = computed tokens in blocks, rounded up.

    A decoding sequence computes one token at each tick of the batcher, so its count is not
    written down: `computed` = `base` + tick.

    Attributes:
        key: The caller's name for it.
        prompt: Tokens of the prompt.
        last: Tokens when it is finished, less the newest, which is never computed.
        hashes: Chain of block hashes of its first full blocks.
        order: Number of its admission; grows.
        tokens: Tokens known, prompt and answer; only while it does not decode.
        computed: Tokens whose KV is in blocks; only while it does not decode.
        base: `computed` less the tick; only while it decodes.
        hashed: The blocks of its start whose hash is known.
        stage: Where it stands.
        preempted: Whether it lost its blocks once.
    """

    __slots__ = (
        "base",
        "computed",
        "hashed",
        "hashes",
        "key",
        "last",
        "order",
        "preempted",
        "prompt",
        "stage",
        "tokens",
    )

    def __init__(self, key: K, prompt: int, output: int, hashes: Sequence[BlockHash]) -> None:
        self.key = key
        self.prompt = prompt
        self.last = prompt + output - 1
        self.hashes = hashes
        self.order = 0
        self.tokens = prompt
        self.computed = 0
        self.base = 0
        self.hashed: list[CachedBlock] = []
        self.stage = Stage.WAITING
        self.preempted = False
