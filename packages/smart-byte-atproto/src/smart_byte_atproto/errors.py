"""Every error that this package raises.

ATProtoError
  InvalidSyntax (ValueError)   a string is not of the type it should be
  InvalidKey (ValueError)      a public or private key, or its text form, is malformed
  InvalidTreeKey (ValueError)  a tree or repository cannot hold this key
  WriteRefused (ValueError)    a change that the repository cannot make
  NotEncodable (ValueError)    a value of the caller has no place in the data model
  InvalidData                  bytes or JSON of a peer break a rule; final
    NotCanonical               CBOR or a CID that is not in the one form allowed
    LimitExceeded              too deep, too long or too many
    HashMismatch               bytes that do not belong to their CID
    MissingBlock               a CID that leads nowhere in the blocks at hand
    InvalidTree                a node or tree breaks a rule of the Merkle Search Tree
    InversionFailed            operations do not lead back to the tree before them
    InvalidRepo                a commit or repository breaks a rule
    InvalidDocument            a DID document from which no signing key can be taken
    InvalidFrame               a message of an event stream is not what it should be
    ProofFailed                a proof does not show what it claims
    InvalidLog                 an operation log of did:plc that breaks a rule
  Truncated          retry     the input ended inside an item; what came before was right
  BadSignature                 a signature that its key did not make, or in a form not allowed
  RequestRefused               a URL or address that is not asked: it could lead inside
  NetworkFailed        retry   no connection, no answer in time, or an answer cut off
  ResponseInvalid              an answer that is not what was agreed: too large, of another type
  ResolutionFailed             an identity that could not be resolved
    IdentityNotFound           nobody by that name
    IdentityMismatch           two sides name each other differently, or one names several
  XRPCError                    a service refused a call; `name` says why
    XRPCUnavailable    retry   it may take the call later
  UnknownSchema (LookupError)  a name that no schema at hand has
  StoreFailed                  a block store could not read or keep what it should
    StoreBusy        retry     another process holds the store

`retryable` says if the same call may succeed later without a change on this side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from .data.cid import CID

_SHOWN = 96


def _shorten(text: str) -> str:
    """Quote `text` for a message, cut to a length that a log line bears."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}... ({len(text)} characters)"


class ATProtoError(Exception):
    """Root of every error of this package."""

    retryable: ClassVar[bool] = False


class InvalidSyntax(ATProtoError, ValueError):
    """A string that is not of the type it should be.

    Attributes:
        kind: Name of the type, as in Lexicon (`did`, `at-uri`, `record-key`, ...).
        text: The string as it was given.
        reason: Which rule it breaks.
    """

    def __init__(self, kind: str, text: str, reason: str) -> None:
        super().__init__(f"not a valid {kind}: {reason}: {_shorten(text)}")
        self.kind = kind
        self.text = text
        self.reason = reason


class NotEncodable(ATProtoError, ValueError):
    """A value of the caller that has no place in the data model.

    Attributes:
        reason: What is wrong with it.
        path: Where it stands: keys and indexes from the top, joined by `/`; empty for the top.
    """

    def __init__(self, reason: str, *, path: str = "") -> None:
        super().__init__(f"cannot encode: {reason}" + (f" at {_shorten(path)}" if path else ""))
        self.reason = reason
        self.path = path


class InvalidData(ATProtoError):
    """Bytes or JSON of a peer that break a rule. Trying again gives the same answer.

    Attributes:
        reason: Which rule is broken.
        at: Where: a byte offset, a path of keys and indexes, or None where it is the whole.
    """

    def __init__(self, reason: str, *, at: int | str | None = None) -> None:
        if at is None:
            where = ""
        else:
            where = f" at byte {at}" if isinstance(at, int) else f" at {_shorten(at)}"
        super().__init__(reason + where)
        self.reason = reason
        self.at = at


class NotCanonical(InvalidData):
    """CBOR or a CID that is readable but not in the one form allowed."""


class LimitExceeded(InvalidData):
    """Input that is deeper, longer or more numerous than the reader accepts.

    Attributes:
        limit: The bound that was passed, in the unit that `reason` names.
    """

    def __init__(self, reason: str, *, limit: int, at: int | str | None = None) -> None:
        super().__init__(f"{reason} (limit {limit})", at=at)
        self.limit = limit


class HashMismatch(InvalidData):
    """Bytes whose SHA-256 is not the digest of their CID.

    Attributes:
        cid: The CID that the bytes were said to have.
    """

    def __init__(self, cid: CID, *, at: int | str | None = None) -> None:
        super().__init__(f"block does not hash to its CID {cid}", at=at)
        self.cid = cid


class MissingBlock(InvalidData):
    """A CID that leads nowhere in the blocks at hand.

    Attributes:
        cid: What was looked for.
    """

    def __init__(self, cid: CID, *, at: int | str | None = None) -> None:
        super().__init__(f"no block for {cid}", at=at)
        self.cid = cid


