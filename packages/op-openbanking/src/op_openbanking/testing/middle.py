"""Somebody in the middle, who changes one thing at a time.

For tests of refusals. The middle holds the server's own signing key where a test gives it one, so
that a changed claim comes with a good signature and the check of the claim itself is what refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from op_openbanking.flow import Request, Response, Transport
from op_openbanking.jose.jws import peek, prepare
from op_openbanking.jose.strict_json import encode_object, parse_object
from op_openbanking.signing.base import Signer

ABSENT: Final = object()
"""Put in place of a value: the member is removed."""


class Middle:
    """A transport around another that changes answers.

    Args:
        inner: The way to the server.
        change: Given a request and its answer, returns the answer to hand on.
    """

    def __init__(self, inner: Transport, change: Callable[[Request, Response], Response]) -> None:
        self._inner = inner
        self._change = change

    def send(self, request: Request) -> Response:
        return self._change(request, self._inner.send(request))


def changed_json(response: Response, **changes: object) -> Response:
    """The same answer with members of its JSON object changed."""
    members = parse_object(response.body, what="the answer", limit_bytes=1 << 20)
    return replace(response, body=encode_object(_changed(members, changes)))


def changed_token(
    token: str,
    signer: Signer,
    *,
    claims: Mapping[str, object] | None = None,
    header: Mapping[str, object] | None = None,
) -> str:
    """The same token with claims or header members changed, signed again.

    Args:
        token: A compact JWT.
        signer: With which key.
        claims: Claims; `ABSENT` removes one.
        header: Header members; `kid` may differ from the signer's.
    """
    old_header, payload = peek(token)
    members = parse_object(payload, what="the token", limit_bytes=1 << 20)
    merged = _changed(dict(old_header), {"alg": ABSENT, **(header or {})})
    kid = merged.pop("kid", None)
    ready = prepare(
        encode_object(_changed(members, claims or {})),
        alg=signer.alg,
        kid=kid if isinstance(kid, str) else None,
        header=merged,
    )
    return ready.attach(signer.sign(ready.octets))


def changed_url(url: str, **changes: object) -> str:
    """The same URL with parameters of its fragment, or else of its query, changed."""
    parts = urlsplit(url)
    in_fragment = bool(parts.fragment)
    pairs = dict(parse_qsl(parts.fragment if in_fragment else parts.query, keep_blank_values=True))
    text = urlencode({name: str(value) for name, value in _changed(pairs, changes).items()})
    query = parts.query if in_fragment else text
    return urlunsplit((*parts[:3], query, text if in_fragment else parts.fragment))


def parameters_of(url: str) -> dict[str, str]:
    """Parameters of the fragment of a URL, or else of its query."""
    parts = urlsplit(url)
    return dict(parse_qsl(parts.fragment or parts.query, keep_blank_values=True))


def _changed(members: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    merged = {**members, **changes}
    return {name: value for name, value in merged.items() if value is not ABSENT}
