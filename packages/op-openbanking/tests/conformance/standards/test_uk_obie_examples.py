# ruff: noqa: E501  (the publisher's file names)
from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from op_openbanking.errors import MalformedBody
from op_openbanking.standards.base import Wire, decode, encode
from op_openbanking.standards.uk_obie.resources import STANDARD

pytestmark = pytest.mark.conformance

OF_A_SHAPE = {
    "v3.1.11_bca-product-data-model_03": "products",
    "v3.1.11_bca-product-data-model_06": "products",
    "v3.1.11_bca-product-data-model_12": "products",
    "v3.1.11_bca-product-data-model_18": "products",
    "v3.1.11_other-product-data-model_03": "products",
    "v3.1.11_pca-product-data-model_03": "products",
    "v3.1.11_pca-product-data-model_06": "products",
    "v3.1.11_pca-product-data-model_09": "products",
    "v3.1.11_pca-product-data-model_12": "products",
    "v3.1.11_pca-product-data-model_18": "products",
    "v3.1.11_pca-product-data-model_24": "products",
    "v3.1.11_pca-product-data-model_27": "products",
    "v3.1.11_callback-url_02": "callback-url",
    "v3.1.11_callback-url_07": "callback-urls",
    "v3.1.10_domestic-payment-consents_02": "domestic-payment-consent-request",
    "v3.1.10_domestic-payments-usage-examples_10": "domestic-payment-request",
    "v3.1.10_domestic-payments-usage-examples_15": "domestic-payment-consent",
    "v3.1.11_account-access-consents_02": "account-access-consent-request",
    "v3.1.11_account-access-consents_14": "account-access-consent-request",
    "v3.1.11_account-access-consents_16": "account-access-consent",
    "v3.1.11_accounts_03": "accounts",
    "v3.1.11_accounts_06": "accounts",
    "v3.1.11_accounts_09": "accounts",
    "v3.1.11_balances_03": "balances",
    "v3.1.11_beneficiaries_03": "beneficiaries",
    "v3.1.11_beneficiaries_06": "beneficiaries",
    "v3.1.11_beneficiaries_07": "beneficiaries",
    "v3.1.11_direct-debits_03": "direct-debits",
    "v3.1.11_direct-debits_06": "direct-debits",
    "v3.1.11_domestic-payment-consents_02": "domestic-payment-consent-request",
    "v3.1.11_domestic-payment-consents_07": "domestic-payment-consent",
    "v3.1.11_domestic-payments-usage-examples_08": "payment-funds-confirmation",
    "v3.1.11_domestic-payments-usage-examples_12": "domestic-payment",
    "v3.1.11_domestic-payments-usage-examples_15": "domestic-payment-consent",
    "v3.1.11_domestic-payments-usage-examples_21": "domestic-payment-consent-request",
    "v3.1.11_domestic-payments-usage-examples_23": "domestic-payment-consent",
    "v3.1.11_domestic-payments-usage-examples_25": "domestic-payment-request",
    "v3.1.11_domestic-payments-usage-examples_30": "domestic-payment-consent",
    "v3.1.11_domestic-payments-usage-examples_35": "domestic-payment-consent-request",
    "v3.1.11_domestic-payments-usage-examples_37": "domestic-payment-consent",
    "v3.1.11_domestic-payments-usage-examples_45": "domestic-payment-consent",
    "v3.1.11_domestic-payments-usage-examples_49": "domestic-payment-consent",
    "v3.1.11_domestic-payments_04": "domestic-payment",
    "v3.1.11_domestic-scheduled-payment-consents_04": "domestic-scheduled-payment-consent",
    "v3.1.11_domestic-scheduled-payments_02": "domestic-scheduled-payment-request",
    "v3.1.11_domestic-standing-order-consents_04": "domestic-standing-order-consent",
    "v3.1.11_domestic-standing-order-usage-examples_03": "domestic-standing-order-consent-request",
    "v3.1.11_domestic-standing-order-usage-examples_05": "domestic-standing-order-consent",
    "v3.1.11_domestic-standing-order-usage-examples_07": "domestic-standing-order-request",
    "v3.1.11_domestic-standing-order-usage-examples_09": "domestic-standing-order",
    "v3.1.11_domestic-standing-order-usage-examples_12": "domestic-standing-order-consent",
    "v3.1.11_domestic-standing-orders_04": "domestic-standing-order",
    "v3.1.11_event-notifications_02": "event-notification",
    "v3.1.11_event-notifications_08": "event-notification",
    "v3.1.11_event-subscription_04": "event-subscription",
    "v3.1.11_event-subscription_07": "event-subscriptions",
    "v3.1.11_events_02": "events-request",
    "v3.1.11_events_09": "events-request",
    "v3.1.11_events_11": "events",
    "v3.1.11_file-payments-usage-examples_02": "file-payment-consent-request",
    "v3.1.11_file-payments_02": "file-payment-request",
    "v3.1.11_file-payments_04": "file-payment",
    "v3.1.11_funds-confirmation-consent_02": "funds-confirmation-consent-request",
    "v3.1.11_funds-confirmation-consent_04": "funds-confirmation-consent",
    "v3.1.11_funds-confirmation-consent_10": "funds-confirmation-consent",
    "v3.1.11_funds-confirmation_04": "funds-confirmation",
    "v3.1.11_funds-confirmation_08": "funds-confirmation",
    "v3.1.11_international-payment-consents_02": "international-payment-consent-request",
    "v3.1.11_international-payment-usage-examples_11": "payment-funds-confirmation",
    "v3.1.11_international-scheduled-payment-usage-examples_02": "international-payment-consent-request",
    "v3.1.11_international-scheduled-payment-usage-examples_07": "payment-funds-confirmation",
    "v3.1.11_international-scheduled-payment-usage-examples_09": "international-payment-consent-request",
    "v3.1.11_international-scheduled-payment-usage-examples_13": "international-payment-consent-request",
    "v3.1.11_international-scheduled-payment-usage-examples_17": "international-payment-consent-request",
    "v3.1.11_international-scheduled-payment-usage-examples_19": "international-payment-consent",
    "v3.1.11_offers_03": "offers",
    "v3.1.11_offers_06": "offers",
    "v3.1.11_parties_03": "parties",
    "v3.1.11_read-write-data-api-profile_18": "error",
    "v3.1.11_read-write-data-api-profile_37": "error",
    "v3.1.11_scheduled-payments_06": "scheduled-payments",
    "v3.1.11_standing-orders_03": "standing-orders",
    "v3.1.11_standing-orders_06": "standing-orders",
    "v3.1.11_statements_10": "statements",
    "v3.1.11_transactions_05": "transactions",
    "v3.1.11_vrp-profile_02": "event-notification",
    "v3.1.11_vrp-usage-examples_02": "domestic-vrp-consent-request",
    "v3.1.11_vrp-usage-examples_13": "domestic-vrp-consent-request",
}