class InvalidPrimitive(InvalidData):
    """A CESR primitive that is none.

    Attributes:
        code: Stable name of the rule: `code`, `size`, `alphabet`, `pad` or `key`.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class InvalidEvent(InvalidData):
    """A key event, or a log of them, that breaks a rule.

    Attributes:
        index: Position in the log, from 0.
        code: Stable name of the rule: `form`, `version`, `said`, `prefix`, `sequence`, `prior`,
            `commitment`, `threshold`, `signature`, `frozen` or `unsupported`.
    """

    def __init__(self, code: str, reason: str, *, index: int = 0) -> None:
        super().__init__(f"event {index}: {reason}")
        self.index = index
        self.code = code


class InvalidLabel(InvalidData):
    """A label that is none, or whose signature is missing."""


class BindingRefused(InvalidData):
    """A binding of an AT URI and an AID that does not hold.

    Attributes:
        code: Stable name of the rule: `form`, `version`, `said`, `uri`, `aid`, `date`, `key`,
            `signature`, `log`, `record`, `account` or `cid`.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class InvalidLexicon(InvalidData):
    """A Lexicon document that breaks a rule of the language, or of a catalogue of them."""


class SchemaMismatch(InvalidData):
    """Data that is not what its Lexicon schema says.

    Attributes:
        code: Stable name of the rule: `type`, `required`, `null`, `const`, `enum`, `range`,
            `length`, `graphemes`, `format`, `blob`, `union`, `key`, `encoding` or `unknown-schema`.
    """

    def __init__(self, reason: str, *, at: str, code: str) -> None:
        super().__init__(reason, at=at or None)
        self.code = code


class InvalidLog(InvalidData):
    """An operation log of did:plc that breaks a rule.

    Attributes:
        index: Position of the first bad operation, from 0.
        code: Stable name of the rule: `form`, `did`, `cid`, `signature`, `chain` (prev leads
            nowhere), `tombstone`, `recovery` (key not strong enough), `late` (more than 72 hours),
            `time` (order of createdAt) or `nullified` (flag).
    """

    def __init__(self, reason: str, *, index: int, code: str) -> None:
        super().__init__(f"operation {index}: {reason}")
        self.reason = reason
        self.index = index
        self.code = code


class Truncated(ATProtoError):
    """The input ended inside an item. All before it was right: fetch again.

    Attributes:
        needed: How many bytes are missing at least.
        at: Byte offset of the item that is cut off.
    """

    retryable = True

    def __init__(self, reason: str, *, needed: int = 1, at: int = 0) -> None:
        super().__init__(f"{reason}: the item at byte {at} lacks at least {needed} bytes")
        self.reason = reason
        self.needed = needed
        self.at = at


class BadSignature(ATProtoError):
    """A signature that its key did not make, or one in a form that is not allowed.

    Attributes:
        reason: Which check failed.
        code: The same for programs: `length`, `der`, `zero`, `range`, `high-s`, `encoding` (not
            base64url in its one form) or `mismatch`.
    """

    def __init__(self, reason: str, *, code: str = "mismatch") -> None:
        super().__init__(f"bad signature ({code}): {reason}")
        self.reason = reason
        self.code = code


class StoreFailed(ATProtoError):
    """A block store could not read or keep what it should."""


class StoreBusy(StoreFailed):
    """Another process holds the store for longer than we wait."""

    retryable = True


# Keys.


class InvalidKey(ATProtoError, ValueError):
    """A public or private key, or its text form, that is malformed.

    Attributes:
        reason: What is wrong. Never holds key material.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"invalid key: {reason}")
        self.reason = reason


# Trees.


class InvalidTreeKey(ATProtoError, ValueError):
    """A key that a tree or repository cannot hold.

    Attributes:
        reason: What is wrong with it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"invalid tree key: {reason}")
        self.reason = reason


class InvalidTree(InvalidData):
    """A node or a tree that breaks a rule of the Merkle Search Tree.

    Attributes:
        code: Stable name of the rule, listed in `mst/validate.py`.
        detail: What is wrong, without the rest of the message.
        cid: The node, where known.
    """

    def __init__(self, code: str, reason: str, *, cid: CID | None = None) -> None:
        super().__init__(
            f"invalid tree ({code}): {reason}", at=None if cid is None else f"node {cid}"
        )
        self.code = code
        self.detail = reason
        self.cid = cid


