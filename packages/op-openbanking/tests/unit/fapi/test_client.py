from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from op_openbanking.errors import ConfigError, SignatureInvalid, TokenInvalid, UnknownPlugin
from op_openbanking.fapi.client import CertificateBinding, Client, Decryption
from op_openbanking.fapi.client_auth import Audience, PrivateKeyJWT, TLSClientAuth
from op_openbanking.fapi.dpop import DPoPKey
from op_openbanking.fapi.fapi1_advanced import FAPI1_ADVANCED
from op_openbanking.fapi.fapi2_security import FAPI2_SECURITY
from op_openbanking.fapi.metadata import Endpoint
from op_openbanking.fapi.profile import AnswerForm, Clause
from op_openbanking.fapi.profiles import PROFILES, profile
from op_openbanking.jose.algorithms import Algorithm
from op_openbanking.jose.jwe import DecryptionKey, encrypt_compact
from op_openbanking.jose.jwk import JWK
from op_openbanking.signing.local import LocalSigner
from op_openbanking.testing.middle import changed_url, parameters_of


def _without(server: Any, endpoint: Endpoint) -> Any:
    kept = {name: url for name, url in server.endpoints.items() if name is not endpoint}
    return replace(server, endpoints=kept)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_profile_names_a_section_for_each_rule(name: str) -> None:
    rules = profile(name)
    assert rules.name == name
    assert all(rules.section(clause) for clause in Clause)
    assert rules.answers
    assert rules.constraints
    assert {"PS256", "ES256"} == set(rules.algorithms)


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(UnknownPlugin, match="fapi1-advanced, fapi2-security"):
        profile("fapi3")


def test_fapi_1_does_not_bind_by_dpop(world: Any) -> None:
    key = DPoPKey(world.client_signer, world.client_signer.jwk)
    with pytest.raises(ConfigError, match=r"bound by dpop \[FAPI1-ADV 5\.2\.3-1"):
        replace(world.client, binding=key)


def test_a_server_must_say_that_it_binds_tokens(world: Any) -> None:
    server = replace(world.client.server, binds_tokens=False)
    with pytest.raises(ConfigError, match="does not say that it binds tokens"):
        replace(world.client, server=server)


def test_a_server_must_take_the_client_authentication(world: Any) -> None:
    server = replace(world.client.server, auth_methods=("client_secret_basic",))
    with pytest.raises(ConfigError, match="does not take private_key_jwt"):
        replace(world.client, server=server)


def test_request_objects_need_a_signer(world: Any) -> None:
    with pytest.raises(ConfigError, match="no request_signer"):
        replace(world.client, request_signer=None)


def test_a_signer_uses_ps256_or_es256(world: Any) -> None:
    signer = LocalSigner.from_key(rsa.generate_private_key(65537, 2048), alg="RS256")
    with pytest.raises(ConfigError, match=r"RS256.*FAPI1-ADV 8\.6"):
        replace(world.client, request_signer=signer)
    with pytest.raises(ConfigError, match="RS256"):
        PrivateKeyJWT(signer)
    with pytest.raises(ConfigError, match="RS256"):
        DPoPKey(signer, world.client_signer.jwk)


@pytest.mark.parametrize("answer", [AnswerForm.HYBRID, AnswerForm.JARM])
def test_only_the_registered_algorithm_is_accepted(world: Any, answer: AnswerForm) -> None:
    registered = frozenset({Algorithm.PS256})
    with pytest.raises(SignatureInvalid) as caught:
        world.finish(world.land(answer), token_algs=registered)
    assert caught.value.check == "jws-alg"
    assert world.finish(world.land(answer), token_algs=frozenset({Algorithm.ES256})).code
    with pytest.raises(ConfigError, match="token_algs"):
        replace(world.client, token_algs=frozenset({Algorithm.RS256}))


@pytest.mark.parametrize(
    "uri",
    [
        "http://tpp.example/callback",
        "https://tpp.example/callback#x",
        "tpp:callback",
        "https://",
        "",
    ],
)
def test_a_redirect_uri_is_https(world: Any, uri: str) -> None:
    with pytest.raises(ConfigError, match="redirect_uri must be https"):
        replace(world.client, redirect_uri=uri)
    assert replace(world.client, redirect_uri="http://127.0.0.1:8080/callback")


