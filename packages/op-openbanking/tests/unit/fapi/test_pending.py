from __future__ import annotations

from dataclasses import replace

import pytest

from op_openbanking.errors import ConfigError
from op_openbanking.fapi.pending import PendingAuthorization
from op_openbanking.fapi.pending_memory import MemoryPendingStore
from op_openbanking.fapi.profile import AnswerForm

PENDING = PendingAuthorization(
    state="state-1",
    nonce="nonce-1",
    verifier="verifier-1",
    issuer="https://auth.bank.example",
    client_id="client-1",
    redirect_uri="https://tpp.example/cb",
    answer=AnswerForm.JARM,
    scope="openid",
    user_agent="hash",
    expires_at_s=100.0,
    acr_values=("a", "b"),
    expected_claims={"openbanking_intent_id": "1"},
)


def test_a_request_is_handed_out_once() -> None:
    store = MemoryPendingStore(clock=lambda: 0.0)
    store.put(PENDING)
    assert store.take("state-2") is None
    assert store.take("state-1") is PENDING
    assert store.take("state-1") is None


def test_the_store_is_bounded_and_forgets_the_oldest() -> None:
    store = MemoryPendingStore(clock=lambda: 0.0, limit=2)
    for number in range(4):
        store.put(replace(PENDING, state=str(number)))
    assert len(store) == 2
    assert store.take("1") is None
    assert store.take("3") is not None


def test_expired_requests_make_room() -> None:
    now_s = 0.0
    store = MemoryPendingStore(clock=lambda: now_s)
    store.put(PENDING)
    now_s = 101.0
    store.put(replace(PENDING, state="state-2", expires_at_s=200.0))
    assert len(store) == 1


def test_a_store_holds_at_least_one() -> None:
    with pytest.raises(ConfigError):
        MemoryPendingStore(clock=lambda: 0.0, limit=0)


def test_a_request_survives_a_store_on_disk() -> None:
    assert PendingAuthorization.from_bytes(PENDING.to_bytes()) == PENDING


@pytest.mark.parametrize("octets", [b"", b"{}", b"[]", b"\xff", b'{"state":1}', b" " * 70_000])
def test_other_octets_are_refused(octets: bytes) -> None:
    with pytest.raises(ConfigError):
        PendingAuthorization.from_bytes(octets)


def test_secrets_stay_out_of_the_repr() -> None:
    for secret in ("state-1", "nonce-1", "verifier-1"):
        assert secret not in repr(PENDING)
