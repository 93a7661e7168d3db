from __future__ import annotations

import pytest

from op_openbanking.errors import SignatureInvalid
from op_openbanking.signing.digest import DigestAlgorithm, digest, verify_digest

EMPTY = "SHA-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="


def test_digest_of_the_empty_body() -> None:
    assert digest(b"") == EMPTY


@pytest.mark.parametrize("algorithm", list(DigestAlgorithm))
def test_verifies_what_it_made(algorithm: DigestAlgorithm) -> None:
    value = digest(b"body", algorithm=algorithm)
    verify_digest(value, b"body")
    verify_digest(f"MD5=AAAA, {value.replace('SHA', 'sha')}", b"body")
    with pytest.raises(SignatureInvalid):
        verify_digest(value, b"body ")


def test_every_known_hash_must_hold() -> None:
    both = f"{digest(b'body')},{digest(b'other', algorithm=DigestAlgorithm.SHA_512)}"
    with pytest.raises(SignatureInvalid):
        verify_digest(both, b"body")


@pytest.mark.parametrize(
    "value",
    [
        "",
        "MD5=1B2M2Y8AsgTpgAmY7PhCfg==",
        "SHA=2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
        "SHA-256",
        "SHA-256=",
        "SHA-256=é",
        "SHA-256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
        "x" * 2000,
    ],
)
def test_refuses_weak_or_broken_values(value: str) -> None:
    with pytest.raises(SignatureInvalid) as caught:
        verify_digest(value, b"")
    assert caught.value.check == "digest"
