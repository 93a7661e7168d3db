"""Ten post records of the shapes that a relay carries, in words of our own.

Five replies, a link card with facet and thumbnail, two hashtags, plain posts, one in Japanese: the
mix that ten posts in a row had in a capture of the main relay.
"""

from __future__ import annotations

from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID, Codec

TYPE = "app.bsky.feed.post"
WHEN = "2026-07-04T14:38:06.240Z"
PLAIN = "The ferry was late again, so we walked along the harbour and counted the cranes. "


def _reference(name: str) -> dict[str, dag_cbor.Value]:
    uri = f"at://did:plc:gito43bv6lbityhgk36c23h2/{TYPE}/3ke6kg3wk2222"
    return {"cid": str(CID.of(name.encode())), "uri": uri}


def _post(text: str, **more: dag_cbor.Value) -> dict[str, dag_cbor.Value]:
    return {"$type": TYPE, "text": text, "langs": ["en"], "createdAt": WHEN} | more


def _reply(text: str) -> dict[str, dag_cbor.Value]:
    return _post(text, reply={"root": _reference(text), "parent": _reference(text[::-1])})


def _facet(start: int, end: int, **feature: dag_cbor.Value) -> dag_cbor.Value:
    return {"index": {"byteStart": start, "byteEnd": end}, "features": [feature]}


def _card() -> dict[str, dag_cbor.Value]:
    uri = "https://harbour.example.test/2026/07/cranes"
    thumb: dag_cbor.Value = {
        "$type": "blob",
        "ref": CID.of(b"thumb", codec=Codec.RAW),
        "mimeType": "image/jpeg",
        "size": 119_635,
    }
    external: dag_cbor.Value = {
        "uri": uri,
        "title": "Cranes of the old harbour and who still climbs them",
        "description": "A walk in twelve pictures",
        "thumb": thumb,
    }
    return _post(
        "harbour.example.test/2026/07...",
        embed={"$type": "app.bsky.embed.external", "external": external},
        facets=[_facet(0, 31, uri=uri, **{"$type": "app.bsky.richtext.facet#link"})],
    )


def _tagged() -> dict[str, dag_cbor.Value]:
    tag = {"$type": "app.bsky.richtext.facet#tag"}
    return _post(
        "#CountingCranes!  \n\n" + PLAIN + "\n\n#OldHarbour 🏗",
        facets=[
            _facet(0, 15, tag="CountingCranes", **tag),
            _facet(104, 115, tag="OldHarbour", **tag),
        ],
    )


VALUES = [
    _card(),
    _post(
        "船がまた遅れたので、みんなで港を歩いてクレーンを数えました。十二本もあったよ🏗",
        langs=["ja"],
    ),
    _reply("좋네요~~~"),
    _reply(PLAIN * 2),
    _tagged(),
    _post(PLAIN * 3),
    _reply(PLAIN * 3),
    _reply("It\u2019s " + PLAIN * 3),
    _reply("Mine too"),
    _card() | {"text": PLAIN * 2},
]
RECORDS = [dag_cbor.encode(value) for value in VALUES]
