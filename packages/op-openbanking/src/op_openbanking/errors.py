"""Every error that this package raises.

Branch on what you can do about it:

OpenBankingError
  ConfigError                 your side: fix the configuration or the call
    ExtraMissing                an optional library is not installed
    UnknownPlugin               no plug-in is registered under that name
    UnusableKey                 a key or certificate of yours cannot serve here
    InvalidValue                (ValueError) an amount, date, currency or code is not one
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
    RateLimited                 retry after `retry_after_s`
  TransportError              retry, if the call may be repeated
    SignerUnavailable           the service that holds the key did not answer

`retryable` is part of the contract: it is False for everything but `RateLimited` and
`TransportError`, and a transport that cannot tell whether a payment was received sets it to
False on the instance. No message and no repr of this file carries a token, key or proof.
"""

from __future__ import annotations

_QUOTE_LIMIT = 80


def quoted(value: object, *, limit: int = _QUOTE_LIMIT) -> str:
    """Text of a peer, made safe for a message: one line, printable ASCII, cut at `limit`.

    Use it for names (algorithms, kids, issuers), never for tokens.
    """
    text = str(value) if isinstance(value, str) else repr(value)
    return ascii(text) if len(text) <= limit else f"{text[:limit]!a}..."


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
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        interaction_id: str | None = None,
        description: str = "",
    ) -> None:
        facts = ", ".join(
            fact for fact in ("" if status is None else f"HTTP {status}", code) if fact
        )
        super().__init__(f"{message} [{facts}]" if facts else message)
        self.status = status
        self.code = code
        self.interaction_id = interaction_id
        self.description = description


class ConsentRequired(BankError):
    """The consent is missing, expired, revoked or used up: send the account owner again."""


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