class InversionFailed(InvalidData):
    """Operations of a commit that cannot be undone on the tree of its slice.

    Attributes:
        code: `shape`, `duplicate`, `absent`, `present`, `value`, `incomplete` or `root`.
        key: The key concerned, where there is one.
    """

    def __init__(self, code: str, reason: str, *, key: bytes | None = None) -> None:
        super().__init__(
            f"operations cannot be undone ({code}): {reason}",
            at=None if key is None else key.decode("utf-8", "backslashreplace"),
        )
        self.code = code
        self.key = key


class ProofFailed(InvalidData):
    """A proof that does not show what it claims.

    Attributes:
        code: `incomplete`, `absent`, `present`, `value` or `tree`.
        key: The key concerned.
    """

    def __init__(self, code: str, reason: str, *, key: bytes) -> None:
        super().__init__(
            f"proof failed ({code}): {reason}", at=key.decode("utf-8", "backslashreplace")
        )
        self.code = code
        self.key = key


# Repositories and streams.


class InvalidRepo(InvalidData):
    """A commit or repository that breaks a rule.

    Attributes:
        code: Stable name of the check: `root`, `commit`, `version`, `did`, `rev`, `key-type`,
            `path`, `record`, `record-size`.
    """

    def __init__(self, code: str, reason: str, *, at: str | None = None) -> None:
        super().__init__(f"invalid repository ({code}): {reason}", at=at)
        self.code = code


class WriteRefused(ATProtoError, ValueError):
    """A change that the repository cannot make.

    Attributes:
        code: `exists`, `absent`, `path`, `record`, `rev`, `commit` or `key-type`.
        path: Where the record was to go, empty where it concerns the commit.
    """

    def __init__(self, code: str, reason: str, *, path: str = "") -> None:
        super().__init__(f"write refused ({code}): {reason}" + (f": {path}" if path else ""))
        self.code = code
        self.path = path


class InvalidDocument(InvalidData):
    """A DID document from which no signing key can be taken.

    Attributes:
        code: `form`, `id`, `key-missing` or `key`.
    """

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"invalid DID document ({code}): {reason}")
        self.code = code


class InvalidFrame(InvalidData):
    """A message of an event stream that is not what it should be.

    Attributes:
        code: Stable name of the check, listed in `firehose/verify.py`.
    """

    def __init__(self, code: str, reason: str, *, at: str | None = None) -> None:
        super().__init__(f"invalid frame ({code}): {reason}", at=at)
        self.code = code


class UnknownSchema(ATProtoError, LookupError):
    """A name that no Lexicon schema at hand has.

    Attributes:
        name: NSID, with `#name` where a schema inside the document is meant.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"no schema at hand is called {_shorten(name)}")
        self.name = name


class RequestRefused(ATProtoError):
    """A URL or address that is not asked, since a stranger chose it and it could lead inside.

    Attributes:
        code: Stable name of the rule: `url`, `scheme`, `host`, `address` or `redirects`.
    """

    def __init__(self, reason: str, *, code: str) -> None:
        super().__init__(reason)
        self.code = code


class NetworkFailed(ATProtoError):
    """No connection, no answer in time, or an answer that was cut off.

    Attributes:
        host: Who was asked.
    """

    retryable: ClassVar[bool] = True

    def __init__(self, host: str, reason: str) -> None:
        super().__init__(f"{host}: {reason}")
        self.host = host


class ResponseInvalid(ATProtoError):
    """An answer that is not what was agreed.

    Attributes:
        host: Who answered.
        code: Stable name of the rule: `size`, `status`, `type`, `form` or `hash`.
    """

    def __init__(self, host: str, reason: str, *, code: str) -> None:
        super().__init__(f"{host}: {reason}")
        self.host = host
        self.code = code


class ResolutionFailed(ATProtoError):
    """An identity that could not be resolved.

    Attributes:
        identifier: The DID or handle.
    """

    def __init__(self, identifier: str, reason: str) -> None:
        super().__init__(f"{_shorten(identifier)}: {reason}")
        self.identifier = identifier


class IdentityNotFound(ResolutionFailed):
    """Nobody goes by that name, or it has ended."""


class IdentityMismatch(ResolutionFailed):
    """A handle and a DID that do not name each other, or a handle that names several DIDs."""


class XRPCError(ATProtoError):
    """A service refused a call.

    Attributes:
        status: HTTP status.
        name: Name of the error as its Lexicon has it, such as `InvalidRequest`; empty if not told.
        message: For people.
        retry_after_s: How long to wait, s, where the service says so.
    """

    def __init__(
        self, status: int, name: str, message: str, *, retry_after_s: float | None = None
    ) -> None:
        said = ": ".join(part for part in (name, message[:500]) if part)
        super().__init__(f"HTTP {status}" + (f" {said}" if said else ""))
        self.status = status
        self.name = name
        self.message = message
        self.retry_after_s = retry_after_s


class XRPCUnavailable(XRPCError):
    """A service that may take the call later: 429 and 5xx."""

    retryable: ClassVar[bool] = True
