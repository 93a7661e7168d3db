from __future__ import annotations

import json
from typing import Any

import pytest

from op_openbanking.errors import ConfigError, OpenBankingError, ProtocolViolation, TokenInvalid
from op_openbanking.fapi.metadata import (
    Document,
    Endpoint,
    discover,
    parse_metadata,
    well_known,
)
from op_openbanking.testing.authorization_server import ISSUER
from op_openbanking.testing.middle import ABSENT, changed_json


@pytest.mark.parametrize(
    ("issuer", "document", "url"),
    [
        (
            "https://a.example",
            Document.OPENID,
            "https://a.example/.well-known/openid-configuration",
        ),
        (
            "https://a.example/x/",
            Document.OPENID,
            "https://a.example/x/.well-known/openid-configuration",
        ),
        (
            "https://a.example/x",
            Document.OAUTH,
            "https://a.example/.well-known/oauth-authorization-server/x",
        ),
    ],
)
def test_well_known_urls_follow_their_specification(
    issuer: str, document: Document, url: str
) -> None:
    assert well_known(issuer, document=document) == url


@pytest.mark.parametrize(
    "issuer", ["http://a.example", "https://a.example?x=1", "https://a.example#x", "https://", "a"]
)
def test_an_issuer_is_an_https_url_without_query(issuer: str) -> None:
    with pytest.raises(ConfigError):
        well_known(issuer, document=Document.OPENID)


def test_discovery_reads_endpoints_and_aliases(world: Any) -> None:
    server = world.run(discover(ISSUER, document=Document.OAUTH))
    assert server.endpoint(Endpoint.TOKEN, mutual_tls=False) == f"{ISSUER}/token"
    assert server.endpoint(Endpoint.TOKEN, mutual_tls=True).startswith("https://mtls.")
    assert server.endpoint(Endpoint.JWKS, mutual_tls=True) == f"{ISSUER}/jwks"
    assert server.binds_tokens
    assert server.sends_issuer


@pytest.mark.parametrize("issuer", ["https://other.example", f"{ISSUER}/", ISSUER.upper()])
def test_refuses_the_document_of_another_issuer(world: Any, issuer: str) -> None:
    with pytest.raises(TokenInvalid) as caught:
        world.run(discover(ISSUER), lambda _, response: changed_json(response, issuer=issuer))
    assert caught.value.check == "issuer"


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": ABSENT},
        {"token_endpoint": ABSENT},
        {"jwks_uri": ABSENT},
        {"authorization_endpoint": 1},
        {"token_endpoint": "http://auth.bank.example/token"},
        {"token_endpoint": "https://auth.bank.example/token#x"},
        {"token_endpoint": "https://user@auth.bank.example/token"},
        {"token_endpoint": "https://[::1"},
        {"token_endpoint": "https://auth.bank.example:port/"},
        {"mtls_endpoint_aliases": []},
        {"mtls_endpoint_aliases": {"token_endpoint": "http://a.example"}},
        {"tls_client_certificate_bound_access_tokens": "yes"},
        {"token_endpoint_auth_methods_supported": "private_key_jwt"},
        {"token_endpoint_auth_methods_supported": [1]},
    ],
)
def test_a_document_with_one_member_wrong_is_the_peers_fault(
    world: Any, change: dict[str, object]
) -> None:
    with pytest.raises(ProtocolViolation):
        world.run(discover(ISSUER), lambda _, response: changed_json(response, **change))


@pytest.mark.parametrize("octets", [b"", b"[]", b"\xff", b"{", b'{"issuer":1}', b"[" * 99_999])
def test_octets_that_are_no_document_raise_typed_errors(octets: bytes) -> None:
    with pytest.raises(OpenBankingError):
        parse_metadata(octets, issuer=ISSUER)


def test_an_endpoint_that_is_absent_is_named(world: Any) -> None:
    members = {**world.server.metadata}
    del members["revocation_endpoint"]
    server = parse_metadata(json.dumps(members).encode(), issuer=ISSUER)
    assert not server.has(Endpoint.REVOCATION)
    with pytest.raises(ConfigError, match="has no revocation_endpoint"):
        server.endpoint(Endpoint.REVOCATION, mutual_tls=False)
