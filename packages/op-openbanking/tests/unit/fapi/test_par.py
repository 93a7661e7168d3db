from __future__ import annotations

from typing import Any

import pytest

from op_openbanking.errors import BankError, ProtocolViolation, RateLimited
from op_openbanking.fapi.par import push
from op_openbanking.flow import Request, Response
from op_openbanking.testing.middle import ABSENT, changed_json

GOOD = Response(
    201,
    (("content-type", "application/json"),),
    b'{"request_uri":"urn:ietf:params:oauth:request_uri:1","expires_in":60}',
)


def test_a_push_proves_the_client_over_mutual_tls(world: Any) -> None:
    pushed = world.run(push(world.client, {"request": "a.b.c"}), lambda *_: GOOD)
    assert pushed.expires_at_s == world.now_s + 60
    sent: Request = world.server.requests[-1]
    assert sent.client_certificate == world.client.client_certificate
    assert b"client_assertion=" in sent.body
    assert not sent.idempotent


@pytest.mark.parametrize(
    "change",
    [
        {"request_uri": ABSENT},
        {"request_uri": "x" * 5000},
        {"request_uri": "ü"},
        {"expires_in": ABSENT},
        {"expires_in": 0},
        {"expires_in": "soon"},
    ],
)
def test_an_answer_with_one_member_wrong_is_the_peers_fault(
    world: Any, change: dict[str, object]
) -> None:
    bad = changed_json(GOOD, **change)
    with pytest.raises(ProtocolViolation):
        world.run(push(world.client, {"request": "a.b.c"}), lambda *_: bad)


@pytest.mark.parametrize(
    ("status", "kind"), [(200, BankError), (400, BankError), (413, BankError), (429, RateLimited)]
)
def test_another_status_is_a_refusal(world: Any, status: int, kind: type[BankError]) -> None:
    bad = Response(status, (), b'{"error":"invalid_request_object"}')
    with pytest.raises(kind, match="invalid_request_object"):
        world.run(push(world.client, {"request": "a.b.c"}), lambda *_: bad)
