"""What is kept of a consent, its tokens and what was submitted.

Every record is JSON with its own shape, read strictly: what cannot be read is an error, never an
empty record, since a lost key is a payment made twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, TypeVar

import msgspec

from op_openbanking.errors import StoreFailed
from op_openbanking.model.consent import ConsentPurpose

from .base import Store

CONSENT: Final = "consent"
TOKEN: Final = "token"  # noqa: S105 (a kind of record)
SUBMISSION: Final = "submission"
LANDING: Final = "landing"
MAX_RACES: Final = 1000
"""Most attempts to change a record that others change too. Ours: far above any real contention."""


class ConsentRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A consent as we asked for it.

    Attributes:
        id: The bank's id, or ours where the standard has none.
        purpose: What it is for.
        product: The standard's own name of what was asked for, for example `domestic-payment`.
        request: The octets that we sent. What must be repeated later is cut out of these.
        answer: The octets that came back last.
        created_at_s: Seconds since 1970.
        authorised_at_s: When the owner last authenticated, or None.
        facts: What else the standard must remember, for example an arrangement's id.
    """

    id: str
    purpose: ConsentPurpose
    product: str
    request: bytes
    answer: bytes
    created_at_s: float
    authorised_at_s: float | None = None
    facts: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"ConsentRecord(id={self.id!r}, product={self.product!r})"


class SubmissionState(StrEnum):
    """Where a submission is.

    OPEN: kept, and perhaps sent. DOUBTFUL: sent, and no answer said what became of it. ANSWERED:
    the bank took it. REFUSED: the bank said no, and nothing was in doubt.
    """

    OPEN = "open"
    DOUBTFUL = "doubtful"
    ANSWERED = "answered"
    REFUSED = "refused"


class Submission(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that must happen at most once.

    Attributes:
        key: Our name of it, for example `domestic-payment:` and the consent's id.
        idempotency_key: Fixed before the first attempt.
        url: Where.
        content_type: Of the body.
        body: The octets of every attempt.
        created_at_s: Seconds since 1970.
        state: See `SubmissionState`.
        status: HTTP status of the answer, or None.
        answer: Its octets.
    """

    key: str
    idempotency_key: str
    url: str
    content_type: str
    body: bytes
    created_at_s: float
    state: SubmissionState = SubmissionState.OPEN
    status: int | None = None
    answer: bytes = b""

    def __repr__(self) -> str:
        return f"Submission(key={self.key!r}, state={self.state.value!r})"

    @property
    def is_open(self) -> bool:
        """Whether nobody knows its end."""
        return self.state in {SubmissionState.OPEN, SubmissionState.DOUBTFUL}


R = TypeVar("R", ConsentRecord, Submission)

_KINDS: Final = {ConsentRecord: CONSENT, Submission: SUBMISSION}


def load(store: Store, shape: type[R], key: str) -> R | None:
    """The record of a key, or None.

    Raises:
        StoreFailed: It cannot be read.
    """
    octets = store.get(_KINDS[shape], key)
    return None if octets is None else _read(octets, shape)


def replace(store: Store, before: R | None, after: R) -> bool:
    """Keep `after` in the place of `before`; see `Store.swap`."""
    kind, key = _name(after)
    return store.swap(
        kind,
        key,
        before=None if before is None else _written(before),
        after=_written(after),
    )


def lost_races(kind: str) -> StoreFailed:
    """The error of a writer who was always too late."""
    return StoreFailed(f"a {kind} record changes faster than it can be written", retryable=True)


def _written(record: ConsentRecord | Submission) -> bytes:
    """The one form of a record: what is read and written again has the same octets.

    A number that came in as int would be written so, and read back as float.
    """
    octets = msgspec.json.encode(record)
    return msgspec.json.encode(msgspec.json.decode(octets, type=type(record)))


def _name(record: ConsentRecord | Submission) -> tuple[str, str]:
    match record:
        case ConsentRecord():
            return CONSENT, record.id
        case Submission():
            return SUBMISSION, record.key


def put(store: Store, kind: str, key: str, value: bytes | None) -> None:
    """Keep octets, whatever was there: the last writer wins. Not for submissions."""
    for _ in range(MAX_RACES):
        if store.swap(kind, key, before=store.get(kind, key), after=value):
            return
    raise lost_races(kind)


def unfinished(store: Store) -> Iterator[Submission]:
    """Submissions whose end nobody knows: submit each again, or ask the bank."""
    for _, octets in store.scan(SUBMISSION):
        submission = _read(octets, Submission)
        if submission.is_open:
            yield submission


def forget(store: Store, *, before_s: float) -> int:
    """Remove finished submissions made before a time (seconds since 1970); returns how many.

    Do it well after the bank's idempotency window. Those whose end is unknown stay.
    """
    removed = 0
    for key, octets in store.scan(SUBMISSION):
        submission = _read(octets, Submission)
        old = submission.created_at_s < before_s and not submission.is_open
        if old and store.swap(SUBMISSION, key, before=octets, after=None):
            removed += 1
    return removed


def _read(octets: bytes, shape: type[R]) -> R:
    try:
        return msgspec.json.decode(octets, type=shape)
    except msgspec.MsgspecError as error:
        raise StoreFailed(f"a {_KINDS[shape]} record is not readable: {error}") from error
