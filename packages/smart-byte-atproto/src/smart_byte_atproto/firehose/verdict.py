"""One verdict for each frame of a stream, with the state of accounts kept in between.

Source: AT Protocol, Sync, Firehose Validation; reference sections 8.2 and 9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import assert_never

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidDocument, InvalidFrame

from .events import (
    AccountEvent,
    CommitEvent,
    ErrorEvent,
    Event,
    IdentityEvent,
    InfoEvent,
    SyncEvent,
    parse_event,
)
from .frame import decode_frame
from .verify import AccountState, VerifiedCommit, verify_commit, verify_sync

DEFAULT_MAX_ACCOUNTS = 1_000_000


class Outcome(StrEnum):
    """What a reader does with a frame."""

    APPLIED = "applied"
    """It holds and continues what is known."""
    IGNORED = "ignored"
    """It is not after what is known, or says nothing: nothing is done."""
    RESYNC = "resync"
    """It is genuine, but something before it was missed: the repository is to be fetched."""
    TOO_BIG = "too-big"
    """It came without its blocks: likewise."""
    NOT_INVERTED = "not-inverted"
    """Undoing its operations does not lead to the tree before."""
    REJECTED = "rejected"
    """It does not hold."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one frame.

    Attributes:
        good: Whether every check passed; also true for frames that are to be ignored.
        type: Type of the message, None where the frame could not be read.
        seq: Position in the stream, where it has one.
        account: DID, where it has one.
        rev: TID of the commit, where it has one.
        operations: Number of operations undone to prevData.
        desynchronized: A genuine commit that does not continue from the last one.
        code: Failed check, listed in `firehose/verify.py`; None if good.
        reason: The same for people.
    """

    good: bool
    type: str | None = None
    seq: int | None = None
    account: str | None = None
    rev: str | None = None
    operations: int = 0
    desynchronized: bool = False
    code: str | None = None
    reason: str | None = None

    @property
    def outcome(self) -> Outcome:
        """What a reader does with the frame."""
        code = self.code
        if code is None:
            return Outcome.RESYNC if self.desynchronized else Outcome.APPLIED
        if code in _IGNORED:
            return Outcome.IGNORED
        if code == "too-big":
            return Outcome.TOO_BIG
        if code.startswith(("op-", "tree-")) or code in ("prev-data", "prev-data-missing"):
            return Outcome.NOT_INVERTED
        return Outcome.REJECTED


_IGNORED = frozenset({"stale", "seq", "inactive"})
"""Codes of frames that are right and come too late, or of accounts that are away."""


class StreamVerifier:
    """Gives a verdict for each frame, in order."""

    def __init__(
        self,
        keys: Callable[[str], PublicKey | None],
        *,
        lenient: bool = False,
        latest_rev: str | Callable[[], str] | None = None,
        max_accounts: int = DEFAULT_MAX_ACCOUNTS,
        refresh: Callable[[str], PublicKey | None] | None = None,
    ) -> None:
        """Start at the beginning of a stream.

        Args:
            keys: Returns the signing key of a DID, None if unknown; may raise InvalidDocument.
            lenient: Accept commits without prevData or prev, uninverted.
            latest_rev: TID of a few minutes from the present, or what returns it for a stream
                that is live; later revs are refused.
            max_accounts: Accounts remembered; beyond that the one unseen for longest is dropped.
            refresh: Returns the key of a DID asked for anew, or None to leave it; called once
                where a signature does not hold. How often is the caller's to bound.
        """
        self._keys = keys
        self._refresh = refresh
        self._lenient = lenient
        self._latest_rev = latest_rev
        self._max_accounts = max_accounts
        self._states: dict[str, AccountState] = {}
        self._seq = 0

    def verify(self, data: bytes) -> Verdict:
        """Decode and verify one frame. Never raises for what a peer can send."""
        kind: str | None = None
        event: Event | None = None
        done: VerifiedCommit | None = None
        try:
            frame = decode_frame(data)
            kind = frame.type
            event = parse_event(frame)
            if event is not None:
                done = self._judge(event)
        except InvalidFrame as error:
            return _verdict(kind, event, None, error)
        return _verdict(kind, event, done, None)

    def _judge(self, event: Event) -> VerifiedCommit | None:
        match event:
            case CommitEvent():
                self._advance(event.seq)
                did = event.repo
                done = self._signed(
                    did,
                    lambda key: verify_commit(
                        event,
                        key=key,
                        state=self._states.get(did),
                        latest_rev=self._latest(),
                        lenient=self._lenient,
                    ),
                )
                self._keep(did, done.state)
                return done
            case SyncEvent():
                self._advance(event.seq)
                did = event.did
                done = self._signed(
                    did,
                    lambda key: verify_sync(
                        event,
                        key=key,
                        state=self._states.get(did),
                        latest_rev=self._latest(),
                    ),
                )
                self._keep(did, done.state)
                return done
            case AccountEvent():
                self._advance(event.seq)
                state = self._states.get(event.did) or AccountState()
                self._keep(event.did, replace(state, active=event.active))
            case IdentityEvent():
                self._advance(event.seq)
            case InfoEvent() | ErrorEvent():
                pass
            case _:
                assert_never(event)
        return None

    def _latest(self) -> str | None:
        latest = self._latest_rev
        return latest() if callable(latest) else latest

    def synchronize(self, did: str, *, rev: str, data: CID) -> None:
        """Note that a repository has been fetched and verified: its chain goes on from there."""
        state = self._states.get(did) or AccountState()
        if state.rev is None or rev >= state.rev:
            self._keep(did, AccountState(rev, data, state.active))

    def _signed(self, did: str, check: Callable[[PublicKey], VerifiedCommit]) -> VerifiedCommit:
        """Check with the key at hand, and once with a fresh one where the signature is wrong."""
        key = self._key(did)
        try:
            return check(key)
        except InvalidFrame as error:
            if self._refresh is None or not error.code.startswith(("signature-", "key-type")):
                raise
            fresh = self._refresh(did)
            if fresh is None or fresh == key:
                raise
        return check(fresh)

    def _advance(self, seq: int) -> None:
        if seq <= self._seq:
            raise InvalidFrame("seq", f"{seq} is not after {self._seq}")
        self._seq = seq

    def _key(self, did: str) -> PublicKey:
        try:
            key = self._keys(did)
        except InvalidDocument as error:
            raise InvalidFrame("key-missing", error.reason) from error
        if key is None:
            raise InvalidFrame("key-missing", f"no DID document of {did}")
        return key

    def _keep(self, did: str, state: AccountState) -> None:
        self._states.pop(did, None)
        while len(self._states) >= self._max_accounts:
            del self._states[next(iter(self._states))]
        self._states[did] = state


def _verdict(
    kind: str | None, event: Event | None, done: VerifiedCommit | None, error: InvalidFrame | None
) -> Verdict:
    seq: int | None = None
    account: str | None = None
    rev: str | None = None
    reason: str | None = None
    operations = 0
    match event:
        case CommitEvent():
            seq, account, rev = event.seq, event.repo, event.rev
            operations = len(event.operations) if done is not None and done.inverted else 0
        case SyncEvent():
            seq, account, rev = event.seq, event.did, event.rev
        case IdentityEvent() | AccountEvent():
            seq, account = event.seq, event.did
        case InfoEvent():
            reason = event.name
        case ErrorEvent():
            reason = event.error
        case None:
            pass
        case _:
            assert_never(event)
    return Verdict(
        good=error is None,
        type=kind,
        seq=seq,
        account=account,
        rev=rev,
        operations=operations,
        desynchronized=isinstance(event, CommitEvent) and done is not None and not done.continues,
        code=None if error is None else error.code,
        reason=reason if error is None else error.reason,
    )
