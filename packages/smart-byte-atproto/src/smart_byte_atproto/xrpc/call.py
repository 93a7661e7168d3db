"""Calls as HTTP: what is sent, and what an answer means.

Source: atproto specification "HTTP API (XRPC)"; reference section 13.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import quote, urlencode

from smart_byte_atproto.data import json as data_json
from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import (
    ATProtoError,
    InvalidData,
    ResponseInvalid,
    XRPCError,
    XRPCUnavailable,
)
from smart_byte_atproto.lexicon.query_string import encode_params
from smart_byte_atproto.syntax import NSID

JSON: Final = "application/json"
MAX_ANSWER: Final = 5 << 20
"""Longest answer that is read at once, bytes (ours)."""
_OK, _FIRST_ERROR, _TOO_MANY, _SERVER = 200, 400, 429, 500
_UNAVAILABLE: Final = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a method.

    Attributes:
        nsid: Name of the method.
        params: Go into the query string.
        data: Body as a value; None for none.
        body: Body as bytes, in place of `data`.
        encoding: Media type of `body`.
        is_procedure: Whether it changes something: POST, and never sent twice unless it is sure
            that the first was not taken.
        headers: Further ones.
        bearer: Token that goes with it, in place of the session's; empty for none at all.
    """

    nsid: str
    params: Mapping[str, Value] = field(default_factory=dict)
    data: Value = None
    body: bytes | None = None
    encoding: str = JSON
    is_procedure: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    bearer: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class HTTPCall:
    """A call as it is sent.

    Attributes:
        method: GET or POST.
        url: With the query string.
        headers: Names in lower case.
        content: The body; None for none.
    """

    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """What a service says of its limits; None where it does not.

    Attributes:
        limit: Calls in a window.
        remaining: Calls left in this one.
        reset_s: When the next begins, seconds since 1970.
        policy: As told, such as `3000;w=300`.
    """

    limit: int | None = None
    remaining: int | None = None
    reset_s: int | None = None
    policy: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method answered.

    Attributes:
        status: 200 to 299.
        headers: Names in lower case.
        body: All of it.
        host: Who answered.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    host: str = ""

    @property
    def encoding(self) -> str:
        """Media type, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def rate_limit(self) -> RateLimit:
        """What the service says of its limits."""
        return rate_limit(self.headers)

    def data(self) -> dict[str, Value]:
        """Return the body as a map.

        Raises:
            ResponseInvalid: It is not JSON of the data model, or no map.
        """
        if self.encoding != JSON:
            kind = self.encoding or "no media type"
            raise ResponseInvalid(self.host, f"{kind} in place of JSON", code="type")
        try:
            return data_json.loads_record(self.body, max_bytes=MAX_ANSWER, lenient=True)
        except InvalidData as bad:
            raise ResponseInvalid(self.host, str(bad), code="form") from bad


def build(service: str, call: Call, *, headers: Mapping[str, str] | None = None) -> HTTPCall:
    """Return a call as HTTP.

    Args:
        service: Origin of the service.
        call: What is called.
        headers: Of the client, which those of the call override.

    Raises:
        InvalidSyntax: The name of the method is no NSID.
        NotEncodable: A parameter or the body cannot be written.
    """
    nsid = NSID(call.nsid)
    query = urlencode(encode_params(call.params), quote_via=quote, safe="")
    url = f"{service}/xrpc/{nsid}" + (f"?{query}" if query else "")
    sent = {"accept": "*/*", **(headers or {}), **{k.lower(): v for k, v in call.headers.items()}}
    if call.bearer:
        sent["authorization"] = f"Bearer {call.bearer}"
    elif call.bearer == "":
        sent.pop("authorization", None)
    if not call.is_procedure:
        return HTTPCall("GET", url, sent)
    content = call.body
    if content is not None:
        sent["content-type"] = call.encoding
    elif call.data is not None:
        sent["content-type"] = JSON
        content = data_json.dumps(call.data).encode()
    return HTTPCall("POST", url, sent, content)


def judge(answer: Answer, *, now_s: float) -> Answer:
    """Return an answer that is one.

    Args:
        answer: As it came, whatever its status.
        now_s: Seconds since 1970, for dates in headers.

    Raises:
        XRPCError: The service refused; as `XRPCUnavailable` where it may not the next time.
        ResponseInvalid: A status that is no answer to a call.
    """
    if _OK <= answer.status < 300:  # noqa: PLR2004 - any success, RFC 9110 section 15.3
        return answer
    if answer.status < _FIRST_ERROR:
        raise ResponseInvalid(answer.host, f"HTTP {answer.status}", code="status")
    name, message = _said(answer)
    kind = XRPCUnavailable if answer.status in _UNAVAILABLE else XRPCError
    raise kind(
        answer.status, name, message, retry_after_s=retry_after_s(answer.headers, now_s=now_s)
    )


def _said(answer: Answer) -> tuple[str, str]:
    """Return the name and message of an error; proxies in between answer with anything."""
    try:
        fields = answer.data()
    except ATProtoError:
        return "", ""
    name, message = fields.get("error"), fields.get("message")
    return (
        name if isinstance(name, str) else "",
        message if isinstance(message, str) else "",
    )


def retry_after_s(headers: Mapping[str, str], *, now_s: float) -> float | None:
    """Return how long a service wants to be left alone, s; None if it does not say.

    `Retry-After` as seconds or as a date, else the end of the window of the rate limit.
    """
    text = headers.get("retry-after", "").strip()
    if text:
        seconds = _number(text)
        if seconds is not None:
            return float(seconds)
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - now_s)
        except (ValueError, TypeError, OverflowError):
            return None
    limits = rate_limit(headers)
    if limits.reset_s is not None and limits.remaining == 0:
        return max(0.0, limits.reset_s - now_s)
    return None


def rate_limit(headers: Mapping[str, str]) -> RateLimit:
    """Read the `RateLimit-*` headers."""
    return RateLimit(
        _number(headers.get("ratelimit-limit", "")),
        _number(headers.get("ratelimit-remaining", "")),
        _number(headers.get("ratelimit-reset", "")),
        headers.get("ratelimit-policy"),
    )


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None  # noqa: PLR2004


def finite(value: float | None, most: float) -> float | None:
    """Return a wait if it is one that may be waited, else None."""
    return value if value is not None and math.isfinite(value) and value <= most else None
