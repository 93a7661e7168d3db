from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.data import base32, dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidData, InvalidLog
from smart_byte_atproto.identity.plc_log import audit

STRONG = PrivateKey(KeyType.K256, bytes(range(1, 33)))
WEAK = PrivateKey(KeyType.P256, bytes(range(2, 34)))
OTHER = PrivateKey(KeyType.K256, bytes(range(3, 35)))
HOUR = 3600

REFERENCE = Path(__file__).parents[2] / "data" / "plc_audit_log.json"
DID = "did:plc:gito43bv6lbityhgk36c23h2"

Log = list[dict[str, Any]]


def _sign(operation: dict[str, Any], key: PrivateKey) -> dict[str, Any]:
    signature = key.sign(dag_cbor.encode(operation))
    return operation | {"sig": urlsafe_b64encode(signature).decode().rstrip("=")}


def _operation(
    prev: str | None, key: PrivateKey, *, name: str = "alice", **more: Any
) -> dict[str, Any]:
    fields = {
        "type": "plc_operation",
        "rotationKeys": [STRONG.public_key.did_key, WEAK.public_key.did_key],
        "verificationMethods": {"atproto": WEAK.public_key.did_key},
        "alsoKnownAs": [f"at://{name}.test"],
        "services": {},
        "prev": prev,
    }
    return _sign(fields | more, key)


def _entry(
    operation: dict[str, Any], seconds: int, *, did: str, nullified: bool = False
) -> dict[str, Any]:
    days, rest = divmod(seconds, 24 * HOUR)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, 60)
    return {
        "did": did,
        "operation": operation,
        "cid": str(CID.of(dag_cbor.encode(operation))),
        "nullified": nullified,
        "createdAt": f"2024-01-{days + 1:02}T{hours:02}:{minutes:02}:{rest:02}.000Z",
    }


def _genesis(**more: Any) -> Log:
    operation = _operation(None, STRONG, **more)
    did = "did:plc:" + base32.encode(CID.of(dag_cbor.encode(operation)).digest)[:24]
    return [_entry(operation, 0, did=did)]


def _append(log: Log, operation: dict[str, Any], seconds: int) -> Log:
    return [*log, _entry(operation, seconds, did=log[0]["did"])]


def _forked(seconds: int, key: PrivateKey = STRONG, *, disputed: PrivateKey = WEAK) -> Log:
    """A recovery at `seconds` of what happened at second 1."""
    log = _genesis()
    log = _append(log, _operation(log[0]["cid"], disputed, name="mallory"), 1)
    log[1]["nullified"] = True
    return _append(log, _operation(log[0]["cid"], key, name="back"), seconds)


def _code(log: object) -> tuple[str, int]:
    with pytest.raises(InvalidLog) as caught:
        audit(json.dumps(log))
    return caught.value.code, caught.value.index


def test_the_worked_example_of_the_reference_holds() -> None:
    text = REFERENCE.read_text()
    found = audit(text)
    assert found.is_tombstoned
    assert found.did == DID
    assert audit(json.dumps(json.loads(text)[:1])).head.also_known_as == ("at://alice.test",)


def test_a_weaker_key_may_go_on() -> None:
    log = _genesis()
    found = audit(json.dumps(_append(log, _operation(log[0]["cid"], WEAK, name="bob"), 1)))
    assert found.head.also_known_as == ("at://bob.test",)
    assert not found.nullified


def test_a_stronger_key_recovers_up_to_the_last_second_of_72_hours() -> None:
    found = audit(json.dumps(_forked(1 + 72 * HOUR)))
    assert found.nullified == {1}
    assert found.head.also_known_as == ("at://back.test",)


def test_a_recovery_one_second_later_is_late() -> None:
    assert _code(_forked(2 + 72 * HOUR)) == ("late", 2)


def test_a_key_cannot_undo_itself_or_a_stronger_one() -> None:
    assert _code(_forked(5, WEAK)) == ("recovery", 2)
    assert _code(_forked(5, STRONG, disputed=STRONG)) == ("recovery", 2)
    assert _code(_forked(5, WEAK, disputed=STRONG)) == ("recovery", 2)


def test_a_recovery_at_the_same_instant_is_refused() -> None:
    assert _code(_forked(1)) == ("time", 2)


