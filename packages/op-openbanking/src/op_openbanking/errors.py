"""Every error that this package raises.

Branch on what you can do about it:

OpenBankingError
  ConfigError                 your side: fix the configuration or the call
    ExtraMissing                an optional library is not installed
    UnknownPlugin               no plug-in is registered under that name
    UnusableKey                 a key or certificate of yours cannot serve here
    InvalidValue                (ValueError) an amount, date, currency or code is not one
    CapabilityMissing           the standard, its version or this bank has no such operation
  SecurityError               a check refused; never retry, never use the message
    SignatureInvalid            a signature, or what it covers, does not hold
    KeyNotFound                 no key of the trusted set may verify this message
    TokenInvalid                a claim of a token does not hold
    StateMismatch               the answer does not belong to the request
    CertificateInvalid          a certificate does not say what it must say
    SignerMisbehaved            a signer returned something that is not the signature asked for
  ProtocolViolation           the peer broke its specification
    MalformedBody               a body is not the JSON that its standard says
    IllegalTransition           a consent cannot move as reported
    UnsafeLink                  a link for the next page must not be followed
  BankError                   the bank said no
    ConsentRequired             the account owner has to consent (again)
      ConsentExpired              its time is over
      ConsentRevoked              the owner or we ended it
      ReauthenticationRequired    it stands; the owner has to authenticate again
    AccessDenied                this client, certificate or consent may not do that
    RequestRefused              something in the request is wrong: `faults` say what and where
      ResourceUnknown             no such account, payment or consent
      LimitExceeded               a limit of the consent or the account does not allow it
      StateConflict               the resource is not in a state that allows it
    RateLimited                 retry after `retry_after_s`
    BankUnavailable             the bank failed; retry what may be repeated
  TransportError              retry, if the call may be repeated
    OutcomeUnknown              a payment may have been made: ask, do not pay again
    SignerUnavailable           the service that holds the key did not answer
  StoreFailed                 a store could not be read or written

`retryable` is part of the contract: it is False for everything but `RateLimited`,
`BankUnavailable` and `TransportError`, and a transport that cannot tell whether a payment was
received sets it to False on the instance. No message and no repr of this file carries a token, key
or proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field

_QUOTE_LIMIT = 80


def quoted(value: object, *, limit: int = _QUOTE_LIMIT) -> str:
    """Text of a peer, made safe for a message: one line, printable ASCII, cut at `limit`.

    Use it for names (algorithms, kids, issuers), never for tokens.
    """
    text = str(value) if isinstance(value, str) else repr(value)
    return ascii(text) if len(text) <= limit else f"{text[:limit]!a}..."


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that a bank found wrong.

    Attributes:
        code: The bank's or the standard's code, for example `UK.OBIE.Field.Missing`.
        path: Where in what was sent, as the bank wrote it; empty where it does not say.
        text: The bank's own words, unchecked: for a developer, never for a user.
    """

    code: str
    path: str = ""
    text: str = field(default="", repr=False)


class OpenBankingError(Exception):
    """Root of every error of this package.

    Attributes:
        retryable: Whether the same call may succeed later.
    """

    retryable: bool = False


class ConfigError(OpenBankingError):
    """The configuration or the call is wrong; the message says what and where."""


class ExtraMissing(ConfigError):
    """An optional library is not installed.

    Attributes:
        extra: Name of the extra that brings it, as in `pip install 'op-openbanking[aws]'`.
        feature: What was asked for.
    """

    def __init__(self, feature: str, *, extra: str) -> None:
        super().__init__(f"{feature} needs an extra: pip install 'op-openbanking[{extra}]'")
        self.feature = feature
        self.extra = extra


class UnknownPlugin(ConfigError):
    """No plug-in is registered under a name.

    Attributes:
        kind: Which plug-in point, for example `signer`.
        name: The name asked for.
        known: The registered names, sorted.
    """

    def __init__(self, kind: str, name: str, *, known: tuple[str, ...]) -> None:
        super().__init__(f"no {kind} is named {quoted(name)}; known: {', '.join(known)}")
        self.kind = kind
        self.name = name
        self.known = known


