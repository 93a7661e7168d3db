from __future__ import annotations

import json
from typing import Any

import pytest

from op_openbanking.errors import ProtocolViolation
from op_openbanking.fapi.dpop import with_proof
from op_openbanking.fapi.pkce import challenge
from op_openbanking.flow import Flow, Request, Response
from op_openbanking.jose.jws import peek


def test_a_proof_covers_method_url_and_token(make_world: Any) -> None:
    world = make_world(fapi2=True, dpop=True)
    key = world.client.binding
    proof = world.run(
        key.proof(
            method="GET",
            url="https://api.bank.example/a?b=c",
            now_s=world.now_s,
            entropy=world.client.entropy,
            access_token="Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU",
        )
    )
    header, payload = peek(proof)
    claims = json.loads(payload)
    assert header["typ"] == "dpop+jwt"
    assert header["jwk"] == key.jwk.required_members()
    assert "kid" not in header
    assert "d" not in dict(header["jwk"])  # type: ignore[call-overload]
    assert (claims["htm"], claims["htu"]) == ("GET", "https://api.bank.example/a")
    # The example of RFC 9449 section 4.1 and figure 12.
    assert claims["ath"] == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"


def test_a_server_that_asks_for_ever_gets_two_attempts(make_world: Any) -> None:
    world = make_world(fapi2=True, dpop=True)
    sent: list[Request] = []

    def change(request: Request, _: Response) -> Response:
        sent.append(request)
        headers = (("dpop-nonce", f"n{len(sent)}"),)
        return Response(401, headers, b'{"error":"use_dpop_nonce"}')

    def make() -> Flow[Request]:
        yield from ()
        return Request("GET", "https://api.bank.example/accounts")

    flow = with_proof(world.client.binding, make, clock=world.clock, entropy=world.client.entropy)
    assert world.run(flow, change).status == 401
    nonces = [json.loads(peek(str(each.header("dpop")))[1]).get("nonce") for each in sent]
    assert nonces == [None, "n1"]


def test_nonces_are_kept_for_each_origin_and_bounded(make_world: Any) -> None:
    key = make_world(fapi2=True, dpop=True).client.binding
    for number in range(80):
        answer = Response(200, (("dpop-nonce", "n"),))
        assert key.remember_nonce(f"https://h{number}.example/x", answer)
    assert len(key._nonces) == 64
    assert not key.remember_nonce("https://h.example", Response(200))


@pytest.mark.parametrize("nonce", ["x" * 2000, "ü", "a\nb"])
def test_refuses_a_nonce_that_is_no_short_text(make_world: Any, nonce: str) -> None:
    key = make_world(fapi2=True, dpop=True).client.binding
    with pytest.raises(ProtocolViolation, match="DPoP-Nonce"):
        key.remember_nonce("https://h.example", Response(200, (("dpop-nonce", nonce),)))


def test_the_challenge_is_that_of_rfc_7636_appendix_b() -> None:
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert challenge(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
