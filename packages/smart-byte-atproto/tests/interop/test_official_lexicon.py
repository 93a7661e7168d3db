"""A schema published on the official server, named by a real DNS server, and found by its name."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import dns.message
import dns.rrset
import pytest

from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import IdentityNotFound, UnknownSchema
from smart_byte_atproto.identity.resolver import AsyncLiveNetwork, LiveNetwork
from smart_byte_atproto.lexicon.resolution import aresolve, resolve
from smart_byte_atproto.net.dns import DNS

from .conftest import Official
from .test_official_server import Account, account

__all__ = ["account"]

pytestmark = [pytest.mark.interop, pytest.mark.timeout(240)]

NAME = "com.example.bridge.note"
SCHEMA: dict[str, Value] = {
    "$type": "com.atproto.lexicon.schema",
    "lexicon": 1,
    "id": NAME,
    "defs": {"main": {"type": "token", "description": "A note."}},
}
_MAX_QUERIES = 100


@pytest.fixture
def name_server() -> Iterator[Callable[[dict[str, str]], DNS]]:
    """Serve TXT records over UDP on loopback; called with them, it returns who asks there."""
    texts: dict[str, str] = {}
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        sock.bind(("127.0.0.1", 0))

        def answer() -> None:
            for _ in range(_MAX_QUERIES):
                data, sender = sock.recvfrom(4096)
                if not data:
                    return
                query = dns.message.from_wire(data)
                reply = dns.message.make_response(query)
                asked = query.question[0].name
                text = texts.get(asked.to_text(omit_final_dot=True))
                if text is not None:
                    quoted = dns.rrset.from_text(asked, 60, "IN", "TXT", f'"{text}"')
                    reply.answer.append(quoted)
                sock.sendto(reply.to_wire(), sender)

        thread = threading.Thread(target=answer)
        thread.start()

        def serve(more: dict[str, str]) -> DNS:
            texts.update(more)
            return DNS(["127.0.0.1"], port=sock.getsockname()[1])

        yield serve
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as end:
            end.sendto(b"", sock.getsockname())
        thread.join(10)


async def test_a_published_schema_is_found_by_its_name(
    official: Official, account: Account, name_server: Callable[[dict[str, str]], DNS]
) -> None:
    account.client.procedure(
        "com.atproto.repo.putRecord",
        {
            "repo": account.did,
            "collection": "com.atproto.lexicon.schema",
            "rkey": NAME,
            "validate": False,
            "record": SCHEMA,
        },
    )
    dns_server = name_server({"_lexicon.bridge.example.com": f"did={account.did}"})
    network = LiveNetwork(dns_server, local=True)
    found = resolve(NAME, directory=official.plc, network=network)
    assert (found.did, found.lexicon.id, found.record) == (account.did, NAME, SCHEMA)
    awaited = AsyncLiveNetwork(dns_server, local=True)
    assert await aresolve(NAME, directory=official.plc, network=awaited) == found
    with pytest.raises(UnknownSchema):
        resolve("com.example.bridge.other", directory=official.plc, network=network)
    with pytest.raises(IdentityNotFound):
        resolve("com.example.elsewhere.note", directory=official.plc, network=network)
