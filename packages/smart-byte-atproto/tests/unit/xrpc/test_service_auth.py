from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey, PublicKey
from smart_byte_atproto.errors import BadSignature, NotEncodable
from smart_byte_atproto.syntax import DID
from smart_byte_atproto.xrpc.service_auth import (
    SeenTokens,
    create_service_token,
    verify_service_token,
)

SK = PrivateKey.from_hex(KeyType.K256, "".join(f"{n:02x}" for n in range(1, 33)))
OTHER = PrivateKey.from_hex(KeyType.K256, "22" * 32)
ISS, AUD = "did:plc:gito43bv6lbityhgk36c23h2", "did:web:feed.example.com#bsky_fg"
LXM, NOW = "app.bsky.feed.getFeedSkeleton", 1_700_000_000
# Reference 21.8.
VECTOR = (
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NksifQ.eyJpc3MiOiJkaWQ6cGxjOmdpdG80M2J2NmxiaXR5aGdrMzZjMjNoMiIs"
    "ImF1ZCI6ImRpZDp3ZWI6ZmVlZC5leGFtcGxlLmNvbSNic2t5X2ZnIiwiZXhwIjoxNzAwMDAwMDYwLCJpYXQiOjE3MDAwMDAw"
    "MDAsImx4bSI6ImFwcC5ic2t5LmZlZWQuZ2V0RmVlZFNrZWxldG9uIiwianRpIjoiMDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJi"
    "Y2NkZGVlZmYifQ.qKExzUmmvAFl01mxhsMksMZyQPg_v2VoTUOqnT7tHLMACW8LXETs-VGTb6NhIfsZY1HiBEiZ6co9Zrv28"
    "WgCOA"
)


def check(token: str, **changes: Any) -> Any:
    options: dict[str, Any] = {
        "key_of": lambda _did, _fresh: SK.public_key,
        "audiences": {AUD},
        "lxm": LXM,
        "now_s": NOW + 1,
    }
    return verify_service_token(token, **(options | changes))


def made(**changes: Any) -> str:
    options: dict[str, Any] = {"iss": ISS, "aud": AUD, "lxm": LXM, "now_s": NOW, "jti": "a"}
    return create_service_token(changes.pop("key", SK), **(options | changes))


def test_the_worked_example_holds_and_comes_out() -> None:
    claims = check(VECTOR)
    assert (claims.iss, claims.aud, claims.exp, claims.lxm) == (ISS, AUD, NOW + 60, LXM)
    assert made(jti="00112233445566778899aabbccddeeff") == VECTOR


@pytest.mark.parametrize(
    ("token", "changes", "code"),
    [
        (made(), {"audiences": {"did:web:other.com"}}, "audience"),
        (made(), {"audiences": {AUD + "x"}}, "audience"),
        (made(), {"now_s": NOW + 71}, "expired"),
        (made(), {"now_s": NOW - 30}, "expired"),
        (made(lxm="app.bsky.feed.getTimeline"), {}, "method"),
        (made(lxm=None), {}, "method"),
        (made(key=OTHER), {}, "mismatch"),
        (made(key=PrivateKey.generate(KeyType.P256)), {}, "algorithm"),
        ("a.b", {}, "form"),
        (made() + ".x", {}, "form"),
        (made() + "=", {}, "form"),
        ("x" * 5000, {}, "form"),
    ],
)
def test_refuses_a_token_that_does_not_hold(token: str, changes: Any, code: str) -> None:
    with pytest.raises(BadSignature) as caught:
        check(token, **changes)
    assert caught.value.code == code


def test_no_part_of_a_token_can_be_changed() -> None:
    token = made()
    for at, letter in enumerate(token):
        if letter != ".":
            with pytest.raises(BadSignature):
                check(token[:at] + ("A" if letter != "A" else "B") + token[at + 1 :])


def test_refuses_algorithms_that_the_token_chose() -> None:
    body = made().split(".")[1]
    for head in ({"alg": "none"}, {"alg": "HS256"}, {"alg": "ES256K", "crit": ["x"]}, {}):
        first = urlsafe_b64encode(json.dumps(head).encode()).decode().rstrip("=")
        with pytest.raises(BadSignature) as caught:
            check(f"{first}.{body}.")
        assert caught.value.code == "algorithm"


def test_a_key_that_was_changed_is_asked_for_once_more() -> None:
    asked: list[bool] = []

    def key_of(did: DID, fresh: bool) -> PublicKey:
        assert did == ISS
        asked.append(fresh)
        return (SK if fresh else OTHER).public_key

    assert check(made(), key_of=key_of).account == ISS
    assert asked == [False, True]


def test_a_token_serves_once() -> None:
    seen = SeenTokens(most=3)
    check(made(jti="a"), seen=seen)
    with pytest.raises(BadSignature) as caught:
        check(made(jti="a"), seen=seen)
    assert caught.value.code == "replay"
    for name in "bcdef":
        check(made(jti=name), seen=seen)
    assert len(seen._ends) == 3


def test_older_tokens_are_taken_where_that_is_wanted() -> None:
    assert check(made(lxm=None), needs_method=False).lxm is None


def test_what_would_be_refused_is_not_made() -> None:
    with pytest.raises(NotEncodable):
        made(key=PrivateKey.generate(KeyType.ED25519))
    for lifetime_s in (0, 3601):
        with pytest.raises(NotEncodable):
            made(lifetime_s=lifetime_s)
