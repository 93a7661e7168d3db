"""A blocking signer for asynchronous callers.

Key services are called over the network by blocking libraries; in a thread they do not hold up the
event loop. Cancelling does not stop a call that has begun: its time-out does, and its signature is
dropped.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from op_openbanking.jose.algorithms import PublicKey

from .base import Signer


@dataclass(frozen=True, slots=True)
class ThreadedSigner:
    """An `AsyncSigner` that runs a blocking one in a thread.

    Attributes:
        blocking: The signer; it must allow calls from several threads.
    """

    blocking: Signer

    @property
    def alg(self) -> str:
        return self.blocking.alg

    @property
    def kid(self) -> str:
        return self.blocking.kid

    @property
    def public_key(self) -> PublicKey | None:
        """The blocking signer's public key, where it shows one."""
        key: PublicKey | None = getattr(self.blocking, "public_key", None)
        return key

    async def sign(self, data: bytes) -> bytes:
        return await asyncio.to_thread(self.blocking.sign, data)
