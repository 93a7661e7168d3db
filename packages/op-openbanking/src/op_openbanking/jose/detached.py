"""Detached JSON Web Signatures: header and signature in one text, the payload elsewhere.

The text is `<header>..<signature>`. With `b64` false (RFC 7797) the signature covers the raw
payload octets, else their base64url. Signing chooses by a switch; verifying obeys the header, and
refuses `b64` that is not listed in `crit` where it is false.

Source: RFC 7515 appendix F, RFC 7797.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from op_openbanking.errors import ConfigError, ProtocolViolation, SignatureInvalid
from op_openbanking.signing.base import AsyncSigner, Signer

from . import base64url
from .algorithms import FAPI_ALGORITHMS, permitted, require
from .jwk import JWK, JWKSet
from .jws import (
    SigningInput,
    VerifiedJWS,
    fitting_keys,
    malformed,
    parse_header,
    protected_header,
    refuse_unknown_critical,
    signing_algorithm,
    split,
    verifying_key,
)


def prepare_detached(
    payload: bytes,
    *,
    alg: str,
    kid: str | None,
    header: Mapping[str, object] | None = None,
    critical: tuple[str, ...] = (),
    b64: bool = True,
) -> SigningInput:
    """Build the signing input of a detached JWS; see `sign_detached`."""
    members = dict(header or {})
    if "b64" in members:
        raise ConfigError("b64 is a switch of this function, not a member to hand in")
    if not b64:
        members["b64"] = False
        critical = ("b64", *critical)
    head = base64url.encode(protected_header(alg=alg, kid=kid, header=members, critical=critical))
    body = base64url.encode(payload) if b64 else payload
    return SigningInput(head + b"." + body, signing_algorithm(alg), detached=True)


def sign_detached(
    payload: bytes,
    signer: Signer,
    *,
    header: Mapping[str, object] | None = None,
    critical: tuple[str, ...] = (),
    b64: bool = True,
) -> str:
    """Sign octets and leave them out of the result.

    Args:
        payload: Exactly the octets that will be sent.
        signer: Holds the key.
        header: Further protected members.
        critical: Names among them that the verifier must understand (`crit`).
        b64: False signs the raw octets (RFC 7797) and adds `b64` to header and crit.

    Raises:
        ConfigError: `header` has alg, kid, crit or b64, or lacks a critical name.
        SignerMisbehaved: The signer returned something else.
        SignerUnavailable: A remote signer did not answer.
    """
    ready = prepare_detached(
        payload, alg=signer.alg, kid=signer.kid, header=header, critical=critical, b64=b64
    )
    return ready.attach(signer.sign(ready.octets), public_key=getattr(signer, "public_key", None))


async def asign_detached(
    payload: bytes,
    signer: AsyncSigner,
    *,
    header: Mapping[str, object] | None = None,
    critical: tuple[str, ...] = (),
    b64: bool = True,
) -> str:
    """`sign_detached` with a signer that is awaited."""
    ready = prepare_detached(
        payload, alg=signer.alg, kid=signer.kid, header=header, critical=critical, b64=b64
    )
    return ready.attach(
        await signer.sign(ready.octets), public_key=getattr(signer, "public_key", None)
    )


def verify_detached(
    signature: str | bytes,
    payload: bytes,
    keys: JWK | JWKSet,
    *,
    algorithms: Collection[str] = FAPI_ALGORITHMS,
    understood: Collection[str] = (),
) -> VerifiedJWS:
    """Verify a detached JWS over the octets received.

    Args:
        signature: `<header>..<signature>`.
        payload: The raw octets, before any parsing.
        keys: The key or keys trusted for the expected sender.
        algorithms: What we accept: by default PS256 and ES256.
        understood: Names in `crit` that the caller checks itself; `b64` is understood here.

    Raises:
        SignatureInvalid: Form, algorithm, crit, b64 or signature; `check` says which.
        KeyNotFound: No trusted key fits.
    """
    accepted = permitted(algorithms)
    _, head, middle, end = split(signature)
    if middle:
        raise malformed("a detached JWS has an empty middle part")
    header = parse_header(head)
    alg = require(header.alg, accepted)
    refuse_unknown_critical(header.members, understood=frozenset({"b64", *understood}))
    try:
        raw = base64url.decode(end, "the signature")
    except ProtocolViolation as error:
        raise malformed(error) from error
    body = base64url.encode(payload) if _is_encoded(header.members) else payload
    trusted = keys if isinstance(keys, JWKSet) else JWKSet((keys,))
    candidates = fitting_keys(trusted, alg, header.kid, pinned=trusted is not keys)
    key = verifying_key(candidates, alg, raw, head + b"." + body)
    return VerifiedJWS(header.members, payload, key)


def _is_encoded(header: Mapping[str, object]) -> bool:
    b64 = header.get("b64", True)
    critical = header.get("crit", ())
    if not isinstance(b64, bool):
        raise SignatureInvalid(
            "b64 is neither true nor false", check="jws-b64", section="RFC 7797 3"
        )
    if not b64 and not (isinstance(critical, list) and "b64" in critical):
        raise SignatureInvalid(
            "b64 is false but crit does not list it", check="jws-b64", section="RFC 7797 6"
        )
    return b64
