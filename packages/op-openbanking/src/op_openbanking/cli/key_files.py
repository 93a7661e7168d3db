"""Key material named on the command line."""

from __future__ import annotations

from pathlib import Path

from op_openbanking.errors import ConfigError
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.jose.private_key import jwk_members
from op_openbanking.signing.local import LocalSigner

_PRIVATE = (b"PRIVATE KEY-----", b'"d"')


def read_signer(
    path: Path, *, password_file: Path | None, alg: str | None, kid: str | None
) -> LocalSigner:
    """A signer from PEM, PKCS#12 or JWK, told apart by the content.

    Raises:
        UnusableKey: None of these.
    """
    octets = path.read_bytes()
    password = None if password_file is None else password_file.read_bytes().rstrip(b"\r\n")
    if octets.lstrip().startswith(b"{"):
        return LocalSigner.from_jwk(octets, alg=alg, kid=kid)
    if b"-----BEGIN" in octets:
        return LocalSigner.from_pem(octets, password=password, alg=alg, kid=kid)
    return LocalSigner.from_pkcs12(octets, password=password, alg=alg, kid=kid)


def read_public(path: Path, *, kid: str | None = None) -> JWK:
    """The public key of a PEM key or certificate, or of a JWK; of a private one too.

    Raises:
        UnusableKey: None of these.
    """
    octets = path.read_bytes()
    if octets.lstrip().startswith(b"{"):
        members = jwk_members(octets)
        if "d" in members:
            return LocalSigner.from_jwk(members, kid=kid).jwk
        jwk = JWK.from_members(members)
        return jwk if kid is None else JWK(jwk.public_key, kid=kid, use=jwk.use, alg=jwk.alg)
    if any(mark in octets for mark in _PRIVATE):
        return LocalSigner.from_pem(octets, kid=kid).jwk
    return JWK.from_pem(octets, kid=kid)


def read_trusted(jwks: Path | None, key: Path | None, *, kid: str | None) -> JWK | JWKSet:
    """What a signature is verified with: a JWKS file, or one key.

    Raises:
        ConfigError: Neither or both were named.
    """
    if (jwks is None) == (key is None):
        raise ConfigError("name one of --jwks and --key")
    if jwks is not None:
        return JWKSet.parse(jwks.read_bytes())
    return read_public(key, kid=kid) if key is not None else JWKSet(())
