from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import lru_cache

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from op_openbanking.errors import ConfigError, SignatureInvalid
from op_openbanking.jose.algorithms import Algorithm
from op_openbanking.signing.digest import digest
from op_openbanking.signing.http_signature import (
    BERLIN_GROUP,
    STET,
    Headers,
    HTTPProfile,
    SignatureParameters,
    asign_message,
    prepare_message,
    sign_message,
    verify_message,
)
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.threaded import ThreadedSigner

NOW = datetime(2025, 1, 1, tzinfo=UTC)
BODY = b'{"a":1}'
HEADERS: Headers = [
    ("X-Request-ID", "99391c7e"),
    ("PSU-ID", "me"),
    ("Content-Type", "application/json"),
]
PROFILES = [BERLIN_GROUP, STET]


@lru_cache
def signer(alg: str = "RS256") -> LocalSigner:
    return LocalSigner.from_key(_key(), alg=alg)


@lru_cache
def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def signed(
    profile: HTTPProfile = BERLIN_GROUP, *, headers: Headers = HEADERS, body: bytes = BODY
) -> list[tuple[str, str]]:
    added = sign_message(
        profile, signer(), method="POST", target="/v1/x?a=b", headers=headers, body=body, key_id="k"
    )
    return [*headers, *added]


def verify(
    headers: Headers,
    profile: HTTPProfile = BERLIN_GROUP,
    *,
    body: bytes = BODY,
    method: str = "POST",
    target: str = "/v1/x?a=b",
    algorithms: tuple[Algorithm, ...] = (Algorithm.RS256,),
) -> SignatureParameters:
    return verify_message(
        profile,
        _key().public_key(),
        method=method,
        target=target,
        headers=headers,
        body=body,
        algorithms=algorithms,
    )


def replaced(headers: Headers, name: str, value: str | None) -> list[tuple[str, str]]:
    kept = [line for line in headers if line[0].lower() != name]
    return kept if value is None else [*kept, (name, value)]


def refused(headers: Headers, check: str, **options: object) -> None:
    with pytest.raises(SignatureInvalid) as caught:
        verify(headers, **options)  # type: ignore[arg-type]
    assert caught.value.check == check


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("body", [BODY, b""])
def test_verifies_what_it_signed(profile: HTTPProfile, body: bytes) -> None:
    headers = signed(profile, body=body)
    parameters = verify(headers, profile, body=body)
    assert parameters.key_id == "k"
    assert parameters.algorithm == "rsa-sha256"


def test_awaited_signer_makes_the_same_lines() -> None:
    added = asyncio.run(
        asign_message(
            STET,
            ThreadedSigner(signer()),
            method="POST",
            target="/v1/x?a=b",
            headers=HEADERS,
            body=BODY,
            key_id="k",
        )
    )
    assert [*HEADERS, *added] == signed(STET)


def test_berlin_group_sends_a_digest_of_the_empty_body_and_stet_does_not() -> None:
    assert ("Digest", digest(b"")) in signed(BERLIN_GROUP, body=b"")
    assert not any(name == "Digest" for name, _ in signed(STET, body=b""))


@pytest.mark.parametrize("name", ["x-request-id", "psu-id", "digest"])
def test_refuses_a_changed_line(name: str) -> None:
    check = "digest" if name == "digest" else "http-signature"
    value = digest(b"other") if name == "digest" else "changed"
    refused(replaced(signed(), name, value), check)


def test_refuses_a_changed_body_method_or_target() -> None:
    refused(signed(), "digest", body=BODY + b" ")
    refused(signed(STET), "http-signature", profile=STET, method="PUT")
    refused(signed(STET), "http-signature", profile=STET, target="/v1/y?a=b")


def test_refuses_a_body_whose_digest_was_swapped_too() -> None:
    headers = replaced(signed(), "digest", digest(b"other"))
    refused(headers, "http-signature", body=b"other")


def test_refuses_a_signature_that_covers_less_than_the_profile_says() -> None:
    bare = HTTPProfile(name="bare", section="none", always=("x-request-id",))
    added = sign_message(
        bare, signer(), method="POST", target="/", headers=HEADERS[:1], body=b"", key_id="k"
    )
    refused([*HEADERS, *added, ("digest", digest(BODY))], "http-signature-covers")
    # A PSU-ID that somebody added on the way is not covered.
    refused([*signed(headers=HEADERS[:1]), ("psu-id", "evil")], "http-signature-covers")


