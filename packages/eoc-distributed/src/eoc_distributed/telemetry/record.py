"""What is known of a request once it has ended."""

from __future__ import annotations

import msgspec

from eoc_distributed.energy.accounting import RequestCost


class RequestRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One request that has ended; None where something is not known.

    Attributes:
        method: HTTP method.
        path: Path without query.
        model: Model asked for; empty if the request named none.
        worker_id: Who answered; empty if nobody was asked.
        status: HTTP status; 499 if the client went away.
        ttft_ms: Time to the first token of a stream.
        duration_ms: From the request's arrival to the end of its answer.
        cost: Tokens, energy and carbon; None if no worker answered.
        tokens_exact: Whether the engine counted the tokens.
        attempts: Workers that were asked.
    """

    method: str
    path: str
    model: str
    worker_id: str
    status: int
    ttft_ms: float | None
    duration_ms: float
    cost: RequestCost | None
    tokens_exact: bool
    attempts: int


CLIENT_CLOSED = 499
"""The client went away before the answer ended; seen in logs and metrics only."""