# These published examples break the published schema of their own version. They are not edited:
# each is refused as its resource, at the place where it breaks it, and kept whole as an open object.
BREAKING_THEIR_SCHEMA = {
    "v3.1.10_vrp-usage-examples_20": ("domestic-vrp-request", "$.Data.Instruction"),
    "v3.1.11_balances_06": ("balances", "$.Data.Balance"),
    "v3.1.11_balances_09": ("balances", "$.Data.Balance"),
    "v3.1.11_balances_12": ("balances", "$.Data.Balance"),
    "v3.1.11_events_07": ("events", "$"),
    "v3.1.11_international-payment-usage-examples_02": (
        "international-payment-consent-request",
        "$.Data.Initiation.InstructedAmount",
    ),
    "v3.1.11_international-payment-usage-examples_04": (
        "international-payment-consent",
        "$.Data.Initiation.InstructedAmount",
    ),
    "v3.1.11_international-payment-usage-examples_06": ("international-payment-request", "$.Data"),
    "v3.1.11_international-scheduled-payment-consents_04": (
        "international-scheduled-payment-consent",
        "$.Data.Initiation",
    ),
    "v3.1.11_international-scheduled-payment-usage-examples_15": (
        "international-payment-consent",
        "$.Data.Initiation",
    ),
    "v3.1.11_international-scheduled-payment-usage-examples_21": (
        "international-payment-consent-request",
        "$.Data.Initiation",
    ),
    "v3.1.11_international-scheduled-payment-usage-examples_23": (
        "international-payment-consent",
        "$.Data.Initiation",
    ),
    "v3.1.11_international-standing-order-consents_02": (
        "international-standing-order-consent-request",
        "$.Data.Initiation",
    ),
    "v3.1.11_parties_09": ("party", "$.Data.Party.Address"),
    "v3.1.11_vrp-1-consent-get-resp": ("domestic-vrp-consent", "$.Data.ControlParameters.VRPType"),
    "v3.1.11_vrp-1-consent-req": (
        "domestic-vrp-consent-request",
        "$.Data.ControlParameters.VRPType",
    ),
    "v3.1.11_vrp-1-consent-resp": ("domestic-vrp-consent", "$.Data.ControlParameters.VRPType"),
    "v3.1.11_vrp-1-resp": ("domestic-vrp", "$.Data.Instruction"),
    "v3.1.11_vrp-2-consent-resp": ("domestic-vrp-consent", "$.Data.ControlParameters.VRPType"),
    "v3.1.11_vrp-2-req": ("domestic-vrp-request", "$.Data"),
    "v3.1.11_vrp-2-resp": ("domestic-vrp", "$.Data.Instruction"),
    "v3.1.11_vrp-usage-examples_04": ("domestic-vrp-consent", "$.Data.ControlParameters.VRPType"),
    "v3.1.11_vrp-usage-examples_11": ("domestic-vrp-consent", "$.Data"),
    "v3.1.11_vrp-usage-examples_15": ("domestic-vrp-consent", "$.Data.ControlParameters.VRPType"),
    "v3.1.11_vrp-usage-examples_18": ("domestic-vrp-consent", "$.Data.ControlParameters.VRPType"),
    "v3.1.11_vrp-usage-examples_22": ("domestic-vrp", "$.Data.Instruction"),
}

