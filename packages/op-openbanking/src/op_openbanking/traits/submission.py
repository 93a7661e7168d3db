"""What must happen at most once: a payment, whatever breaks in between.

1. The key and the octets are fixed and kept in the store.
2. They are sent. Every later attempt, by whichever process, sends the same key and octets.
3. The answer is kept: from then on it is the result, and nothing is sent.

A crash or a lost answer between 2 and 3 leaves the record open. Submitting it again asks the bank:
under the same key it answers with what it made of the first attempt. After the bank's window for
keys that is no longer safe, and the record is refused with `OutcomeUnknown`.

A refusal ends a submission only if no earlier attempt is in doubt: a bank that took the first one
may well refuse the second ("already consumed").

Source: OBIE Read/Write 3.1.11 "Idempotency" (24 hours, same key and same body); Berlin Group
1.3.12 X-Request-ID; IETF draft-ietf-httpapi-idempotency-key-header.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from op_openbanking.errors import (
    AccessDenied,
    BankError,
    BankUnavailable,
    ConfigError,
    ConsentRequired,
    OpenBankingError,
    OutcomeUnknown,
    RateLimited,
    SignerUnavailable,
    TransportError,
)
from op_openbanking.flow import Flow, Response
from op_openbanking.stores import records
from op_openbanking.stores.base import Store
from op_openbanking.stores.records import Submission, SubmissionState

_UNDECIDED: Final = (RateLimited, ConsentRequired, AccessDenied, SignerUnavailable, ConfigError)
"""Refusals before the bank looked at the payment, or before anything was sent."""
_JSON: Final = "application/json"
_CREATED: Final = 201


def submit(
    store: Store,
    wanted: Submission,
    send: Callable[[Submission], Flow[Response]],
    *,
    window_s: float,
    now_s: float,
) -> Flow[Response]:
    """Do a thing once.

    Args:
        store: Keeps the record.
        wanted: What to submit if it was not yet: its key names it for ever. Its idempotency key
            counts only if there is no open record.
        send: Sends the record it is handed, under that record's key.
        window_s: How long the bank recognises a key.
        now_s: Seconds since 1970.

    Returns:
        The bank's answer, or the one it gave earlier.

    Raises:
        ConfigError: Something else was submitted under this name.
        OutcomeUnknown: Sent, and nobody can say what became of it.
        BankError: Refused; nothing happened.
    """
    record = _claimed(store, wanted, stale_s=now_s - window_s)
    if record.state is SubmissionState.ANSWERED:
        return Response(record.status or _CREATED, (("content-type", _JSON),), record.answer)
    if record.created_at_s <= now_s - window_s:
        raise OutcomeUnknown(
            "the bank's time to recognise the key is over", record=record.key, resumable=False
        )
    # Until an answer is kept this attempt is in doubt, also if the process ends here.
    doubtful = record.state is SubmissionState.DOUBTFUL
    sent = _moved(store, record, state=SubmissionState.DOUBTFUL)
    try:
        response = yield from send(sent)
    except _UNDECIDED:
        if not doubtful:
            _moved(store, sent, state=SubmissionState.OPEN)
        raise
    except (BankUnavailable, TransportError) as error:
        # `retryable` does not help: with a fixed key a transport may call a request so that the
        # bank has received.
        raise OutcomeUnknown(
            "no answer says what became of it", record=record.key, resumable=True
        ) from error
    except BankError as error:
        if doubtful:
            raise OutcomeUnknown(
                "the bank refuses a repetition, and an earlier attempt is in doubt",
                record=record.key,
                resumable=False,
            ) from error
        _moved(store, sent, state=SubmissionState.REFUSED, status=error.status)
        raise
    except OpenBankingError as error:
        raise OutcomeUnknown(
            "the answer cannot be believed", record=record.key, resumable=True
        ) from error
    _moved(
        store, sent, state=SubmissionState.ANSWERED, status=response.status, answer=response.body
    )
    return response


def _claimed(store: Store, wanted: Submission, *, stale_s: float) -> Submission:
    """The record of that name: the one there is, or `wanted`."""
    for _ in range(records.MAX_RACES):
        held = records.load(store, Submission, wanted.key)
        if held is not None and not _is_over(held, stale_s):
            if (held.body, held.url) != (wanted.body, wanted.url):
                raise ConfigError(
                    f"another thing was submitted as {wanted.key}: a name stands for one payment"
                )
            return held
        if records.replace(store, held, wanted):
            return wanted
    raise records.lost_races(records.SUBMISSION)


def _is_over(record: Submission, stale_s: float) -> bool:
    """Whether nothing came of a record for certain, so that a fresh key may take its place."""
    never_sent = record.state is SubmissionState.OPEN and record.created_at_s <= stale_s
    return never_sent or record.state is SubmissionState.REFUSED


def _moved(
    store: Store,
    before: Submission,
    *,
    state: SubmissionState,
    status: int | None = None,
    answer: bytes = b"",
) -> Submission:
    """The record in its next state; an answer that another process kept first stays."""
    after = msgspec.structs.replace(before, state=state, status=status, answer=answer)
    held: Submission | None = before
    for _ in range(records.MAX_RACES):
        if held is None or held.state is SubmissionState.ANSWERED:
            return after
        if records.replace(store, held, after):
            return after
        held = records.load(store, Submission, before.key)
    raise records.lost_races(records.SUBMISSION)
