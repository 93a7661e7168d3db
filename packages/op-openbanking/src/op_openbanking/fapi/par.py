"""Pushed authorization requests.

Source: RFC 9126 section 2; FAPI 1.0 Advanced 5.2.2-11; FAPI 2.0 Security Profile 5.3.3.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from op_openbanking.flow import Flow, Request, fetch, form

from .answers import read
from .client import Client
from .dpop import DPoPKey, with_proof
from .metadata import Endpoint

_SECTION: Final = "RFC 9126 2.2"
_CREATED: Final = 201
_MAX_URI_CHARS: Final = 4096


@dataclass(frozen=True, slots=True)
class PushedRequest:
    """A request that the server holds.

    Attributes:
        request_uri: Its name, good for one redirect.
        expires_at_s: When the server forgets it, in seconds since 1970.
    """

    request_uri: str
    expires_at_s: float


def push(client: Client, parameters: Mapping[str, str]) -> Flow[PushedRequest]:
    """Push an authorization request.

    Args:
        client: The client.
        parameters: `request` with a signed request object, or the plain parameters.

    Raises:
        BankError: The server refuses.
        ProtocolViolation: Its answer lacks `request_uri` or `expires_in`.
    """
    url = client.endpoint(Endpoint.PAR)

    def make() -> Flow[Request]:
        credentials = yield from client.credentials(url)
        return form(
            url, {**parameters, **credentials}, client_certificate=client.client_certificate
        )

    if isinstance(client.binding, DPoPKey):
        response = yield from with_proof(
            client.binding, make, clock=client.clock, entropy=client.entropy
        )
    else:
        response = yield from fetch((yield from make()))
    members = read(response, what="the pushed request", section=_SECTION, status=_CREATED)
    request_uri = members.text("request_uri")
    expires_in_s = members.optional_number("expires_in")
    if not expires_in_s:
        raise members.violation("expires_in", "is missing or zero")
    if len(request_uri) > _MAX_URI_CHARS or not request_uri.isascii():
        raise members.violation("request_uri", "is not a URI")
    return PushedRequest(request_uri, client.clock() + expires_in_s)
