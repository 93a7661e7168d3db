"""Event streams over WebSocket, under the guard.

Frames of 5 MB come whole; a few are read ahead, and a slow reader slows the socket. A connection
on which nothing answers a ping is given up.

Source: RFC 6455; reference section 8.1.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    ConnectionClosedOK,
    InvalidStatus,
    PayloadTooBig,
    WebSocketException,
)

from smart_byte_atproto.errors import InvalidFrame, NetworkFailed, ResponseInvalid
from smart_byte_atproto.firehose.frame import MAX_FRAME_BYTES
from smart_byte_atproto.xrpc.call import Answer, judge

from .guard import Target, check_address, check_url
from .http import USER_AGENT

_AHEAD: Final = 16
"""Frames read ahead of whoever handles them."""
_TOO_BIG: Final = 1009


class WebSocketTransport:
    """Opens WebSocket connections to hosts that strangers may have named.

    Args:
        local: Whether hosts on loopback may be asked, also without TLS.
        open_timeout_s: For a connection to come about.
        ping_s: Between two pings, and how long an answer may take; must suit quiet hosts too,
            which say nothing for minutes but answer pings.
        max_frame_bytes: Longest frame.
    """

    def __init__(
        self,
        *,
        local: bool = False,
        open_timeout_s: float = 20.0,
        ping_s: float = 20.0,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        self._local = local
        self._open_timeout_s = open_timeout_s
        self._ping_s = ping_s
        self._max_frame_bytes = max_frame_bytes

    @asynccontextmanager
    async def connect(self, url: str) -> AsyncIterator[AsyncIterator[bytes]]:
        """Open a connection; see `firehose.transport.Transport`."""
        plain = url.replace("wss://", "https://", 1).replace("ws://", "http://", 1)
        target = check_url(plain, local=self._local)
        secure = target.scheme == "https"
        try:
            connected = await _connect(target, self._local, self._open_timeout_s)
            connection = await connect(
                url,
                sock=connected,
                server_hostname=target.host if secure else None,
                max_size=self._max_frame_bytes,
                max_queue=_AHEAD,
                open_timeout=self._open_timeout_s,
                ping_interval=self._ping_s,
                ping_timeout=self._ping_s,
                close_timeout=5,
                compression=None,
                user_agent_header=USER_AGENT,
                proxy=None,
            )
        except InvalidStatus as refused:
            response = refused.response
            headers = {name.lower(): value for name, value in response.headers.raw_items()}
            body = bytes(response.body or b"")
            judge(Answer(response.status_code, headers, body, target.host), now_s=0.0)
            raise ResponseInvalid(
                target.host, f"HTTP {response.status_code} in place of a stream", code="status"
            ) from refused
        except (OSError, TimeoutError, WebSocketException, EOFError) as error:
            raise NetworkFailed(target.host, f"no stream: {type(error).__name__}") from error
        try:
            yield _frames(connection, target.host)
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(10):
                await connection.close()


async def _connect(target: Target, local: bool, timeout_s: float) -> socket.socket:
    """Connect to an address that has been judged."""
    with anyio.fail_after(timeout_s):
        found = await anyio.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys((entry[0], entry[4]) for entry in found))
        for _, address in addresses:
            check_address(str(address[0]), target.host, local=local)
        failure: OSError = OSError("the name has no address")
        for family, address in addresses:
            made = socket.socket(family, socket.SOCK_STREAM)
            made.setblocking(False)
            try:
                await _loop_connect(made, address)
            except OSError as error:
                made.close()
                failure = error
            except BaseException:
                made.close()
                raise
            else:
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return made
    raise failure


async def _loop_connect(made: socket.socket, address: object) -> None:
    import asyncio  # noqa: PLC0415 - websockets runs on asyncio alone

    await asyncio.get_running_loop().sock_connect(made, address)  # type: ignore[arg-type] # a socket address


async def _frames(connection: ClientConnection, host: str) -> AsyncIterator[bytes]:
    try:
        async for message in connection:
            # A text message is no frame: the reader is told, as of any that cannot be read.
            yield message if isinstance(message, bytes) else message.encode("utf-8", "replace")
    except ConnectionClosedOK:
        return
    except PayloadTooBig as error:
        raise InvalidFrame("size", "a frame longer than is taken") from error
    except ConnectionClosed as error:
        sent = error.sent.code if error.sent is not None else None
        if sent == _TOO_BIG:
            raise InvalidFrame("size", "a frame longer than is taken") from error
        raise NetworkFailed(host, f"the stream broke: {error}") from error
