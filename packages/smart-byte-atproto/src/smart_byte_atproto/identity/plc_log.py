"""Audit of a did:plc log as the directory serves it.

Every operation is checked in order against the history that stood before it: hash, chain,
signature by a key that was allowed to sign, recoveries within 72 hours by a stronger key, what
they nullify, and the DID that the first operation makes. The directory is not trusted for anything
but `createdAt`, which is not signed.

Where logs of the wild break the text of the method (duplicate or empty rotation keys), the
reference implementation is followed: a duplicated key counts at its first place, and an operation
without rotation keys freezes the DID.

Source: did:plc v0.3.0, sections "Key Rotation & Account Recovery" and "Audit Logs".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from smart_byte_atproto.data import dag_cbor, json
from smart_byte_atproto.errors import ATProtoError, BadSignature, InvalidKey, InvalidLog
from smart_byte_atproto.syntax.datetime import Datetime

from .plc_operation import PLCOperation

RECOVERY_WINDOW = timedelta(hours=72)
"""How long after an operation a stronger key may undo it; the end is included."""

MAX_BYTES = 32 << 20
"""Longest log that is read, by our choice: several thousand operations."""


@dataclass(frozen=True, slots=True)
class AuditedLog:
    """A log in which everything holds.

    Attributes:
        did: The DID.
        operations: All operations in the order of the log.
        nullified: Positions of those that a recovery undid.
        head: The last operation that stands.
    """

    did: str
    operations: tuple[PLCOperation, ...]
    nullified: frozenset[int]
    head: PLCOperation

    @property
    def is_tombstoned(self) -> bool:
        """True if the DID has ended."""
        return self.head.is_tombstone


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of the log."""

    index: int
    did: str
    operation: PLCOperation
    cid: str
    nullified: bool
    created_at: datetime

    def bad(self, code: str, reason: str) -> InvalidLog:
        return InvalidLog(reason, index=self.index, code=code)


def audit(log: str | bytes) -> AuditedLog:
    """Check a log: the JSON array of the directory's `/log/audit`.

    Raises:
        InvalidLog: A rule is broken; says at which operation and which rule.
        InvalidData: Not the JSON of a log at all.
    """
    value = json.loads(log, max_bytes=MAX_BYTES)
    if not isinstance(value, list) or not value:
        raise InvalidLog("log is not a list of operations", index=0, code="form")
    return _audit([_entry(index, item) for index, item in enumerate(value)])


def _audit(entries: Sequence[_Entry]) -> AuditedLog:
    genesis = entries[0]
    _check_genesis(genesis)
    history = [genesis]
    nullified: set[int] = set()
    for entry in entries[1:]:
        undone = _check_next(history, entry)
        nullified.update(old.index for old in undone)
        del history[len(history) - len(undone) :]
        history.append(entry)
    for entry in entries:
        if entry.nullified != (entry.index in nullified):
            flag = "is" if entry.index in nullified else "is not"
            raise entry.bad("nullified", f"operation {flag} nullified, the log says otherwise")
    return AuditedLog(
        did=genesis.did,
        operations=tuple(entry.operation for entry in entries),
        nullified=frozenset(nullified),
        head=history[-1].operation,
    )


def _check_genesis(entry: _Entry) -> None:
    operation = entry.operation
    if operation.prev is not None or operation.is_tombstone:
        raise entry.bad("chain", "log does not start with a first operation")
    _check_entry(entry, entry.did)
    if operation.did() != entry.did:
        raise entry.bad("did", f"first operation makes {operation.did()}, not {entry.did[:80]}")
    _signer(entry, entry, operation.rotation_keys)


def _check_next(history: Sequence[_Entry], entry: _Entry) -> Sequence[_Entry]:
    """Check one operation against the history before it; return what it undoes."""
    _check_entry(entry, history[0].did)
    place = next((i for i, old in enumerate(history) if old.cid == entry.operation.prev), None)
    if place is None or entry.operation.kind == "create":
        raise entry.bad("chain", "prev is no operation of the history that stands")
    prev, undone = history[place], history[place + 1 :]
    if prev.operation.is_tombstone:
        raise entry.bad("tombstone", "operation after the end of the DID")
    keys = prev.operation.rotation_keys
    if entry.created_at < history[-1].created_at:
        raise entry.bad("time", "operation is older than the one before it")
    if not undone:
        _signer(entry, entry, keys)
        return undone
    disputed = undone[0]
    if entry.created_at <= history[-1].created_at:
        raise entry.bad("time", "recovery is not later than what it undoes")
    if entry.created_at - disputed.created_at > RECOVERY_WINDOW:
        raise entry.bad("late", "recovery more than 72 hours after what it undoes")
    stronger = keys[: keys.index(_signer(entry, disputed, keys))]
    if not stronger:
        raise entry.bad("recovery", "what it undoes was signed by the strongest key")
    try:
        entry.operation.signer(stronger)
    except BadSignature as bad:
        raise entry.bad("recovery", f"recovery not signed by a stronger key: {bad.reason}") from bad
    except InvalidKey as bad:
        raise entry.bad("signature", str(bad)) from bad
    return undone


def _check_entry(entry: _Entry, did: str) -> None:
    if entry.did != did:
        raise entry.bad("did", "operation of another DID")
    if str(entry.operation.cid) != entry.cid:
        raise entry.bad("cid", f"operation hashes to {entry.operation.cid}")


def _signer(entry: _Entry, signed: _Entry, keys: Sequence[str]) -> str:
    try:
        return signed.operation.signer(keys)
    except (BadSignature, InvalidKey) as bad:
        raise entry.bad("signature", str(bad)) from bad


def _entry(index: int, value: dag_cbor.Value) -> _Entry:
    try:
        return _parse_entry(index, value)
    except InvalidLog:
        raise
    except ATProtoError as bad:
        raise InvalidLog(str(bad), index=index, code="form") from bad


def _parse_entry(index: int, value: dag_cbor.Value) -> _Entry:
    if not isinstance(value, dict):
        raise InvalidLog("entry is not a map", index=index, code="form")
    did, cid, created_at = value.get("did"), value.get("cid"), value.get("createdAt")
    nullified = value.get("nullified")
    if not isinstance(did, str) or not isinstance(cid, str) or not isinstance(created_at, str):
        raise InvalidLog("did, cid or createdAt is not a text", index=index, code="form")
    if not isinstance(nullified, bool):
        raise InvalidLog("nullified is not a boolean", index=index, code="form")
    operation = PLCOperation.parse(value.get("operation"))
    return _Entry(index, did, operation, cid, nullified, Datetime(created_at).instant())
