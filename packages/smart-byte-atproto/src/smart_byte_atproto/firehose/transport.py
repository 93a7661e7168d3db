"""How frames come: the interface that each transport fills.

`net.websocket` reads a live stream, `firehose.memory` a script of one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol


class Transport(Protocol):
    """Opens connections to event streams."""

    def connect(self, url: str) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """Open a connection; its frames come one by one, and no faster than they are asked for.

        The iterator ends where the host closed in good order.

        Args:
            url: `wss://HOST/xrpc/NSID?cursor=N`.

        Raises:
            NetworkFailed: No connection, or it broke; also while frames come.
            RequestRefused: The address is not to be asked.
            XRPCError: The host refused before the stream began.
            InvalidFrame: `size`: a frame longer than may be; the connection is closed.
        """
        ...
