"""Bodies on their way through: passed byte for byte, and counted in passing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from eoc_distributed.errors import WorkerFailed
from eoc_distributed.http import HTTPResponse
from eoc_distributed.telemetry.record import CLIENT_CLOSED

from .refusals import error_json
from .usage import StreamCount

if TYPE_CHECKING:
    from .call import Call

_BROKEN = 502
ERRORS_FROM = 400


class Chained:
    """Pieces that have been read already, then the rest of the body they came from."""

    def __init__(self, pieces: list[bytes], rest: AsyncIterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = rest

    def __aiter__(self) -> Chained:
        return self

    async def __anext__(self) -> bytes:
        if self._pieces:
            data = b"".join(self._pieces)
            self._pieces = []
            return data
        return await self._rest.__anext__()


class Metered:
    """A body that is accounted for when it ends, in whatever way.

    An engine that is lost in mid-stream is told to the client as one event with an error;
    then the body raises, so that the connection is cut and nobody takes it for complete.

    Args:
        call: Whose body it is.
        response: What the worker answered.
        events: Whether it is a stream of server-sent events.
        body: To be read in place of the response's.
    """

    __slots__ = ("_body", "_broken", "_call", "_count", "_ended", "_first", "_response")

    def __init__(
        self,
        call: Call,
        response: HTTPResponse,
        *,
        events: bool,
        body: AsyncIterator[bytes] | None = None,
    ) -> None:
        self._call = call
        self._response = response
        self._body = response.body if body is None else body
        self._count = StreamCount() if events else None
        self._first = True
        self._ended = False
        self._broken: WorkerFailed | None = None

    def __aiter__(self) -> Metered:
        return self

    async def __anext__(self) -> bytes:
        if self._broken is not None:
            raise self._broken
        if self._ended:
            raise StopAsyncIteration
        try:
            piece = await self._body.__anext__()
        except StopAsyncIteration:
            self._end(self._response.status)
            raise
        except WorkerFailed as error:
            return self._break(error)
        except asyncio.CancelledError:
            self._end(CLIENT_CLOSED)
            raise
        count = self._count
        if count is not None and count.feed(piece) and self._first:
            self._first = False
            if self._response.status < ERRORS_FROM:
                self._call.first_token()
        return piece

    async def aclose(self) -> None:
        """End early: the client went away."""
        self._end(CLIENT_CLOSED)
        aclose = getattr(self._response.body, "aclose", None)
        if aclose is not None:
            await aclose()

    def _break(self, error: WorkerFailed) -> bytes:
        self._broken = error
        self._call.blame(error)
        self._end(_BROKEN)
        if self._count is None or self._count.done:
            raise error
        event = error_json(_BROKEN, str(error), kind="upstream_error", code=_BROKEN)
        # The empty lines end whatever event was cut; alone they mean nothing.
        return b"\n\ndata: %b\n\n" % event

    def _end(self, status: int) -> None:
        if self._ended:
            return
        self._ended = True
        counted = None
        if self._count is not None and self._response.status < ERRORS_FROM:
            counted = self._count.result()
        if status == self._response.status:
            self._call.praise(status)
        energy = self._response.energy() if self._response.energy is not None else None
        self._call.finish(status, counted, energy=energy)
