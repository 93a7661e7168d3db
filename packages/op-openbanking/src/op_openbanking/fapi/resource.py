"""Calls of a protected resource with a bound token.

The token goes into the Authorization header alone, never into a URL or a form, and only over a
connection that presents the certificate (or with a proof of the key) that it is bound to.

Source: FAPI 1.0 Baseline section 6.2.2; FAPI 1.0 Advanced section 6.2.2; RFC 8705 section 3; RFC
9449 section 7.
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Final
from urllib.parse import unquote, unquote_plus, urlsplit

from op_openbanking.errors import ConfigError, TokenInvalid
from op_openbanking.flow import Flow, Request, Response, fetch

from .client import CertificateBinding, Client
from .dpop import DPoPKey, with_proof
from .tokens import TokenSet

_UUID_BYTES: Final = 16
_INTERACTION_ID: Final = "x-fapi-interaction-id"


def call(client: Client, tokens: TokenSet, request: Request) -> Flow[Response]:
    """Send a request with a token.

    Args:
        client: The client that the token was issued to.
        tokens: From the flows of `tokens`.
        request: Without Authorization. `x-fapi-interaction-id` is added where it is absent;
            `x-fapi-auth-date` and `x-fapi-customer-ip-address` are statements about the customer
            and stay the caller's.

    Raises:
        TokenInvalid: Its check is `token-expired`, or `cnf-mismatch`: the token is bound to
            another certificate or key than the client holds by now.
        ConfigError: The token belongs to another client, stands in the URL, or would go over
            plain http.
    """
    prepared = authorized(client, tokens, request)
    if isinstance(client.binding, CertificateBinding):
        return (yield from fetch(prepared))

    def make() -> Flow[Request]:
        yield from ()
        return prepared

    return (
        yield from with_proof(
            client.binding,
            make,
            clock=client.clock,
            entropy=client.entropy,
            access_token=tokens.access_token,
        )
    )


def authorized(client: Client, tokens: TokenSet, request: Request) -> Request:
    """The same request with the token, pinned to the certificate that it is bound to.

    With a DPoP key the proof is still missing; `call` adds it.

    Raises:
        TokenInvalid: See `call`.
        ConfigError: See `call`.
    """
    if tokens.issuer != client.server.issuer or tokens.client_id != client.client_id:
        raise ConfigError("the tokens belong to another client")
    if tokens.bound_to != client.binding.thumbprint:
        raise TokenInvalid(
            "the access token is bound to a certificate or key that this client no longer uses; "
            "get a fresh one",
            check="cnf-mismatch",
            section="RFC 8705 3",
        )
    if tokens.expires_at_s is not None and client.clock() >= tokens.expires_at_s:
        raise TokenInvalid(
            "the access token has expired", check="token-expired", section="RFC 6749 5.1"
        )
    if request.header("authorization") is not None or _shows(request, tokens.access_token):
        raise ConfigError(
            "a token goes into the Authorization header alone, once [FAPI1-BASE 6.2.2-1]"
        )
    if urlsplit(request.url).scheme != "https":
        raise ConfigError("a token goes over https alone [RFC 6750 5.2, FAPI1-BASE 7.1]")
    scheme = "DPoP" if isinstance(client.binding, DPoPKey) else "Bearer"
    headers = [*request.headers, ("authorization", f"{scheme} {tokens.access_token}")]
    if request.header(_INTERACTION_ID) is None:
        identifier = uuid.UUID(bytes=client.entropy(_UUID_BYTES), version=4)
        headers.append((_INTERACTION_ID, str(identifier)))
    return replace(request, headers=tuple(headers), client_certificate=client.client_certificate)


def _shows(request: Request, token: str) -> bool:
    """Whether the token stands in the URL or in a form, plain or percent-encoded."""
    shown = [request.url, unquote(request.url)]
    if "x-www-form-urlencoded" in (request.header("content-type") or "").lower():
        body = request.body.decode("latin-1")
        shown += [body, unquote_plus(body)]
    return any(token in text for text in shown)
