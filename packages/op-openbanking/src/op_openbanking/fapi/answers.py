"""HTTP answers of an authorization server: JSON objects and OAuth errors.

Source: RFC 6749 sections 5.1 and 5.2; RFC 6750 section 3; RFC 9110 sections 10.2.3 and 15.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn

from op_openbanking.errors import (
    BankError,
    ConsentRequired,
    OpenBankingError,
    ProtocolViolation,
    RateLimited,
    TransportError,
    quoted,
)
from op_openbanking.flow import Response
from op_openbanking.jose.strict_json import parse_object

MAX_ANSWER_BYTES: Final = 256 * 1024
"""Ours: longest token, PAR, registration or metadata answer read."""
_CONSENT_ERRORS = frozenset(
    {"access_denied", "consent_required", "interaction_required", "invalid_grant", "login_required"}
)
_MAX_SECONDS_DIGITS = 9
_NUMBER_LIMIT: Final = 10**10
_TOO_MANY = 429
_SERVER_ERRORS = 500


@dataclass(frozen=True, slots=True)
class Members:
    """A JSON object of a peer, with typed access.

    Attributes:
        values: The members.
        what: Name of the answer, for errors.
        section: Section that describes it.
    """

    values: Mapping[str, object] = field(repr=False)
    what: str
    section: str

    def text(self, name: str) -> str:
        """A member that must be text and not empty.

        Raises:
            ProtocolViolation: Absent, empty or of another type.
        """
        value = self.values.get(name)
        if not isinstance(value, str) or not value:
            raise self.violation(name, "is missing or not text")
        return value

    def optional_text(self, name: str) -> str | None:
        """A member that is text where it is present; null counts as absent."""
        return None if self.values.get(name) is None else self.text(name)

    def optional_number(self, name: str) -> int | None:
        """A whole number from zero to below 10^10 where it is present; digits as text are accepted.

        Some servers send `expires_in` as text.

        Raises:
            ProtocolViolation: Something else.
        """
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, str) and value.isascii() and value.isdigit():
            value = int(value) if len(value) <= _MAX_SECONDS_DIGITS else -1
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _NUMBER_LIMIT:
            raise self.violation(name, "is not a whole number below 10^10")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty where absent."""
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.violation(name, "is not a list of texts")
        return tuple(value)

    def flag(self, name: str) -> bool:
        """A boolean; False where absent."""
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            raise self.violation(name, "is not true or false")
        return value

    def violation(self, name: str, problem: str) -> ProtocolViolation:
        """The error for one member."""
        return ProtocolViolation(f"{self.what}: {name} {problem}", section=self.section)


def read(response: Response, *, what: str, section: str, status: int) -> Members:
    """The JSON object of a good answer.

    Args:
        response: The answer.
        what: Its name, for errors.
        section: Section that describes it.
        status: The one good status.

    Raises:
        BankError: Another status; see `refused`.
        ProtocolViolation: The status is good and the body no JSON object.
    """
    if response.status != status:
        refused(response, what=what)
    if response.media_type not in {"application/json", "application/jwk-set+json"} and not (
        response.media_type.endswith("+json")
    ):
        raise ProtocolViolation(
            f"{what} is {quoted(response.media_type)}, not JSON", section=section
        )
    return Members(
        parse_object(response.body, what=what, limit_bytes=MAX_ANSWER_BYTES), what, section
    )


def refused(response: Response, *, what: str) -> NoReturn:
    """Raise the error of an answer that is not good.

    The description that a server gives is in `description` alone: it may quote what was sent.

    Raises:
        RateLimited: 429.
        TransportError: 5xx.
        ConsentRequired: `access_denied`, `invalid_grant` and the like.
        BankError: Everything else; `code` is the `error` member where there is one.
    """
    interaction_id = response.header("x-fapi-interaction-id")
    code, description = error_members(response)
    if response.status == _TOO_MANY:
        raise RateLimited(
            f"{what}: too many calls",
            retry_after_s=_seconds(response.header("retry-after")),
            code=code,
            interaction_id=interaction_id,
        )
    if response.status >= _SERVER_ERRORS:
        raise TransportError(
            f"{what}: the server answered HTTP {response.status}",
            retryable=False,
            retry_after_s=_seconds(response.header("retry-after")),
        )
    kind = ConsentRequired if code in _CONSENT_ERRORS else BankError
    raise kind(
        f"{what} was refused",
        status=response.status,
        code=code,
        interaction_id=interaction_id,
        description=description,
    )


def denied(error: str, description: str | None = None) -> NoReturn:
    """Raise the error of an authorization answer that carries `error`.

    Raises:
        ConsentRequired: The account owner said no or has to be asked.
        BankError: Everything else.
    """
    code = _plain(error, 80)
    kind = ConsentRequired if code in _CONSENT_ERRORS else BankError
    raise kind("the authorization was refused", code=code, description=_plain(description, 500))


def error_members(response: Response) -> tuple[str, str]:
    """`error` and `error_description` of an OAuth error; empty where the body is anything else."""
    try:
        members = parse_object(response.body, what="the error", limit_bytes=MAX_ANSWER_BYTES)
    except OpenBankingError:
        return "", ""
    return _plain(members.get("error"), 80), _plain(members.get("error_description"), 500)


def _plain(value: object, limit: int) -> str:
    """Text of a peer, one line of ASCII; RFC 6749 5.2 allows no more."""
    if not isinstance(value, str):
        return ""
    return "".join(c if c.isascii() and c.isprintable() else "?" for c in value[:limit])


def _seconds(text: str | None) -> float | None:
    plain = text is not None and text.isascii() and text.isdigit() and len(text) < 10  # noqa: PLR2004
    return float(text) if plain and text else None
