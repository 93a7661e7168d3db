"""From a client's bytes to requests, within limits; refuses what could be read in two ways.

A push decoder around llhttp: `feed` takes bytes, `requests` holds what is complete. It does
no I/O: the connection asks after each feed what is to be done.

llhttp itself refuses Content-Length beside Transfer-Encoding, a second Content-Length, line
folding, bare LF or CR, and NUL (RFC 9112 sections 2.2, 5.2, 6.3). What it lets pass and a
proxy must not is refused here: transfer codings other than `chunked`, a missing or repeated
Host, HTTP/0.9, and sizes above the limits.
"""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

import httptools

from eoc_distributed.config import Limits
from eoc_distributed.http import HTTPRequest, HTTPResponse

from .head_memo import HeadMemo
from .refusals import refusal

_AUTHORITY = re.compile(rb"[^/?#]*")
_DOT_SEGMENT = re.compile(rb"/(?:\.|%2e){1,2}(?:/|\\|%2f|%5c|$)", re.IGNORECASE)
"""`.` and `..` as parts of a path (RFC 3986 section 3.3), also in percent-encoding."""
_BODY_OVERHEAD_BYTES = 320 * 1024
"""Bytes of chunk extensions or trailers that may come without a byte of body; at least one
read of the event loop (256 KiB) must fit."""


class Arrival(NamedTuple):
    """A complete request, or the refusal of one that is not.

    Attributes:
        request: What was asked; empty if it was refused.
        refusal: The answer to a request that was refused; None for a good one.
        keep_alive: Whether another request may follow on the connection.
        http10: Whether the client speaks HTTP/1.0, and cannot read chunks.
    """

    request: HTTPRequest
    refusal: HTTPResponse | None
    keep_alive: bool
    http10: bool


