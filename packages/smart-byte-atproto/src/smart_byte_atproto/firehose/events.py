"""Events of `com.atproto.sync.subscribeRepos`, parsed from frames.

Every field that the schema requires is checked for presence and type. Unknown fields are left
out; unknown types of message are no event (None): streams grow.

Source: Lexicon com.atproto.sync.subscribeRepos; reference section 8.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidFrame, InvalidSyntax
from smart_byte_atproto.mst.invert import Action, Operation
from smart_byte_atproto.syntax.did import DID
from smart_byte_atproto.syntax.tid import TID

from .frame import ERROR, MESSAGE, Frame

MAX_OPERATIONS = 200
MAX_BLOCKS_BYTES = 2_000_000
MAX_SEQ = 1 << 53
# Shape only; whether the month has that day does not matter to a verdict.
_DATETIME = re.compile(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](?:\.[0-9]{1,20})?"
    r"(?:Z|[+-][0-2][0-9]:[0-5][0-9])"
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CommitEvent:
    """`#commit`: a repository has another head.

    Attributes:
        seq: Position in the stream.
        repo: DID of the account.
        time: When the host saw it; as sent.
        rev: TID of the commit.
        since: TID of the commit before; None for the first.
        commit: CID of the commit.
        prev_data: Root of the tree before; None for the first commit and old producers.
        too_big: Deprecated mark of commits that came without blocks.
        blocks: CAR slice.
        operations: What changed.
    """

    seq: int
    repo: DID
    time: str
    rev: TID
    since: TID | None
    commit: CID
    prev_data: CID | None
    too_big: bool
    blocks: bytes
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class SyncEvent:
    """`#sync`: the state of a repository was reset.

    Attributes:
        seq: Position in the stream.
        did: Account.
        time: When the host saw it; as sent.
        rev: TID of the commit.
        blocks: CAR with the commit block.
    """

    seq: int
    did: DID
    time: str
    rev: TID
    blocks: bytes


@dataclass(frozen=True, slots=True)
class IdentityEvent:
    """`#identity`: cached identity of an account is stale.

    Attributes:
        seq: Position in the stream.
        did: Account.
        time: When the host saw it; as sent.
        handle: A hint, to be resolved all the same.
    """

    seq: int
    did: DID
    time: str
    handle: str | None


@dataclass(frozen=True, slots=True)
class AccountEvent:
    """`#account`: hosting status of an account.

    Attributes:
        seq: Position in the stream.
        did: Account.
        time: When the host saw it; as sent.
        active: Whether its content is to be shown.
        status: Why not; an open set of words.
    """

    seq: int
    did: DID
    time: str
    active: bool
    status: str | None


@dataclass(frozen=True, slots=True)
class InfoEvent:
    """`#info`: a remark of the host, such as `OutdatedCursor`.

    Attributes:
        name: Which remark.
        message: For people.
    """

    name: str
    message: str | None


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """The last frame of a stream that ends with an error, such as `FutureCursor`.

    Attributes:
        error: Name of the error.
        message: For people.
    """

    error: str
    message: str | None


Event: TypeAlias = CommitEvent | SyncEvent | IdentityEvent | AccountEvent | InfoEvent | ErrorEvent


def parse_event(frame: Frame) -> Event | None:
    """Read the event of a frame; None for messages and operations of unknown type.

    Raises:
        InvalidFrame: `schema` (a field is absent or of another type), `did`, `rev`, `time`, `seq`
            or `limits` (over 200 operations or 2,000,000 bytes of blocks).
    """
    body = frame.body
    if frame.op == ERROR:
        return ErrorEvent(_need(body, "error", str), _may(body, "message", str))
    if frame.op != MESSAGE:
        return None
    parse = _PARSERS.get(frame.type)
    return None if parse is None else parse(body)


def _sync(body: dict[str, dag_cbor.Value]) -> SyncEvent:
    rev = _tid(_need(body, "rev", str), "rev")
    return SyncEvent(*_common(body, "did"), rev, _blocks(body))


def _identity(body: dict[str, dag_cbor.Value]) -> IdentityEvent:
    return IdentityEvent(*_common(body, "did"), _may(body, "handle", str))


def _account(body: dict[str, dag_cbor.Value]) -> AccountEvent:
    active, status = _need(body, "active", bool), _may(body, "status", str)
    return AccountEvent(*_common(body, "did"), active, status)


def _info(body: dict[str, dag_cbor.Value]) -> InfoEvent:
    return InfoEvent(_need(body, "name", str), _may(body, "message", str))


def _commit(body: dict[str, dag_cbor.Value]) -> CommitEvent:
    seq, repo, time = _common(body, "repo")
    _need(body, "rebase", bool)
    for name in ("blobs", "since"):
        if name not in body:
            raise InvalidFrame("schema", f"{name} is absent")
    _may(body, "blobs", list)  # deprecated; some hosts send null
    since = _may(body, "since", str)
    ops = _need(body, "ops", list)
    if len(ops) > MAX_OPERATIONS:
        raise InvalidFrame("limits", f"{len(ops)} operations; at most {MAX_OPERATIONS} are allowed")
    return CommitEvent(
        seq=seq,
        repo=repo,
        time=time,
        rev=_tid(_need(body, "rev", str), "rev"),
        since=None if since is None else _tid(since, "since"),
        commit=_need(body, "commit", CID),
        prev_data=_may(body, "prevData", CID),
        too_big=_need(body, "tooBig", bool),
        blocks=_blocks(body),
        operations=tuple([_operation(op, index) for index, op in enumerate(ops)]),
    )


def _operation(op: dag_cbor.Value, index: int) -> Operation:
    if not isinstance(op, dict):
        raise InvalidFrame("schema", f"operation {index} is not a map")
    action = _ACTIONS.get(_need(op, "action", str))
    if action is None:
        raise InvalidFrame("schema", f"operation {index} has an unknown action")
    if "cid" not in op:
        raise InvalidFrame("schema", f"operation {index} has no cid")
    path = _need(op, "path", str)
    return Operation(action, path.encode(), _may(op, "cid", CID), _may(op, "prev", CID))


_PARSERS: dict[str | None, Callable[[dict[str, dag_cbor.Value]], Event]] = {
    "#commit": _commit,
    "#sync": _sync,
    "#identity": _identity,
    "#account": _account,
    "#info": _info,
}
_ACTIONS = {str(action): action for action in Action}


def _common(body: dict[str, dag_cbor.Value], account: str) -> tuple[int, DID, str]:
    seq = body.get("seq")
    if type(seq) is not int:
        raise InvalidFrame("schema", "seq is absent or not an integer")
    if not 0 < seq < MAX_SEQ:
        raise InvalidFrame("seq", f"{seq} is not between 1 and 2^53")
    try:
        did = DID(_need(body, account, str))
    except InvalidSyntax as error:
        raise InvalidFrame("did", str(error)) from error
    time = _need(body, "time", str)
    if _DATETIME.fullmatch(time) is None:
        raise InvalidFrame("time", f"{time[:80]!r} is not a datetime")
    return seq, did, time


def _blocks(body: dict[str, dag_cbor.Value]) -> bytes:
    blocks = _need(body, "blocks", bytes)
    if len(blocks) > MAX_BLOCKS_BYTES:
        raise InvalidFrame(
            "limits", f"{len(blocks)} bytes of blocks; at most {MAX_BLOCKS_BYTES} are allowed"
        )
    return blocks


def _tid(text: str, name: str) -> TID:
    try:
        return TID(text)
    except InvalidSyntax as error:
        raise InvalidFrame("rev", f"{name}: {error}") from error


def _need(body: dict[str, dag_cbor.Value], name: str, kind: type[T]) -> T:
    value = body.get(name)
    if isinstance(value, kind):
        return value
    raise InvalidFrame("schema", f"{name} is absent or not of type {kind.__name__}")


def _may(body: dict[str, dag_cbor.Value], name: str, kind: type[T]) -> T | None:
    value = body.get(name)
    if value is None or isinstance(value, kind):
        return value
    raise InvalidFrame("schema", f"{name} is not of type {kind.__name__}")
