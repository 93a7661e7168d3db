"""What an answer says about its worker.

A worker fails if it cannot be reached, does not answer in time, breaks off, or answers
500, 502 or 504. Being full (429, 503) is back-pressure: it calls for less load, not for
none. Any other 4xx is the client's doing, and so is a cancelled request. Those are
neutral: they neither harm a worker nor prove it well.

Source: what the circuit breakers of Envoy and of sglang-router count.
"""

from __future__ import annotations

from enum import Enum

from eoc_distributed.errors import WorkerFailed, WorkerRefused

_FAILING = frozenset({500, 502, 504})
_FIRST_REFUSAL = 400


class Outcome(Enum):
    """How a request ended, as far as its worker's health goes."""

    SUCCESS = "success"
    FAILURE = "failure"
    NEUTRAL = "neutral"


def outcome_of_status(status: int) -> Outcome:
    """Judge an HTTP status."""
    if status in _FAILING:
        return Outcome.FAILURE
    return Outcome.SUCCESS if status < _FIRST_REFUSAL else Outcome.NEUTRAL


def outcome_of_error(error: WorkerFailed) -> Outcome:
    """Judge an error that a worker's call raised."""
    if isinstance(error, WorkerRefused):
        return outcome_of_status(error.status)
    return Outcome.FAILURE
