"""Discovery of an authorization server.

The document is believed only if its `issuer` is the one asked for, letter by letter; every
endpoint must be https. Endpoints for mutual TLS may have aliases (RFC 8705 section 5): `endpoint`
picks them.

Source: OpenID Connect Discovery 1.0 section 4; RFC 8414 section 3; RFC 8705 section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from urllib.parse import urlsplit

from op_openbanking.errors import ConfigError, ProtocolViolation, TokenInvalid, quoted
from op_openbanking.flow import Flow, Request, fetch, split_url
from op_openbanking.jose.strict_json import parse_object

from .answers import MAX_ANSWER_BYTES, Members, read

_SECTION = "OpenID Connect Discovery 4.3 (issuer must match)"


class Document(StrEnum):
    """Which well-known document describes the server."""

    OPENID = "openid-configuration"
    OAUTH = "oauth-authorization-server"


class Endpoint(StrEnum):
    """An endpoint, by its name in the metadata."""

    AUTHORIZATION = "authorization_endpoint"
    TOKEN = "token_endpoint"  # noqa: S105 (a name)
    PAR = "pushed_authorization_request_endpoint"
    INTROSPECTION = "introspection_endpoint"
    REVOCATION = "revocation_endpoint"
    REGISTRATION = "registration_endpoint"
    JWKS = "jwks_uri"


_REQUIRED: Final = (Endpoint.AUTHORIZATION, Endpoint.TOKEN, Endpoint.JWKS)


@dataclass(frozen=True, slots=True)
class ServerMetadata:
    """What an authorization server says about itself, checked.

    Attributes:
        issuer: Its identifier, the value of every `iss`.
        endpoints: URL of each endpoint it has.
        aliases: URL of those that differ for mutual TLS.
        auth_methods: Client authentications it takes; empty where it does not say.
        binds_tokens: Whether it says that access tokens are bound to client certificates.
        sends_issuer: Whether it says that authorization answers carry `iss` (RFC 9207).
        requires_par: Whether it takes pushed requests only.
        members: The whole document.
    """

    issuer: str
    endpoints: Mapping[Endpoint, str]
    aliases: Mapping[Endpoint, str]
    auth_methods: tuple[str, ...] = ()
    binds_tokens: bool = False
    sends_issuer: bool = False
    requires_par: bool = False
    members: Mapping[str, object] = field(default_factory=dict, repr=False)

    def has(self, endpoint: Endpoint) -> bool:
        """Whether the server has an endpoint."""
        return endpoint in self.endpoints

    def endpoint(self, endpoint: Endpoint, *, mutual_tls: bool) -> str:
        """URL of an endpoint.

        Args:
            endpoint: Which.
            mutual_tls: Whether the client certificate will be presented there: then the alias
                holds where there is one.

        Raises:
            ConfigError: The server does not have it.
        """
        if mutual_tls and endpoint in self.aliases:
            return self.aliases[endpoint]
        try:
            return self.endpoints[endpoint]
        except KeyError:
            raise ConfigError(f"{quoted(self.issuer)} has no {endpoint.value}") from None


def discover(issuer: str, *, document: Document = Document.OPENID) -> Flow[ServerMetadata]:
    """Fetch and check the metadata of an issuer.

    Args:
        issuer: An https URL without query and fragment.
        document: Which well-known document to ask for.

    Raises:
        TokenInvalid: With check `issuer`: the document is of another issuer.
        ProtocolViolation: It is not JSON, or an endpoint is missing or not https.
        BankError: The server answered with an error.
        ConfigError: The issuer is no such URL.
    """
    response = yield from fetch(
        Request(
            "GET",
            well_known(issuer, document=document),
            headers=(("accept", "application/json"),),
            idempotent=True,
            max_response_bytes=MAX_ANSWER_BYTES,
        )
    )
    members = read(response, what="the metadata", section=_SECTION, status=200)
    return _checked(members, issuer=issuer)


def well_known(issuer: str, *, document: Document) -> str:
    """URL of a well-known document.

    OpenID appends to the issuer's path, RFC 8414 inserts before it.

    Raises:
        ConfigError: The issuer has a query or a fragment, or is not https.
    """
    parts = split_url(issuer, what="the issuer")
    if parts.query or parts.fragment or parts.scheme != "https" or not parts.netloc:
        raise ConfigError("an issuer is an https URL without query and fragment")
    path = parts.path.rstrip("/")
    tail = f"/.well-known/{document.value}"
    return f"https://{parts.netloc}{path + tail if document is Document.OPENID else tail + path}"


def parse_metadata(octets: bytes, *, issuer: str) -> ServerMetadata:
    """Read a metadata document that came by another way.

    Raises:
        TokenInvalid: See `discover`.
        ProtocolViolation: See `discover`.
    """
    members = parse_object(octets, what="the metadata", limit_bytes=MAX_ANSWER_BYTES)
    return _checked(Members(members, "the metadata", _SECTION), issuer=issuer)


def _checked(members: Members, *, issuer: str) -> ServerMetadata:
    named = members.text("issuer")
    if named != issuer:
        raise TokenInvalid(
            f"the metadata is of {quoted(named)}, asked was {quoted(issuer)}",
            check="issuer",
            section=_SECTION,
        )
    endpoints = _endpoints(members)
    for required in _REQUIRED:
        if required not in endpoints:
            raise members.violation(required.value, "is missing")
    aliases = members.values.get("mtls_endpoint_aliases", {})
    if not isinstance(aliases, dict):
        raise members.violation("mtls_endpoint_aliases", "is not an object")
    return ServerMetadata(
        issuer=issuer,
        endpoints=endpoints,
        aliases=_endpoints(Members(aliases, "mtls_endpoint_aliases", "RFC 8705 5")),
        auth_methods=members.texts("token_endpoint_auth_methods_supported"),
        binds_tokens=members.flag("tls_client_certificate_bound_access_tokens"),
        sends_issuer=members.flag("authorization_response_iss_parameter_supported"),
        requires_par=members.flag("require_pushed_authorization_requests"),
        members=members.values,
    )


def _endpoints(members: Members) -> dict[Endpoint, str]:
    found: dict[Endpoint, str] = {}
    for endpoint in Endpoint:
        url = members.optional_text(endpoint.value)
        if url is not None:
            found[endpoint] = _https(members, endpoint.value, url)
    return found


def _https(members: Members, name: str, url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme == "https" and bool(parts.hostname) and not parts.fragment
        _ = parts.port
    except ValueError as error:
        raise ProtocolViolation(f"{members.what}: {name} is not a URL") from error
    if not usable or not url.isascii() or not url.isprintable() or parts.username is not None:
        raise members.violation(name, "is not an https URL without fragment")
    return url
