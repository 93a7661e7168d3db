from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, strategies as st

from op_openbanking.errors import MalformedBody
from op_openbanking.standards.base import decode
from op_openbanking.standards.berlin_group import mapping as berlin_group
from op_openbanking.standards.cdr import mapping as cdr
from op_openbanking.standards.fdx import mapping as fdx
from op_openbanking.standards.registry import standard
from op_openbanking.standards.stet import mapping as stet
from op_openbanking.standards.uk_obie import mapping as uk_obie, payment_mapping

DATA = Path(__file__).parents[2] / "data" / "standards"

# The model's reader of each body; the registry knows the shapes by name only, hence Any.
MAPPED: dict[str, Callable[[Any], object]] = {
    "uk_obie/accounts": uk_obie.account_page,
    "uk_obie/balances": uk_obie.balance_page,
    "uk_obie/transactions": uk_obie.transaction_page,
    "uk_obie/party": uk_obie.party_page,
    "uk_obie/account-access-consent": uk_obie.account_consent,
    "uk_obie/domestic-payment-consent": uk_obie.payment_consent,
    "uk_obie/domestic-payment": payment_mapping.payment,
    "uk_obie/domestic-vrp-consent": payment_mapping.vrp_mandate,
    "uk_obie/domestic-vrp": payment_mapping.vrp_payment,
    "uk_obie/domestic-standing-order-request": lambda body: payment_mapping.payment_order(
        body.data.initiation
    ),
    "uk_obie/file-payment-request": lambda body: payment_mapping.payment_order(
        body.data.initiation
    ),
    "berlin_group/accounts": berlin_group.account_page,
    "berlin_group/balances": lambda body: berlin_group.balance_page(body, account_id="a"),
    "berlin_group/transactions": lambda body: berlin_group.transaction_page(body, account_id="a"),
    "berlin_group/consent": lambda body: berlin_group.consent(body, consent_id="c"),
    "berlin_group/payment-request": berlin_group.payment_order,
    "berlin_group/periodic-payment-request": berlin_group.payment_order,
    "berlin_group/bulk-payment-request": berlin_group.payment_order,
    "stet/accounts": stet.account_page,
    "stet/balances": lambda body: stet.balance_page(body, account_id="a"),
    "stet/transactions": lambda body: stet.transaction_page(body, account_id="a"),
    "stet/payment-request": stet.payment_order,
    "cdr/accounts": cdr.account_page,
    "cdr/balances": cdr.balance_page,
    "cdr/transactions": cdr.transaction_page,
    "cdr/customer": cdr.party,
    "fdx/accounts": fdx.account_page,
    "fdx/transactions": lambda body: fdx.transaction_page(body, account_id="a", currency="USD"),
    "fdx/consent": fdx.consent,
}

pieces = st.sampled_from(
    [b"", b"null", b"0", b"-0", b"1e5", b"{}", b"[]", b'""', b'"1e3"', b"true", b"\\u0000", b"\xff"]
) | st.binary(min_size=1, max_size=3)


@given(st.data())
def test_a_damaged_body_is_read_or_refused_by_type(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(MAPPED)))
    octets = (DATA / f"{name}.json").read_bytes()
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(octets)))
        stop = data.draw(st.integers(start, min(len(octets), start + 24)))
        octets = octets[:start] + data.draw(pieces) + octets[stop:]
    folder, _, resource = name.partition("/")
    shape = standard(folder.replace("_", "-")).shape(resource)
    with contextlib.suppress(MalformedBody):
        read = decode(octets, shape, standard=folder, resource=resource)
        assert MAPPED[name](read) is not None


@given(st.data())
def test_a_value_of_another_kind_is_read_or_refused_by_type(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(MAPPED)))
    octets = (DATA / f"{name}.json").read_bytes()
    strings = octets.split(b'"')
    place = data.draw(st.integers(0, (len(strings) - 2) // 2)) * 2 + 1
    strings[place] = data.draw(st.text(max_size=8)).encode("utf-8", "ignore").replace(b'"', b"")
    folder, _, resource = name.partition("/")
    shape = standard(folder.replace("_", "-")).shape(resource)
    with contextlib.suppress(MalformedBody):
        read = decode(b'"'.join(strings), shape, standard=folder, resource=resource)
        assert MAPPED[name](read) is not None
