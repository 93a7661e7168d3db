"""Answers that are not good, of every standard and every gateway, as one taxonomy of errors.

The body decides, not its media type: banks send OAuth errors at resources, gateways HTML, proxies
nothing. Six forms are told apart by their members; what is none of them is an error without a
code. Codes that a standard gives a meaning are looked up in its table (`MEANINGS` of each
standard); then the HTTP status speaks. A bank's own code under a known namespace changes nothing.

No body can make this fail: it is bounded, read strictly, and read without trust.

Source: OBIE 3.1.11 OBErrorResponse1; Berlin Group 1.3.12 section 4.14 (tppMessages, RFC 7807);
STET 1.4.0.47 ErrorModel; CDR 1.31 ResponseErrorListV2; FDX 6 Error; RFC 6749 5.2; RFC 9457.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NoReturn

from op_openbanking.errors import (
    AccessDenied,
    BankError,
    BankUnavailable,
    ConsentExpired,
    ConsentRequired,
    ConsentRevoked,
    Fault,
    ProtocolViolation,
    RateLimited,
    ReauthenticationRequired,
    RequestRefused,
    ResourceUnknown,
    StateConflict,
)
from op_openbanking.flow import Request, Response
from op_openbanking.http.retry import retry_after_s
from op_openbanking.jose.strict_json import parse_object

MAX_ERROR_BYTES: Final = 256 * 1024
_MAX_FAULTS: Final = 50
_MAX_TEXT: Final = 500
_SERVER_ERRORS: Final = 500
_REDIRECTS: Final = 300
_TOO_MANY: Final = 429
_UNAUTHORIZED: Final = 401

Meanings = Mapping[str, type[BankError]]

_STATUSES: Final[Mapping[int, type[BankError]]] = {
    400: RequestRefused,
    403: AccessDenied,
    404: ResourceUnknown,
    405: RequestRefused,
    406: RequestRefused,
    409: StateConflict,
    410: ResourceUnknown,
    415: RequestRefused,
    422: RequestRefused,
}
_OAUTH: Final[Meanings] = {
    "invalid_token": ConsentRequired,
    "invalid_grant": ConsentRequired,
    "access_denied": ConsentRequired,
    "login_required": ReauthenticationRequired,
    "insufficient_scope": AccessDenied,
    "unauthorized_client": AccessDenied,
    "invalid_client": AccessDenied,
}
_FIRST: Final = (
    ConsentRevoked,
    ConsentExpired,
    ReauthenticationRequired,
    ConsentRequired,
)
"""Among several faults of one answer, what the caller can act on wins."""


def refuse(
    response: Response,
    request: Request,
    *,
    meanings: Meanings,
    now_s: float,
    unauthorized: type[BankError] = ConsentRequired,
) -> NoReturn:
    """Raise the error of an answer that is not good.

    Args:
        response: The answer, of any status but the good ones.
        request: What was asked, to say whether it may be sent again.
        meanings: The standard's codes that mean more than their status.
        now_s: Seconds since 1970, to read a date in `Retry-After`.
        unauthorized: What a 401 without a telling code means: for the client's own token it has
            nothing to do with the owner.

    Raises:
        BankError: Always; one of its kinds.
    """
    faults = faults_of(response)
    code = faults[0].code if faults else ""
    interaction_id = (
        request.header("x-fapi-interaction-id")
        or request.header("x-request-id")
        or response.header("x-fapi-interaction-id")
    )
    wait_s = retry_after_s(response, now_s=now_s)
    kind = _kind(response.status, faults, meanings, unauthorized)
    if kind is RateLimited or response.status == _TOO_MANY:
        raise RateLimited(
            "the bank asks for fewer calls",
            retry_after_s=wait_s,
            status=response.status,
            code=code,
            interaction_id=interaction_id,
        )
    if response.status >= _SERVER_ERRORS or kind is BankUnavailable:
        raise BankUnavailable(
            "the bank failed",
            retryable=request.idempotent or request.method == "GET",
            retry_after_s=wait_s,
            status=response.status,
            code=code,
            interaction_id=interaction_id,
        )
    raise kind(
        _WORDS.get(kind, "the bank refuses"),
        status=response.status,
        code=_telling(kind, faults, meanings) or code,
        interaction_id=interaction_id,
        description=faults[0].text if faults else "",
        faults=faults,
    )


def faults_of(response: Response) -> tuple[Fault, ...]:
    """What an error body says, in whatever form; empty where it says nothing readable."""
    if not response.body or len(response.body) > MAX_ERROR_BYTES:
        return ()
    try:
        members = parse_object(response.body, what="the error", limit_bytes=MAX_ERROR_BYTES)
    except ProtocolViolation:
        return ()
    return tuple(_faults(members))[:_MAX_FAULTS]


def _faults(members: Mapping[str, object]) -> list[Fault]:
    for name, code, path, text in _LISTS:
        rows = members.get(name)
        if isinstance(rows, list):
            found = [_fault(row, code, path, text) for row in rows if isinstance(row, dict)]
            if any(fault.code for fault in found):
                return [fault for fault in found if fault.code]
    words = next((text for name in _WORDS_IN if (text := _text(members.get(name)))), "")
    stated = next((code for name in _CODES_IN if (code := _text(members.get(name)))), "")
    return [Fault(stated, text=words)] if stated else []


# One row for each form with a list: the list's member, and in a row its code, path and words.
_LISTS: Final = (
    ("Errors", "ErrorCode", "Path", "Message"),  # OBIE
    ("tppMessages", "code", "path", "text"),  # Berlin Group
    ("errors", "code", "detail", "title"),  # CDR
)
# Forms without a list. Code: RFC 7807 as Berlin Group has it, FDX; OBIE; OAuth, STET; RFC 7807.
_CODES_IN: Final = ("code", "Code", "error", "type")
_WORDS_IN: Final = ("detail", "error_description", "message", "Message", "title")


def _fault(row: Mapping[str, object], code: str, path: str, text: str) -> Fault:
    # CDR: a holder's own code stands in `code`, and then `meta.urn` has the standard's.
    meta = row.get("meta")
    urn = _text(meta.get("urn")) if isinstance(meta, dict) else ""
    return Fault(urn or _text(row.get(code)), _text(row.get(path)), _text(row.get(text)))


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)[:_MAX_TEXT]
    return value[:_MAX_TEXT] if isinstance(value, str) else ""


def _kind(
    status: int, faults: tuple[Fault, ...], meanings: Meanings, unauthorized: type[BankError]
) -> type[BankError]:
    found = [
        meaning
        for fault in faults
        if (meaning := meanings.get(fault.code) or _OAUTH.get(fault.code)) is not None
    ]
    for wanted in _FIRST:
        if wanted in found:
            return wanted
    if found:
        return found[0]
    if status < _REDIRECTS:
        return BankError
    if status == _UNAUTHORIZED:
        return unauthorized
    return _STATUSES.get(status, RequestRefused if status > _REDIRECTS else BankError)


def _telling(kind: type[BankError], faults: tuple[Fault, ...], meanings: Meanings) -> str:
    """The code that decided."""
    known = {**_OAUTH, **meanings}
    return next((fault.code for fault in faults if known.get(fault.code) is kind), "")


_WORDS: Final[Mapping[type[BankError], str]] = {
    ConsentRequired: "the account owner has to consent again",
    ConsentExpired: "the consent has expired",
    ConsentRevoked: "the consent was revoked",
    ReauthenticationRequired: "the account owner has to authenticate again",
    AccessDenied: "the bank does not allow that",
    RequestRefused: "the bank refuses the request",
    ResourceUnknown: "the bank knows no such resource",
    StateConflict: "the resource is not in a state for that",
}