# Parts of bodies and HTTP headers: no resource that is modelled.
NOT_MODELLED = {
    "v3.1.11_account-and-transaction-api-profile_03",
    "v3.1.11_domestic-vrp-consents_01",
    "v3.1.11_domestic-vrp-consents_02",
    "v3.1.11_domestic-vrp-consents_03",
    "v3.1.11_read-write-data-api-profile_06",
    "v3.1.11_read-write-data-api-profile_08",
    "v3.1.11_read-write-data-api-profile_20",
    "v3.1.11_read-write-data-api-profile_21",
    "v3.1.11_read-write-data-api-profile_35",
}


def example(specs: Path, name: str) -> bytes:
    return (specs / "obie" / "examples" / f"{name}.json").read_bytes()


def shape_of(name: str, resource: str) -> type[Wire]:
    return STANDARD.shape(resource, version=name.removeprefix("v").split("_")[0])


def test_no_published_example_is_left_out(specs: Path) -> None:
    published = {path.stem for path in (specs / "obie" / "examples").glob("v*.json")}
    assert OF_A_SHAPE.keys() | BREAKING_THEIR_SCHEMA.keys() | NOT_MODELLED == published


@pytest.mark.parametrize("name", OF_A_SHAPE)
def test_a_published_example_comes_back_as_it_was(
    specs: Path, name: str, numbers_as_text: Callable[[bytes], object]
) -> None:
    octets = example(specs, name)
    resource = OF_A_SHAPE[name]
    read = decode(octets, shape_of(name, resource), standard="uk-obie", resource=resource)
    assert numbers_as_text(encode(read)) == numbers_as_text(octets)


@pytest.mark.parametrize("name", BREAKING_THEIR_SCHEMA)
def test_a_published_example_that_breaks_its_schema_is_refused_where_it_does(
    specs: Path, name: str, numbers_as_text: Callable[[bytes], object]
) -> None:
    octets = example(specs, name)
    resource, path = BREAKING_THEIR_SCHEMA[name]
    with pytest.raises(MalformedBody) as caught:
        decode(octets, shape_of(name, resource), standard="uk-obie", resource=resource)
    assert caught.value.path == path
    kept = decode(octets, Wire, standard="uk-obie", resource=resource)
    assert numbers_as_text(encode(kept)) == numbers_as_text(octets)


@pytest.mark.parametrize("name", sorted(NOT_MODELLED))
def test_a_body_of_no_modelled_shape_is_kept_as_an_open_object(
    specs: Path, name: str, numbers_as_text: Callable[[bytes], object]
) -> None:
    octets = example(specs, name)
    kept = decode(octets, Wire, standard="uk-obie", resource="anything")
    assert numbers_as_text(encode(kept)) == numbers_as_text(octets)
