"""What every signer must do, as a check that your own tests can call."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from op_openbanking.errors import ConfigError
from op_openbanking.jose.algorithms import FAPI_ALGORITHMS, Algorithm
from op_openbanking.jose.jwk import JWK
from op_openbanking.jose.jws import asign_compact, sign_compact, verify_compact
from op_openbanking.signing.base import Signer
from op_openbanking.signing.threaded import ThreadedSigner

_SIZES = (1, 55, 64, 4096, 100_000)  # around the blocks of SHA-256, and above KMS limits
_THREADS = 4


class PublishedSigner(Signer, Protocol):
    """A signer that knows its public key as it is published."""

    @property
    def jwk(self) -> JWK: ...


def check_signer(signer: PublishedSigner, *, largest_bytes: int = 100_000) -> None:
    """Sign messages of several sizes, from several threads, and verify each.

    Args:
        signer: What is checked.
        largest_bytes: Messages above this are left out.

    Raises:
        ConfigError: Something does not hold; the message says what.
        SignerMisbehaved, SignerUnavailable: From the signer itself.
    """
    jwk = signer.jwk
    if jwk.kid != signer.kid or jwk.alg != signer.alg:
        raise ConfigError("the published key has another kid or alg than the signer")
    messages = [b"\xa5" * size for size in _SIZES if size <= largest_bytes]
    with ThreadPoolExecutor(_THREADS) as pool:
        signatures = list(pool.map(signer.sign, messages))
    for message, signature in zip(messages, signatures, strict=True):
        if not jwk.verifies(signer.alg, signature, message):
            raise ConfigError(f"the signature over {len(message)} octets does not hold")
    if jwk.verifies(signer.alg, signatures[0], messages[1]):
        raise ConfigError("a signature holds over other octets")
    if Algorithm(signer.alg) not in FAPI_ALGORITHMS:
        return
    for token in (
        sign_compact(b"{}", signer),
        asyncio.run(asign_compact(b"{}", ThreadedSigner(signer))),
    ):
        if verify_compact(token, jwk).payload != b"{}":
            raise ConfigError("a token of this signer carries another payload")
