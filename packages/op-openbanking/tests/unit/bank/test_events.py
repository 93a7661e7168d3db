from __future__ import annotations

from typing import Any

import pytest

from op_openbanking.errors import (
    ConfigError,
    ProtocolViolation,
    SecurityError,
    SignatureInvalid,
    TokenInvalid,
)
from op_openbanking.flow import Response
from op_openbanking.jose.jwt import sign_jwt
from op_openbanking.traits.events import EventKind


def test_a_pushed_event_is_verified_and_read(world: Any) -> None:
    token = world.bank.event("c-1")
    event = world.run(world.ours().events().verify(token.encode()))
    assert event.kind.known is EventKind.CONSENT_REVOKED
    assert (event.resource_id, event.resource_type) == ("c-1", "account-access-consent")
    assert event.id in world.bank.events
    assert event.happened_at_s == world.now_s


def test_an_event_of_an_unknown_kind_is_an_event(world: Any) -> None:
    token = world.bank.event("c-1", events={"urn:bank:own": {"a": 1}})
    event = world.run(world.ours().events().verify(token.encode()))
    assert event.kind.known is None
    assert event.kind.text == "urn:bank:own"


WRONG: dict[str, dict[str, object]] = {
    "issuer": {"iss": "https://other.example"},
    "audience": {"aud": "client-2"},
    "no id": {"jti": None},
    "from the future": {"iat": 4_000_000_000},
    "no time of event": {"toe": "noon"},
}


@pytest.mark.parametrize("case", WRONG)
def test_an_event_with_a_wrong_claim_is_refused(world: Any, case: str) -> None:
    token = world.bank.event("c-1", **WRONG[case])
    with pytest.raises((SecurityError, ProtocolViolation)):
        world.run(world.ours().events().verify(token.encode()))


def test_an_event_that_somebody_else_signed_is_refused(world: Any) -> None:
    token = world.bank.event("c-1")
    forged = sign_jwt({"iss": "https://auth.bank.example"}, world.signer)
    head, _, signature = token.split(".")
    altered = ".".join((head, forged.split(".")[1], signature))
    events = world.ours().events()
    with pytest.raises(SecurityError):
        world.run(events.verify(forged.encode()))
    with pytest.raises(SignatureInvalid):
        world.run(events.verify(altered.encode()))
    for noise in (b"", b"\xff", b"x" * 100_000):
        with pytest.raises((TokenInvalid, SignatureInvalid)):
            world.run(events.verify(noise))


def test_polled_events_are_acknowledged_with_the_next_poll(judged: Any) -> None:
    world, ours = judged
    good = [world.bank.event(f"c-{number}") for number in range(3)]
    assert len(good) == 3
    events = ours.events()
    first = world.run(events.poll(limit=2))
    assert [event.resource_id for event in first.events] == ["c-0", "c-1"]
    assert first.more
    second = world.run(events.poll(after=first))
    assert [event.resource_id for event in second.events] == ["c-2"]
    last = world.run(events.poll(after=second, limit=0))
    assert (last.events, last.more) == ((), False)
    assert world.bank.events == {}


def test_an_event_that_does_not_verify_is_reported_and_the_others_are_kept(judged: Any) -> None:
    world, ours = judged
    world.bank.event("c-1")
    world.bank.event("c-2", iss="https://other.example", jti="bad")
    world.bank.events["renamed"] = world.bank.event("c-3")
    events = ours.events()
    batch = world.run(events.poll())
    assert {event.resource_id for event in batch.events} == {"c-1", "c-3"}
    assert set(batch.refused) == {"bad", "renamed"}
    world.run(events.poll(after=batch, limit=0))
    sent = world.bank.requests[-1].body
    assert b'"setErrs":{"bad":{"err"' in sent
    assert b'"maxEvents":0' in sent


def test_a_bank_that_sends_more_than_asked_for_is_refused(world: Any) -> None:
    events = world.ours().events()
    world.bank.faults = [Response(200, (), b'{"moreAvailable":false,"sets":{"a":"x","b":"y"}}')]
    with pytest.raises(ProtocolViolation, match="2 events"):
        world.run(events.poll(limit=1))


@pytest.mark.parametrize("limit", [-1, 1001])
def test_a_poll_has_bounds(world: Any, limit: int) -> None:
    with pytest.raises(ConfigError):
        world.run(world.ours().events().poll(limit=limit))