class UnusableKey(ConfigError):
    """A key or certificate of the caller cannot serve here: too short, wrong curve, unreadable."""


class CapabilityMissing(ConfigError):
    """The standard, its version or this bank does not offer an operation; nothing was sent.

    Attributes:
        standard: Registered name of the standard.
        version: Its version.
        bank: Name of the bank's profile.
        operation: What was asked for, for example `vrp-payment`.
        reason: Why it is not there.
    """

    def __init__(
        self, operation: str, *, standard: str, version: str, bank: str, reason: str
    ) -> None:
        super().__init__(f"{standard} {version} at {quoted(bank)} lacks {operation}: {reason}")
        self.standard = standard
        self.version = version
        self.bank = bank
        self.operation = operation
        self.reason = reason


class SecurityError(OpenBankingError):
    """A security check refused a message. Never retry with the same message.

    Attributes:
        check: Stable lower-case code of the check, for example `jws-alg`; safe to branch on.
        section: Specification and section with its rule in short, for example
            `FAPI1-ADV 8.6 (PS256 or ES256)`.
    """

    def __init__(self, message: str, *, check: str, section: str) -> None:
        super().__init__(f"{message} [{check}; {section}]")
        self.check = check
        self.section = section


class SignatureInvalid(SecurityError):
    """A signature does not hold, or its form is not allowed."""


class KeyNotFound(SecurityError):
    """No key of the trusted set may verify this message."""


class TokenInvalid(SecurityError):
    """A claim of a token does not hold."""


class StateMismatch(SecurityError):
    """An answer does not belong to the request that is pending."""


class CertificateInvalid(SecurityError):
    """A certificate does not say what it must say."""


class SignerMisbehaved(SecurityError):
    """A signer returned bytes that are not the signature asked for."""


class ProtocolViolation(OpenBankingError):
    """The peer broke its specification in a way that is not a security check.

    Attributes:
        section: Specification and section, where one applies.
    """

    def __init__(self, message: str, *, section: str = "") -> None:
        super().__init__(f"{message} [{section}]" if section else message)
        self.section = section


class BankError(OpenBankingError):
    """The bank refused.

    Attributes:
        status: HTTP status, or None where the refusal came by redirect.
        code: The bank's own code, for example `invalid_grant` or `UK.OBIE.Field.Invalid`.
        interaction_id: Correlation id to quote to the bank's support, where there is one.
        description: The bank's own words (`error_description`), unchecked: they may quote what was
            sent, so they are in no message and no repr. Show them to a developer, never to a user.
        faults: Each single thing that the bank found wrong, where it says so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        interaction_id: str | None = None,
        description: str = "",
        faults: tuple[Fault, ...] = (),
    ) -> None:
        facts = ", ".join(
            fact for fact in ("" if status is None else f"HTTP {status}", code) if fact
        )
        super().__init__(f"{message} [{facts}]" if facts else message)
        self.status = status
        self.code = code
        self.interaction_id = interaction_id
        self.description = description
        self.faults = faults


class ConsentRequired(BankError):
    """The consent is missing, expired, revoked or used up: send the account owner again."""


class ConsentExpired(ConsentRequired):
    """The time of the consent is over."""


class ConsentRevoked(ConsentRequired):
    """The account owner, the bank or we ended the consent."""


class ReauthenticationRequired(ConsentRequired):
    """The consent stands; the account owner has to authenticate again."""


class AccessDenied(BankError):
    """This client, its certificate or this consent may not do what was asked."""


class RequestRefused(BankError):
    """Something in the request is wrong; sending it again changes nothing."""


class ResourceUnknown(RequestRefused):
    """The bank knows no such account, payment, consent or page."""


class LimitExceeded(RequestRefused):
    """A limit of the consent, of the account or its funds does not allow it."""


class StateConflict(RequestRefused):
    """The resource is not in a state that allows it, or exists already."""


class BankUnavailable(BankError):
    """The bank failed (5xx).

    Attributes:
        retryable: Whether the request may be sent again: never a payment without a fixed key.
        retry_after_s: Seconds to wait, or None where the bank does not say.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool,
        retry_after_s: float | None = None,
        status: int | None = None,
        code: str = "",
        interaction_id: str | None = None,
    ) -> None:
        super().__init__(message, status=status, code=code, interaction_id=interaction_id)
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class RateLimited(BankError):
    """Too many calls.

    Attributes:
        retry_after_s: Seconds to wait, or None where the bank does not say.
    """

    retryable = True

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        status: int | None = 429,
        code: str = "",
        interaction_id: str | None = None,
    ) -> None:
        super().__init__(message, status=status, code=code, interaction_id=interaction_id)
        self.retry_after_s = retry_after_s


