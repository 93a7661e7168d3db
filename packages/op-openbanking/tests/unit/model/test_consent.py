from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import pytest

from op_openbanking.errors import IllegalTransition
from op_openbanking.model.code import Code
from op_openbanking.model.consent import Consent, ConsentPurpose, ConsentStatus
from op_openbanking.model.when import When

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


def consent(status: ConsentStatus | None, *, expires: str | None = None) -> Consent:
    return Consent(
        id="c1",
        purpose=ConsentPurpose.ACCOUNTS,
        status=Code(text="x", known=status),
        expires=When.parse(expires) if expires else None,
    )


FINAL = {
    ConsentStatus.CONSUMED,
    ConsentStatus.REJECTED,
    ConsentStatus.REVOKED_BY_USER,
    ConsentStatus.REVOKED_BY_CLIENT,
    ConsentStatus.EXPIRED,
}


def test_five_statuses_are_final() -> None:
    assert {status for status in ConsentStatus if status.is_final} == FINAL


@pytest.mark.parametrize(("before", "after"), list(product(sorted(FINAL), ConsentStatus)))
def test_nothing_follows_a_final_status(before: ConsentStatus, after: ConsentStatus) -> None:
    move = Code(text="y", known=after)
    if before is after:
        assert consent(before).moved_to(move).status == move
    else:
        with pytest.raises(IllegalTransition) as caught:
            consent(before).moved_to(move)
        assert (caught.value.before, caught.value.after) == (before.value, after.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ConsentStatus.ACTIVE, ConsentStatus.AWAITING_AUTHORISATION),
        (ConsentStatus.ACTIVE, ConsentStatus.REJECTED),
        (ConsentStatus.AWAITING_AUTHORISATION, ConsentStatus.AWAITING_UPLOAD),
        (ConsentStatus.PARTLY_AUTHORISED, ConsentStatus.AWAITING_AUTHORISATION),
    ],
)
def test_no_consent_goes_back(before: ConsentStatus, after: ConsentStatus) -> None:
    with pytest.raises(IllegalTransition):
        consent(before).moved_to(Code(text="", known=after))


@pytest.mark.parametrize(
    "path",
    [
        ["awaiting-upload", "awaiting-authorisation", "active", "consumed"],
        ["awaiting-authorisation", "partly-authorised", "active", "active", "expired"],
        ["awaiting-authorisation", "rejected"],
        ["awaiting-authorisation", "revoked-by-user"],
        ["active", "suspended", "active", "revoked-by-client"],
    ],
)
def test_a_consent_lives_along_its_paths(path: list[str]) -> None:
    held = consent(ConsentStatus(path[0]))
    for step in path[1:]:
        held = held.moved_to(Code(text=step, known=ConsentStatus(step)))
    assert held.status.known == path[-1]


def test_an_unknown_status_is_kept_and_is_not_usable() -> None:
    held = consent(ConsentStatus.ACTIVE).moved_to(Code(text="Frozen", known=None))
    assert str(held.status) == "Frozen"
    assert not held.is_usable(NOW)
    assert held.moved_to(Code(text="Authorised", known=ConsentStatus.ACTIVE)).is_usable(NOW)


def test_a_date_that_has_passed_ends_an_active_consent() -> None:
    assert consent(ConsentStatus.ACTIVE).is_usable(NOW)
    assert consent(ConsentStatus.ACTIVE, expires="9999-12-31").is_usable(NOW)
    assert not consent(ConsentStatus.ACTIVE, expires="2024-05-01T11:59:59Z").is_usable(NOW)
    over = consent(ConsentStatus.REVOKED_BY_USER, expires="2020-01-01")
    assert over.status_at(NOW) is ConsentStatus.REVOKED_BY_USER
    assert consent(None, expires="2020-01-01").status_at(NOW) is None
