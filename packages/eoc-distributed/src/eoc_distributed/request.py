"""What is asked of the fleet, as far as routing needs to know it."""

from __future__ import annotations

import msgspec


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One inference request.

    Attributes:
        model: Name of the model, as the client wrote it.
        prompt_tokens: Tokens of the prompt; an estimate until the engine has counted.
        max_tokens: Most tokens to generate; None where the client left it open.
        session: What ties requests to one conversation; None if nothing does.
        prompt_blocks: Chained hashes of the prompt's full blocks, from its start; empty
            where nobody has computed them.
    """

    model: str
    prompt_tokens: int = 0
    max_tokens: int | None = None
    session: str | None = None
    prompt_blocks: tuple[int, ...] = ()