def test_refuses_a_missing_line_and_two_signatures() -> None:
    refused(replaced(signed(), "x-request-id", None), "http-signature-form")
    refused(replaced(signed(), "signature", None), "http-signature-form")
    refused(replaced(signed(), "digest", None), "http-signature-form")
    refused([*signed(), ("Signature", "keyId=x")], "http-signature-form")
    refused([*signed(), ("Digest", digest(BODY))], "http-signature-form")


def test_the_message_does_not_choose_the_algorithm() -> None:
    headers = signed()
    value = dict(headers)["Signature"]
    for name in ("hs2019", "rsa-sha512", "hmac-sha256", "none"):
        changed = replaced(headers, "signature", value.replace("rsa-sha256", name))
        refused(changed, "http-signature-alg")
    refused(headers, "http-signature-alg", algorithms=(Algorithm.PS256,))
    # hs2019 leaves it open: only what the caller accepts is tried.
    changed = replaced(headers, "signature", value.replace("rsa-sha256", "hs2019"))
    refused(changed, "http-signature", algorithms=(Algorithm.PS256,))


@pytest.mark.parametrize("alg", ["PS256", "RS512"])
def test_other_algorithms_where_a_bank_wants_them(alg: str) -> None:
    own = signer(alg)
    added = sign_message(
        STET, own, method="GET", target="/v1/x", headers=HEADERS, body=b"", key_id="k"
    )
    headers = [*HEADERS, *added]
    verify(headers, STET, body=b"", method="GET", target="/v1/x", algorithms=(Algorithm(alg),))
    refused(headers, "http-signature-alg", profile=STET, body=b"", method="GET", target="/v1/x")


@pytest.mark.parametrize(
    "value",
    [
        "",
        "keyId",
        'keyId="k"',
        'keyId="k",signature="AAAA',
        'keyId="k" signature="AAAA"',
        'keyId="k",keyId="k",signature="AAAA"',
        'keyId="k",signature="AA=A"',
        'keyId="k",signature="é"',
        'keyId="k",headers="digest digest",signature="AAAA"',
        'keyId="k",headers="Digest",signature="AAAA"',
        'keyId="k",headers="a  b",signature="AAAA"',
        'keyId="k",headers="(created)",signature="AAAA"',
        'keyId="k",headers="' + " ".join(f"h{n}" for n in range(65)) + '",signature="AAAA"',
        'keyId="' + "k" * 9000 + '",signature="AAAA"',
        "," * 100,
    ],
)
def test_refuses_a_header_of_another_form(value: str) -> None:
    with pytest.raises(SignatureInvalid) as caught:
        SignatureParameters.parse(value)
    assert caught.value.check == "http-signature-form"


def test_key_id_survives_quotes_and_backslashes() -> None:
    key_id = 'SN=1,CA=CN=A\\, "B",O=C'
    parameters = SignatureParameters(key_id, "rsa-sha256", ("digest",), b"x")
    assert SignatureParameters.parse(str(parameters)) == parameters


def test_several_lines_of_one_name_are_joined() -> None:
    ready = prepare_message(
        HTTPProfile(name="x", section="x", always=("a",)),
        method="GET",
        target="/",
        headers=[("A", " 1 "), ("a", "2")],
        body=b"",
        alg="RS256",
        key_id="k",
    )
    assert ready.octets == b"a: 1, 2"


@pytest.mark.parametrize(
    ("headers", "target"),
    [
        ([("X-Request-ID", "1\r\nEvil: 1")], "/"),
        ([("X-Request-ID", "1")], "no-path"),
        ([("X-Request-ID", "1")], "/a b"),
        ([("X-Request-ID", "\u20ac")], "/"),
        ([], "/"),
        ([("X-Request-ID", "1"), ("Digest", "x")], "/"),
        ([("X-Request-ID", "1"), ("Signature", "x")], "/"),
    ],
)
def test_will_not_sign_a_message_that_cannot_be_sent(headers: Headers, target: str) -> None:
    with pytest.raises(ConfigError):
        sign_message(
            STET, signer(), method="GET", target=target, headers=headers, body=b"", key_id="k"
        )


def test_will_not_sign_with_an_unknown_algorithm() -> None:
    with pytest.raises(ConfigError):
        prepare_message(
            STET, method="GET", target="/", headers=HEADERS, body=b"", alg="none", key_id="k"
        )
