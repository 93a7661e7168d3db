"""Introspection and revocation.

Source: RFC 7662; RFC 7009.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from op_openbanking.errors import TokenInvalid
from op_openbanking.flow import Flow, Response, fetch, form

from .answers import read, refused
from .client import Client
from .metadata import Endpoint

_GOOD: Final = 200


@dataclass(frozen=True, slots=True)
class TokenStatus:
    """What the server says about a token.

    Attributes:
        active: Whether it may be used.
        members: Everything it says; `cnf`, `scope`, `exp`, `cdr_arrangement_id`.
    """

    active: bool
    members: Mapping[str, object] = field(repr=False)


def introspect(client: Client, token: str, *, hint: str = "access_token") -> Flow[TokenStatus]:
    """Ask the server about a token of ours.

    Args:
        client: The client.
        token: An access or refresh token.
        hint: `access_token` or `refresh_token`.

    Raises:
        TokenInvalid: With check `introspection`: the answer is of another issuer or client.
        BankError: The server refuses.
        ProtocolViolation: The answer has no `active`.
    """
    response = yield from _post(client, Endpoint.INTROSPECTION, token, hint)
    members = read(response, what="the introspection", section="RFC 7662 2.2", status=_GOOD)
    if "active" not in members.values:
        raise members.violation("active", "is missing")
    for name, own in (("iss", client.server.issuer), ("client_id", client.client_id)):
        if members.optional_text(name) not in (None, own):
            raise TokenInvalid(
                f"{name} of the introspection is another one",
                check="introspection",
                section="RFC 7662 2.2",
            )
    return TokenStatus(members.flag("active"), members.values)


def revoke(client: Client, token: str, *, hint: str = "refresh_token") -> Flow[None]:
    """Revoke a token; a token that is unknown to the server counts as revoked.

    Args:
        client: The client.
        token: An access or refresh token.
        hint: `access_token` or `refresh_token`.

    Raises:
        BankError: The server refuses.
    """
    response = yield from _post(client, Endpoint.REVOCATION, token, hint)
    if response.status != _GOOD:
        refused(response, what="the revocation")


def _post(client: Client, endpoint: Endpoint, token: str, hint: str) -> Flow[Response]:
    url = client.endpoint(endpoint)
    credentials = yield from client.credentials(url)
    return (
        yield from fetch(
            form(
                url,
                {"token": token, "token_type_hint": hint, **credentials},
                client_certificate=client.client_certificate,
            )
        )
    )
