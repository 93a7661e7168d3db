from __future__ import annotations

import json

import pytest

from op_openbanking.errors import SignatureInvalid
from op_openbanking.jose.jwk import JWK
from op_openbanking.jose.jws import verify_compact

pytestmark = pytest.mark.conformance

A3_KEY = {
    "kty": "EC",
    "crv": "P-256",
    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
}
A3 = (
    "eyJhbGciOiJFUzI1NiJ9"
    ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
    "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSA"
    "pmWQxfKTUJqPP3-Kg6NU1Q"
)
A5 = (
    "eyJhbGciOiJub25lIn0"
    ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"
    "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ."
)


def test_a3_ecdsa_p256_sha256_holds() -> None:
    verified = verify_compact(A3, JWK.from_members(A3_KEY))
    assert json.loads(verified.payload)["iss"] == "joe"


def test_a5_unsecured_is_refused() -> None:
    with pytest.raises(SignatureInvalid) as caught:
        verify_compact(A5, JWK.from_members(A3_KEY))
    assert caught.value.check == "jws-alg"
