"""Conversations with the network as generators: one text for blocking and for awaited use.

A flow yields what it wants, `Fetch` or `TextRecords`, and is sent what came, or is thrown the
error.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol, TypeAlias, TypeVar, cast

from smart_byte_atproto.errors import ATProtoError
from smart_byte_atproto.net.fetch import Fetch, Fetched, TextRecords

T = TypeVar("T")
Wanted: TypeAlias = Fetch | TextRecords
Came: TypeAlias = "Fetched | list[str]"
Flow: TypeAlias = Generator[Wanted, Came, T]


class Network(Protocol):
    """What answers flows, blocking."""

    def fetch(self, wanted: Fetch) -> Fetched:
        """Get a page."""
        ...

    def text_records(self, wanted: TextRecords) -> list[str]:
        """Get the TXT records of a name."""
        ...


class AsyncNetwork(Protocol):
    """What answers flows, awaited."""

    async def fetch(self, wanted: Fetch) -> Fetched:
        """Get a page."""
        ...

    async def text_records(self, wanted: TextRecords) -> list[str]:
        """Get the TXT records of a name."""
        ...


def fetched(wanted: Fetch) -> Generator[Wanted, Came, Fetched]:
    """Ask for a page inside a flow."""
    return cast("Fetched", (yield wanted))


def texts_of(wanted: TextRecords) -> Generator[Wanted, Came, list[str]]:
    """Ask for TXT records inside a flow."""
    return cast("list[str]", (yield wanted))


def run(flow: Flow[T], network: Network) -> T:
    """Drive a flow to its result."""
    try:
        wanted = next(flow)
        while True:
            try:
                if isinstance(wanted, Fetch):
                    came: Came = network.fetch(wanted)
                else:
                    came = network.text_records(wanted)
            except ATProtoError as error:
                wanted = flow.throw(error)
            else:
                wanted = flow.send(came)
    except StopIteration as done:
        result: T = done.value
        return result


async def arun(flow: Flow[T], network: AsyncNetwork) -> T:
    """Drive a flow to its result."""
    try:
        wanted = next(flow)
        while True:
            try:
                if isinstance(wanted, Fetch):
                    came: Came = await network.fetch(wanted)
                else:
                    came = await network.text_records(wanted)
            except ATProtoError as error:
                wanted = flow.throw(error)
            else:
                wanted = flow.send(came)
    except StopIteration as done:
        result: T = done.value
        return result
