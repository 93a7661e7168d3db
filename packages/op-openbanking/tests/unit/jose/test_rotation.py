from __future__ import annotations

import json
from collections.abc import Generator

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from op_openbanking.errors import ConfigError, KeyNotFound, ProtocolViolation, TransportError
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.jws import sign_compact, verify_compact
from op_openbanking.jose.rotation import (
    FetchedKeys,
    FetchKeys,
    FetchReason,
    KeyRing,
    age_from,
    find_keys,
)
from op_openbanking.signing.local import LocalSigner

OLD = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()), kid="old")
FRESH = LocalSigner.from_key(ec.generate_private_key(ec.SECP256R1()), kid="fresh")
URI = "https://bank.example/jwks"


def document(*signers: LocalSigner, cache_control: str | None = None) -> FetchedKeys:
    body = json.dumps(JWKSet.of(each.jwk for each in signers).to_members()).encode()
    return FetchedKeys(body, cache_control)


def ring_at(now_s: float, *signers: LocalSigner) -> KeyRing:
    ring = KeyRing(URI, cooldown_s=30, max_age_s=600, retry_s=5)
    ring.store(document(*signers), now_s=now_s)
    return ring


def decide(ring: KeyRing, kid: str | None, now_s: float) -> JWKSet | FetchKeys:
    return ring.decide(alg="ES256", kid=kid, now_s=now_s)


def test_first_use_asks_for_the_document() -> None:
    ring = KeyRing(URI)
    assert decide(ring, "old", 0) == FetchKeys(URI, FetchReason.FIRST)
    ring.store(document(OLD), now_s=0)
    assert isinstance(decide(ring, "old", 1), JWKSet)


def test_a_known_kid_costs_no_fetch_until_the_document_is_old() -> None:
    ring = ring_at(0, OLD)
    assert isinstance(decide(ring, "old", 599), JWKSet)
    assert decide(ring, "old", 600) == FetchKeys(URI, FetchReason.EXPIRED)


def test_an_unknown_kid_costs_one_fetch_and_then_a_cool_down() -> None:
    ring = ring_at(0, OLD)
    assert decide(ring, "forged-1", 10) == FetchKeys(URI, FetchReason.UNKNOWN_KID)
    for attempt in range(100):
        with pytest.raises(KeyNotFound) as caught:
            decide(ring, f"forged-{attempt}", 10 + attempt * 0.29)
        assert caught.value.check == "jwks-kid"
    assert decide(ring, "forged-1", 40) == FetchKeys(URI, FetchReason.UNKNOWN_KID)


def test_a_document_just_fetched_is_not_fetched_again() -> None:
    ring = ring_at(0, OLD)
    with pytest.raises(KeyNotFound):
        decide(ring, "fresh", 4)


def test_a_key_that_is_there_but_cannot_serve_costs_no_fetch() -> None:
    ring = KeyRing(URI)
    ring.store(FetchedKeys(b'{"keys":[{"kid":"weak","kty":"oct"}]}'), now_s=0)
    with pytest.raises(KeyNotFound) as caught:
        decide(ring, "weak", 100)
    assert caught.value.check == "jwks-key-refused"


def test_keys_that_left_the_document_are_gone() -> None:
    ring = ring_at(0, OLD)
    ring.store(document(FRESH), now_s=10)
    with pytest.raises(KeyNotFound):
        decide(ring, "old", 11)


def test_a_failed_fetch_is_not_repeated_at_once() -> None:
    ring = KeyRing(URI, retry_s=5)
    decide(ring, "old", 0)
    ring.fetch_failed(now_s=0)
    with pytest.raises(TransportError) as caught:
        decide(ring, "old", 4)
    assert caught.value.retryable
    assert caught.value.retry_after_s == 1
    assert isinstance(decide(ring, "old", 5), FetchKeys)


def test_a_broken_document_leaves_the_former_one() -> None:
    ring = ring_at(0, OLD)
    with pytest.raises(ProtocolViolation):
        ring.store(FetchedKeys(b"<html>"), now_s=1)
    assert isinstance(decide(ring, "old", 2), JWKSet)


@pytest.mark.parametrize(
    ("header", "fetched_again_s"),
    [
        (None, 600),
        ("max-age=100", 100),
        ("public, MAX-AGE = 100", 100),
        ("max-age=999999", 600),
        ("max-age=0", 30),
        ("no-store", 30),
        ("no-cache, max-age=100", 30),
        ("s-maxage=100", 600),
        ("nonsense", 600),
    ],
)
def test_cache_control_is_obeyed_within_bounds(header: str | None, fetched_again_s: float) -> None:
    ring = KeyRing(URI, cooldown_s=30, max_age_s=600)
    ring.store(document(OLD, cache_control=header), now_s=0)
    assert isinstance(decide(ring, "old", fetched_again_s - 1), JWKSet)
    assert isinstance(decide(ring, "old", fetched_again_s), FetchKeys)


def test_age_of_no_header_is_the_default() -> None:
    assert age_from(None, default_s=7) == 7


@pytest.mark.parametrize(
    ("cooldown_s", "max_age_s", "retry_s"), [(29, 60, 1), (60, 30, 1), (30, 60, -1)]
)
def test_limits_are_checked(cooldown_s: float, max_age_s: float, retry_s: float) -> None:
    with pytest.raises(ConfigError):
        KeyRing(URI, cooldown_s=cooldown_s, max_age_s=max_age_s, retry_s=retry_s)


def drive(
    flow: Generator[FetchKeys, FetchedKeys, JWKSet], answers: list[FetchedKeys | TransportError]
) -> tuple[JWKSet, list[FetchReason]]:
    asked = []
    try:
        request = next(flow)
        while True:
            asked.append(request.reason)
            answer = answers.pop(0)
            request = (
                flow.throw(answer) if isinstance(answer, TransportError) else flow.send(answer)
            )
    except StopIteration as done:
        return done.value, asked


def test_flow_follows_a_rotation() -> None:
    now = [0.0]
    ring = KeyRing(URI)
    token = sign_compact(b"{}", OLD)
    keys, asked = drive(find_keys(ring, token, clock=lambda: now[0]), [document(OLD)])
    assert asked == [FetchReason.FIRST]
    assert verify_compact(token, keys).payload == b"{}"
    now[0] = 60.0
    token = sign_compact(b"{}", FRESH)
    keys, asked = drive(find_keys(ring, token, clock=lambda: now[0]), [document(OLD, FRESH)])
    assert asked == [FetchReason.UNKNOWN_KID]
    assert verify_compact(token, keys).key.kid == "fresh"


def test_flow_refuses_a_kid_that_is_absent_after_the_fetch() -> None:
    now = [100.0]
    ring = ring_at(0, OLD)
    with pytest.raises(KeyNotFound):
        drive(find_keys(ring, sign_compact(b"{}", FRESH), clock=lambda: now[0]), [document(OLD)])


def test_flow_passes_a_failed_fetch_on() -> None:
    ring = KeyRing(URI)
    flow = find_keys(ring, sign_compact(b"{}", OLD), clock=lambda: 0.0)
    with pytest.raises(TransportError, match="gone"):
        drive(flow, [TransportError("gone")])
    with pytest.raises(TransportError, match="last fetch"):
        decide(ring, "old", 1)
