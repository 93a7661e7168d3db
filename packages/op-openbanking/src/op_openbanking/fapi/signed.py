"""JWTs signed inside a flow, by a signer that blocks or is awaited."""

from __future__ import annotations

from collections.abc import Mapping

from op_openbanking.errors import ConfigError, quoted
from op_openbanking.flow import Flow, signature
from op_openbanking.jose.algorithms import FAPI_ALGORITHMS, FAPI_SECTION
from op_openbanking.jose.jws import prepare
from op_openbanking.jose.strict_json import encode_object
from op_openbanking.signing.base import AsyncSigner, Signer


def require_fapi_signer(signer: Signer | AsyncSigner) -> None:
    """Check that a signer uses PS256 or ES256.

    Raises:
        ConfigError: Another algorithm.
    """
    if signer.alg not in FAPI_ALGORITHMS:
        raise ConfigError(f"a signer with alg {quoted(signer.alg)} is not allowed [{FAPI_SECTION}]")


def signed_jwt(
    claims: Mapping[str, object],
    signer: Signer | AsyncSigner,
    *,
    header: Mapping[str, object] | None = None,
    names_key: bool = True,
) -> Flow[str]:
    """Sign claims as a compact JWT.

    Args:
        claims: The claims.
        signer: Holds the key.
        header: Further header members, for example `typ`.
        names_key: Whether the header carries `kid`; a DPoP proof carries the key itself.

    Raises:
        ConfigError: The signer's algorithm is not allowed.
        SignerMisbehaved: The signer returned something else than a signature.
    """
    require_fapi_signer(signer)
    ready = prepare(
        encode_object(claims), alg=signer.alg, kid=signer.kid if names_key else None, header=header
    )
    made = yield from signature(signer, ready.octets)
    return ready.attach(made, public_key=getattr(signer, "public_key", None))