class Intake:
    """Reads the requests of one connection.

    Attributes:
        requests: Complete requests and at most one refusal, which is the last.
        ahead_bytes: Bytes of bodies that have come in `requests` and after them; whoever takes
            a request takes its body off.
        in_head: Whether a head has begun and not ended.
        in_body: Whether a body has begun and not ended.
        wants_continue: Whether the client waits for `100 Continue`; whoever sends it clears this.
        refused: Whether a refusal is among `requests`; nothing is read after it.
    """

    __slots__ = (
        "_bad",
        "_body",
        "_body_size",
        "_head_size",
        "_headers",
        "_http10",
        "_known",
        "_limits",
        "_memo",
        "_parser",
        "_quiet",
        "_url",
        "ahead_bytes",
        "in_body",
        "in_head",
        "refused",
        "requests",
        "wants_continue",
    )

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._parser = httptools.HttpRequestParser(self)
        self._memo = HeadMemo()
        self._known: HTTPRequest | None = None
        self.requests: deque[Arrival] = deque()
        self.in_head = False
        self.in_body = False
        self.wants_continue = False
        self.refused = False
        self._url = b""
        self._http10 = False
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._body_size = 0
        self._head_size = 0
        self._quiet = 0
        self.ahead_bytes = 0
        self._bad: HTTPResponse | None = None

    def feed(self, data: bytes) -> None:
        """Take bytes; after a refusal they are dropped."""
        if self.refused:
            return
        known = self._known
        if known is not None:
            memo = self._memo
            length = memo.body_length(data)
            if 0 <= length <= self._limits.body_bytes:
                request = HTTPRequest(known.method, known.path, known.headers, data[memo.size :])
                self.ahead_bytes += length
                self.requests.append(Arrival(request, None, True, False))
                return
            self._known = None
        at_boundary = not (self.in_head or self.in_body or self.requests)
        self._parse(data)
        if at_boundary and len(self.requests) == 1:
            self._note(data, self.requests[0])

    def _note(self, data: bytes, arrival: Arrival) -> None:
        """Remember the head of a message that came alone and whole, if more may follow."""
        if (
            arrival.keep_alive
            and not arrival.http10
            and arrival.refusal is None
            and not (self.in_head or self.in_body)
            and self._memo.note(data)
        ):
            self._known = arrival.request

    def _parse(self, data: bytes | memoryview) -> None:
        self._quiet += len(data)
        try:
            while True:
                try:
                    self._parser.feed_data(data)
                    break
                except httptools.HttpParserUpgrade as upgrade:
                    if self.refused:
                        return
                    head = self._without_upgrade()
                    data = memoryview(data)[upgrade.args[0] :]
                    self._parser.feed_data(head)
        except httptools.HttpParserCallbackError:
            if self._bad is None:
                raise
            self._refuse(self._bad)
        except httptools.HttpParserError as error:
            if self.requests and not self.requests[-1].keep_alive:
                return  # the client said that nothing more would come
            self._refuse(refusal(400, f"not HTTP/1.1: {error}", code="bad_request"))
        else:
            self._check_pending(len(data))

    def _without_upgrade(self) -> bytes:
        """Return the last head without its offer to change protocols, for a parser of its own.

        The offer is answered as if it had not been made (RFC 9110 section 7.8); the body that
        the head announces is still to come, and belongs to this request.
        """
        method, version = self._parser.get_method(), self._parser.get_http_version()
        self._parser = httptools.HttpRequestParser(self)
        lines = [b"%b %b HTTP/%b" % (method, self._url, version.encode("ascii"))]
        lines += [b"%b: %b" % field for field in self._headers if field[0] != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def _check_pending(self, fed: int) -> None:
        """Bound what the parser holds of a head, chunk extension or trailer not yet ended."""
        if self.in_head:
            self._head_size += fed
            if self._head_size > self._limits.head_bytes + _BODY_OVERHEAD_BYTES:
                self._refuse(self._head_too_large())
        elif self.in_body and self._quiet > _BODY_OVERHEAD_BYTES:
            self._refuse(refusal(400, "chunk extensions or trailers too long", code="bad_request"))

    # Called by the parser.

    def on_message_begin(self) -> None:
        self.in_head = True
        self._url = b""
        self._headers = []
        self._body = []
        self._body_size = 0
        self._head_size = 0
        self._bad = None

    def on_url(self, url: bytes) -> None:
        self._url += url
        if len(self._url) > self._limits.url_bytes:
            self._stop(refusal(414, "the request target is too long", code="uri_too_long"))

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.in_head:
            return  # a trailer: dropped, as RFC 9110 section 6.5.1 allows
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        version = self._parser.get_http_version()
        if version not in ("1.1", "1.0"):
            self._stop(refusal(505, "HTTP/1.1 is spoken here", code="http_version"))
        if self._parser.get_method() == b"CONNECT":
            self._stop(refusal(405, "this is no tunnel", code="method_not_allowed"))
        if _DOT_SEGMENT.search(self._url.partition(b"?")[0]):
            self._stop(refusal(400, "the path has dot segments", code="bad_request"))
        length, chunked, expects = self._framing(version)
        if length > self._limits.body_bytes:
            self._stop(self._body_too_large())
        self._http10 = version == "1.0"
        self.in_head = False
        self.in_body = True
        self._quiet = 0
        self.wants_continue = expects and version == "1.1" and (chunked or length > 0)

    def _framing(self, version: str) -> tuple[int, bool, bool]:
        """Return the length announced, whether chunks come, and whether the client waits."""
        hosts = length = codings = 0
        expects = False
        size = len(self._url)
        for name, value in self._headers:
            size += len(name) + len(value) + 4
            if name == b"content-length":
                length = int(value)
            elif name == b"host":
                hosts += 1
            elif name == b"transfer-encoding":
                codings += 1
                if value.lower() != b"chunked" or codings > 1 or version == "1.0":
                    self._stop(refusal(501, "only chunked is understood", code="not_implemented"))
            elif name == b"expect":
                expects = True
                if value.lower() != b"100-continue":
                    self._stop(refusal(417, "unknown expectation", code="expectation_failed"))
        if len(self._headers) > self._limits.header_count or size > self._limits.head_bytes:
            self._stop(self._head_too_large())
        if hosts > 1 or (hosts == 0 and version == "1.1"):
            self._stop(refusal(400, "one Host header is needed", code="bad_request"))
        return length, codings > 0, expects

    def on_body(self, data: bytes) -> None:
        self._quiet = 0
        self.wants_continue = False
        self._body_size += len(data)
        self.ahead_bytes += len(data)
        if self._body_size > self._limits.body_bytes:
            self._stop(self._body_too_large())
        self._body.append(data)

    def on_message_complete(self) -> None:
        if self._parser.should_upgrade():
            return  # read once more, without the offer
        body = self._body
        request = HTTPRequest(
            self._parser.get_method().decode("ascii"),
            _origin_form(self._url),
            tuple([field for field in self._headers if field[0] != b"content-length"]),
            body[0] if len(body) == 1 else b"".join(body),
        )
        # Asked for here: once the callback has returned, the parser says False.
        keep_alive = self._parser.should_keep_alive()
        http10 = self._http10
        self.in_body = self.in_head = self.wants_continue = False
        self._body = []
        self.requests.append(Arrival(request, None, keep_alive, http10))

    def _head_too_large(self) -> HTTPResponse:
        return refusal(431, "the headers are too large", code="headers_too_large")

    def _body_too_large(self) -> HTTPResponse:
        limit = self._limits.body_bytes
        return refusal(
            413, f"the body is larger than {limit} bytes", code="request_too_large", param=None
        )

    def _stop(self, answer: HTTPResponse) -> None:
        """Leave the parser with a refusal."""
        if self._bad is None:
            self._bad = answer
        raise ValueError("refused")

    def _refuse(self, answer: HTTPResponse) -> None:
        self.refused = True
        self.in_head = self.in_body = self.wants_continue = False
        self._body = []
        self.requests.append(Arrival(HTTPRequest("", ""), answer, False, False))

    def time_out(self) -> None:
        """Refuse the request that has begun and does not end."""
        if not self.refused:
            self._refuse(refusal(408, "the request took too long", code="request_timeout"))


def _origin_form(target: bytes) -> str:
    """Return path and query of a request target, which may be a whole URL (RFC 9112, 3.2.2)."""
    if not target.startswith(b"/") and b"://" in target:
        _, _, rest = target.partition(b"://")
        authority = _AUTHORITY.match(rest)
        target = rest[authority.end() :] if authority is not None else b""
        if not target.startswith(b"/"):
            target = b"/" + target  # an empty path, perhaps with a query
    return target.decode("latin-1")
