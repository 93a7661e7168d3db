from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from op_openbanking.fapi.fapi1_advanced import FAPI1_ADVANCED
from op_openbanking.fapi.metadata import Endpoint, parse_metadata
from op_openbanking.fapi.profile import AuthMethod
from op_openbanking.fapi.registration import Dialect, SignedRequest, client_metadata, register
from op_openbanking.fapi.software_statement import SoftwareStatement
from op_openbanking.flow import Request, Response, run
from op_openbanking.jose.jws import peek
from op_openbanking.jose.jwt import sign_jwt
from op_openbanking.signing.local import LocalSigner

pytestmark = pytest.mark.conformance
EXAMPLES = "specs/openbanking/cdr/examples"


def example(shared: Path, name: str) -> dict[str, object]:
    members: dict[str, object] = json.loads((shared / EXAMPLES / f"{name}.json").read_bytes())
    return members


class Registry:
    """Answers a registration with the example of the standard."""

    def __init__(self, answer: dict[str, object]) -> None:
        self.answer = answer
        self.sent: list[Request] = []

    def send(self, request: Request) -> Response:
        self.sent.append(request)
        body = json.dumps(self.answer).encode()
        return Response(201, (("content-type", "application/json"),), body)


def test_cdr_metadata_is_read(shared: Path) -> None:
    members = example(shared, "oidc_provider_configuration_01")
    server = parse_metadata(json.dumps(members).encode(), issuer="https://www.dh.com.au")
    assert server.binds_tokens
    assert server.requires_par
    assert server.endpoint(Endpoint.PAR, mutual_tls=True) == "https://data.holder.com.au/par"


def test_a_cdr_registration_has_every_claim_of_the_example(shared: Path) -> None:
    signer = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()))
    statement = SoftwareStatement.parse(sign_jwt(example(shared, "client_registration_03"), signer))
    asked = example(shared, "client_registration_05")
    answer = example(shared, "client_registration_08")
    redirects = statement.redirect_uris
    metadata = client_metadata(
        FAPI1_ADVANCED,
        redirect_uris=redirects,
        auth_method=AuthMethod.PRIVATE_KEY_JWT,
        scope="openid",
        extra={
            "id_token_encrypted_response_alg": "RSA-OAEP",
            "id_token_encrypted_response_enc": "A256GCM",
        },
    )
    configuration = example(shared, "oidc_provider_configuration_01")
    server = parse_metadata(json.dumps(configuration).encode(), issuer="https://www.dh.com.au")
    registry = Registry(answer)
    made = run(
        register(
            server,
            metadata,
            clock=lambda: 1_571_908_322.0,
            entropy=bytes,
            dialect=Dialect.CDR,
            signing=SignedRequest(signer, statement, audience=server.issuer),
        ),
        registry,
    )
    claims = json.loads(peek(registry.sent[0].body)[1])
    assert set(asked) <= set(claims)
    for name in ("redirect_uris", "grant_types", "token_endpoint_auth_method", "application_type"):
        assert claims[name] == asked[name] or sorted(claims[name]) == sorted(asked[name])  # type: ignore[call-overload]
    assert claims["iss"] == statement.software_id
    assert made.client_id == answer["client_id"]
    assert made.members["software_id"] == answer["software_id"]