class TransportError(OpenBankingError):
    """The peer was not reached, or did not answer in time.

    Attributes:
        retryable: False where the request may have been received and must not be repeated.
        retry_after_s: Seconds to wait first, where that is known.
    """

    retryable = True

    def __init__(
        self, message: str, *, retryable: bool = True, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after_s = retry_after_s


class OutcomeUnknown(TransportError):
    """A payment was sent and nobody can say whether the bank took it.

    Never pay anew: ask the bank, or submit the same record again while `resumable`.

    Attributes:
        record: Key of the submission in the store.
        resumable: Whether submitting it again, under the same key and with the same octets, is
            still safe.
    """

    retryable = False

    def __init__(self, message: str, *, record: str, resumable: bool) -> None:
        super().__init__(f"{message} (record {quoted(record)})", retryable=False)
        self.record = record
        self.resumable = resumable


class StoreFailed(OpenBankingError):
    """A store could not be read or written.

    Attributes:
        retryable: Whether the same call may succeed later (the database was locked).
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class SignerUnavailable(TransportError):
    """The service or device that holds the key did not answer, or refused the call."""


# Bodies and values of the standards (`standards`, `model`).


class MalformedBody(ProtocolViolation):
    """A body is not strict JSON, not of its standard's shape, or holds a value of no meaning.

    Attributes:
        standard: Registered name of the standard, for example `uk-obie`.
        resource: What was being read, for example `accounts`.
        path: Where in the body, for example `$.Data.Account[3].AccountId`.
    """

    def __init__(self, message: str, *, standard: str, resource: str, path: str) -> None:
        super().__init__(f"{standard} {resource}, at {quoted(path, limit=200)}: {message}")
        self.standard = standard
        self.resource = resource
        self.path = path


class InvalidValue(ConfigError, ValueError):
    """A value of the caller is not one of its kind: an amount, a date, a currency, a code.

    Attributes:
        kind: What it should have been, for example `amount`.
        value: The text refused, cut to 80 characters.
    """

    def __init__(self, kind: str, value: object, *, expected: str) -> None:
        super().__init__(f"{kind} {quoted(value)} is not {expected}")
        self.kind = kind
        self.value = str(value)[:_QUOTE_LIMIT]


class IllegalTransition(ProtocolViolation):
    """A consent was reported to move in a way that its life does not know.

    Attributes:
        before: The status held.
        after: The status reported.
    """

    def __init__(self, before: str, after: str) -> None:
        super().__init__(f"a consent in {before} cannot become {after}")
        self.before = before
        self.after = after


class UnsafeLink(ProtocolViolation):
    """A link for the next page leads to another origin or path, or in a circle; it is not followed.

    Attributes:
        link: The link as the bank sent it, cut to 80 characters.
    """

    def __init__(self, message: str, *, link: str) -> None:
        super().__init__(f"{message}: {quoted(link)}")
        self.link = link[:_QUOTE_LIMIT]
