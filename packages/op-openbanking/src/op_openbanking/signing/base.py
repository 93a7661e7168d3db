"""The signer seam: what this package asks of whoever holds a private key.

A signer is three members; no import of ours is needed to satisfy it. One that also has
`public_key` is checked on every signature by the JOSE functions.
"""

from __future__ import annotations

from typing import Protocol


class Signer(Protocol):
    """Signs octets with one key and one algorithm.

    Attributes:
        alg: JOSE name of the algorithm: `PS256`, `ES256`; `RS256` and `RS512` for HTTP
            signatures only.
        kid: Name of the key, as the verifier knows it.
    """

    @property
    def alg(self) -> str: ...

    @property
    def kid(self) -> str: ...

    def sign(self, data: bytes) -> bytes:
        """Sign `data`: octets of the signature in JOSE form (ES256: r and s, 64 octets).

        Raises:
            SignerUnavailable: The service or device did not answer.
            SignerMisbehaved: It answered something that is not the signature asked for.
        """
        ...


class AsyncSigner(Protocol):
    """A `Signer` whose `sign` is awaited."""

    @property
    def alg(self) -> str: ...

    @property
    def kid(self) -> str: ...

    async def sign(self, data: bytes) -> bytes:
        """See `Signer.sign`."""
        ...