def test_time_does_not_go_back() -> None:
    log = _append(_genesis(), {}, 0)[:1]
    log[0]["createdAt"] = "2024-01-02T00:00:00.000Z"
    assert _code(_append(log, _operation(log[0]["cid"], WEAK), 1)) == ("time", 1)


@pytest.mark.parametrize("at", [1, 2])
def test_a_wrong_flag_is_found(at: int) -> None:
    log = _forked(5)
    log[at]["nullified"] = not log[at]["nullified"]
    assert _code(log) == ("nullified", at)


def test_a_stranger_cannot_sign() -> None:
    log = _genesis()
    assert _code(_append(log, _operation(log[0]["cid"], OTHER), 1)) == ("signature", 1)
    assert _code([_entry(_operation(None, OTHER), 0, did=log[0]["did"])])[0] == "did"


def test_an_operation_on_what_was_nullified_has_no_chain() -> None:
    log = _forked(5)
    assert _code(_append(log, _operation(log[1]["cid"], STRONG), 6)) == ("chain", 3)


def test_a_second_first_operation_has_no_chain() -> None:
    log = _genesis()
    assert _code(_append(log, _operation(None, STRONG, name="b"), 1)) == ("chain", 1)
    assert _code(json.loads(REFERENCE.read_text())[1:]) == ("chain", 0)


def test_nothing_follows_a_tombstone_but_a_recovery() -> None:
    log = _genesis()
    end = _sign({"type": "plc_tombstone", "prev": log[0]["cid"]}, WEAK)
    log = _append(log, end, 1)
    assert _code(_append(log, _operation(log[1]["cid"], STRONG), 2)) == ("tombstone", 2)
    log[1]["nullified"] = True
    assert audit(json.dumps(_append(log, _operation(log[0]["cid"], STRONG), 2))).nullified == {1}


def test_no_rotation_keys_freeze_the_did() -> None:
    log = _genesis()
    log = _append(log, _operation(log[0]["cid"], WEAK, rotationKeys=[]), 1)
    assert audit(json.dumps(log)).head.rotation_keys == ()
    assert _code(_append(log, _operation(log[1]["cid"], STRONG), 2)) == ("signature", 2)


def test_a_duplicated_key_counts_at_its_first_place() -> None:
    keys = [key.public_key.did_key for key in (WEAK, STRONG, WEAK)]
    log = _genesis(rotationKeys=keys)
    log = _append(log, _operation(log[0]["cid"], WEAK, name="x"), 1)
    log[1]["nullified"] = True
    assert _code(_append(log, _operation(log[0]["cid"], STRONG), 2)) == ("recovery", 2)


def test_a_changed_field_changes_the_cid() -> None:
    log = _genesis()
    log[0]["operation"]["alsoKnownAs"] = ["at://mallory.test"]
    assert _code(log) == ("cid", 0)


def test_a_log_of_another_did_is_refused() -> None:
    log = _genesis()
    log[0]["did"] = DID
    assert _code(log) == ("did", 0)


def test_ed25519_rotates_nothing() -> None:
    key = PrivateKey(KeyType.ED25519, bytes(range(1, 33)))
    operation = _operation(None, key, rotationKeys=[key.public_key.did_key])
    did = "did:plc:" + base32.encode(CID.of(dag_cbor.encode(operation)).digest)[:24]
    assert _code([_entry(operation, 0, did=did)]) == ("signature", 0)


@pytest.mark.parametrize("log", [{}, [], [1], [{}], None, [{"did": 1}], "x"])
def test_what_is_no_log_has_the_wrong_form(log: object) -> None:
    assert _code(log) == ("form", 0)


@pytest.mark.parametrize("name", ["type", "prev", "sig", "rotationKeys", "services", "alsoKnownAs"])
@pytest.mark.parametrize("value", [1, [1], {"a": 1}])
def test_a_field_of_the_wrong_type_is_a_matter_of_form(name: str, value: object) -> None:
    log = _genesis()
    log[0]["operation"][name] = value
    assert _code(log) == ("form", 0)
    del log[0]["operation"][name]
    assert _code(log) == ("form", 0)


@pytest.mark.parametrize("text", ["", "[", "[1.5]", b"\xff", '[{"a":1,"a":2}]'])
def test_what_is_no_json_is_no_data(text: str | bytes) -> None:
    with pytest.raises(InvalidData):
        audit(text)
