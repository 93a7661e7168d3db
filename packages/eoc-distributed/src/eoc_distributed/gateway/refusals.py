"""Refusals in the shape of the OpenAI API: `{"error": {message, type, param, code}}`."""

from __future__ import annotations

import msgspec

from eoc_distributed.http import Headers, HTTPResponse

from .body import Whole

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_SERVER_ERROR = 500


def error_json(
    status: int,
    message: str,
    *,
    code: str | int,
    param: str | None = None,
    kind: str | None = None,
) -> bytes:
    """Return an error object; its type follows from the status unless `kind` says it."""
    if kind is None:
        kind = _TYPES.get(status)
    if kind is None:
        kind = "server_error" if status >= _SERVER_ERROR else "invalid_request_error"
    error = {"message": message, "type": kind, "param": param, "code": code}
    return msgspec.json.encode({"error": error})


def refusal(
    status: int,
    message: str,
    *,
    code: str,
    param: str | None = None,
    retry_after_s: int | None = None,
    headers: Headers = (),
) -> HTTPResponse:
    """Return an error response.

    Args:
        status: 400 to 599.
        message: For people.
        code: For programs; stable.
        param: Field of the request that is wrong.
        retry_after_s: When to try again, whole seconds.
        headers: Further headers.
    """
    if retry_after_s is not None:
        headers = (*headers, (b"retry-after", b"%d" % retry_after_s))
    return json_response(
        error_json(status, message, code=code, param=param), status=status, headers=headers
    )


def json_response(data: bytes, *, status: int = 200, headers: Headers = ()) -> HTTPResponse:
    """Return a JSON response whose body is here."""
    return HTTPResponse(
        status,
        (
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(data)),
            *headers,
        ),
        Whole(data),
    )