def test_tls_client_authentication_needs_a_certificate(make_world: Any) -> None:
    world = make_world(fapi2=True, dpop=True)
    with pytest.raises(ConfigError, match="needs the thumbprint"):
        replace(world.client, authentication=TLSClientAuth())


def test_fapi_2_addresses_assertions_to_the_issuer_alone(make_world: Any) -> None:
    world = make_world(fapi2=True)
    loose = PrivateKeyJWT(world.client_signer, audience=Audience.TOKEN_ENDPOINT)
    with pytest.raises(ConfigError, match="addressed to the issuer alone"):
        replace(world.client, authentication=loose)


def test_fapi_2_needs_an_endpoint_for_pushed_requests(make_world: Any) -> None:
    world = make_world(fapi2=True)
    with pytest.raises(ConfigError, match="no endpoint for pushed requests"):
        replace(world.client, server=_without(world.client.server, Endpoint.PAR))


def test_a_thumbprint_has_43_letters() -> None:
    with pytest.raises(ConfigError, match="43 letters"):
        CertificateBinding("0df0a674")


def test_the_alias_serves_only_mutual_tls(make_world: Any) -> None:
    world = make_world(fapi2=True, dpop=True)
    assert world.client.endpoint(Endpoint.TOKEN) == "https://auth.bank.example/token"
    presenting = replace(world.client, client_certificate="C" * 43)
    assert presenting.endpoint(Endpoint.TOKEN) == "https://mtls.bank.example/token"


def test_a_client_hides_its_keys(world: Any) -> None:
    assert isinstance(world.client, Client)
    assert "BEGIN" not in repr(world.client)
    secret = world.client_signer.key.private_numbers().private_value
    assert str(secret) not in repr(world.client)
    assert FAPI1_ADVANCED.title in repr(world.client)
    assert FAPI2_SECURITY.title not in repr(world.client)


def _encrypting(world: Any) -> tuple[Client, Any]:
    key = rsa.generate_private_key(65537, 2048)
    own = DecryptionKey(key, "enc-1")
    recipient = JWK(key.public_key(), kid="enc-1", use="enc")
    client = replace(world.client, decryption=Decryption((own,)))

    def encrypt(token: str) -> str:
        return encrypt_compact(
            token.encode(), recipient, alg="RSA-OAEP-256", enc="A256GCM", cty="JWT"
        )

    return client, encrypt


@pytest.mark.parametrize("answer", [AnswerForm.HYBRID, AnswerForm.JARM])
def test_encrypted_tokens_are_opened_first(world: Any, answer: AnswerForm) -> None:
    client, encrypt = _encrypting(world)
    name = "id_token" if answer is AnswerForm.HYBRID else "response"
    landed = world.land(answer)
    sealed = changed_url(landed, **{name: encrypt(parameters_of(landed)[name])})
    assert world.finish(sealed, decryption=client.decryption).code


def test_encryption_does_not_replace_the_signature(world: Any) -> None:
    client, encrypt = _encrypting(world)
    landed = world.land(AnswerForm.HYBRID)
    forged = world.forged(parameters_of(landed)["id_token"], nonce="another")
    sealed = changed_url(landed, id_token=encrypt(forged))
    with pytest.raises(TokenInvalid) as caught:
        world.finish(sealed, decryption=client.decryption)
    assert caught.value.check == "claim-nonce"


def test_an_encrypted_token_without_a_key_is_refused(world: Any) -> None:
    _, encrypt = _encrypting(world)
    landed = world.land(AnswerForm.HYBRID)
    sealed = changed_url(landed, id_token=encrypt(parameters_of(landed)["id_token"]))
    with pytest.raises(TokenInvalid, match="jwe-unexpected"):
        world.finish(sealed)


def test_a_redirect_uri_that_is_no_url_is_a_matter_of_configuration(world: Any) -> None:
    with pytest.raises(ConfigError, match="redirect_uri is not a URL"):
        replace(world.client, redirect_uri="https://[::1")


@pytest.mark.parametrize("leeway_s", [-1, 301, 10**9])
def test_clock_skew_is_bounded(world: Any, leeway_s: int) -> None:
    with pytest.raises(ConfigError, match="leeway_s"):
        replace(world.client, leeway_s=leeway_s)
