from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from op_openbanking.errors import MalformedBody
from op_openbanking.standards.base import Wire, decode, encode
from op_openbanking.standards.cdr import errors as cdr_errors
from op_openbanking.standards.registry import standard
from op_openbanking.standards.stet import accounts, errors, payments, wire

pytestmark = pytest.mark.conformance

Load = Callable[[Path], dict[str, Any]]
Read = Callable[[bytes], object]

BERLIN_GROUP = {
    "paymentInitiationSctBody_payments_json": "payment-request",
    "paymentInitiationSctBody_periodic-payments_json": "periodic-payment-request",
    "accountDetailsRegularAccount": "account",
    "accountDetailsMulticurrencyAccount": "account",
    "accountListExample1": "accounts",
    "accountListExample3": "accounts",
    "cardAccountListExample1": "card-accounts",
    "cardAccountDetailsExample": "card-account",
    "startScaProcessResponseExample1": "authorisation-started",
    "signingBasketExample": "signing-basket-request",
    "createSigningBasketResponseExample1": "signing-basket-created",
    "getSigningBasketResponseExample1": "signing-basket",
    "consentsExample_DedicatedAccounts": "consent-request",
    "consentsExample_AccountList": "consent-request",
    "authorisationConfirmationExample_Redirect": "authorisation-confirmation-request",
    "consentsInformationResponseExample": "consent",
    "consentResponseExample1b_Redirect": "consent-created",
    "consentResponseExample3_Decoupled": "consent-created",
    "consentResponseExample4_Embedded": "consent-created",
    "paymentInitiationExample_json__RedirectExplicitAuthorisation": "payment-created",
    "paymentInitiationExample_json_OAuth2": "payment-created",
    "paymentInitiationExample_json_Decoupled": "payment-created",
    "paymentInitiationExample_json_Embedded": "payment-created",
    "paymentInitiationStatusResponse_json_Simple": "payment-status",
    "paymentInitiationCancelResponse-202": "payment-cancelled",
    "updatePsuIdentificationResponseExample_Decoupled_payments": "psu-identified",
    "updatePsuAuthenticationResponseExample_Embedded_payments": "psu-authenticated",
    "selectPsuAuthenticationMethodResponseExample_Embedded_payments": "method-selected",
    "transactionAuthorisationResponseExample": "sca-status",
    "confirmationOfFundsResponseExample": "funds-confirmation",
    "balancesExample1_RegularAccount": "balances",
    "balancesExample2_MulticurrencyAccount": "balances",
    "balancesExample3_RegularAccount": "balances",
    "balancesExample_CardAccount": "card-balances",
    "transactionsExample2_Download_json": "transactions",
    "authorisationListExample": "authorisations",
}

# Published examples that break the published schema, and where; none is edited to pass.
BERLIN_GROUP_BREAKING = {
    "consentsExample_DedicatedAccounts": "$",
    "consentsExample_AccountList": "$",
    "consentsInformationResponseExample": "$",
    "updatePsuIdentificationResponseExample_Decoupled_payments": "$",
    "selectPsuAuthenticationMethodResponseExample_Embedded_payments": (
        "$.challengeData.otpMaxLength"
    ),
    "confirmationOfFundsResponseExample": "$.fundsAvailable",
    "balancesExample_CardAccount": "$.balances[0]",
}

# Identifiers and XML, which are no bodies; one text whose JSON is itself a string.
BERLIN_GROUP_OTHER = {
    "ibanExampleDe_01",
    "ibanExampleDe_03",
    "ibanExampleNl_01",
    "ibanExampleSe_01",
    "maskedPanExample",
    "uuidExample",
    "pain.001.001_SCT_singleTransaction",
    "pain.002.001_SCT_singleTransaction",
    "paymentInitiationStatusResponse_json_Extended",
}

STET: dict[str, type[Wire]] = {
    "ErrorModel": errors.Error,
    "GenericLink": wire.Link,
    "GenericIdentification": wire.GenericIdentification,
    "PaymentIdentification": payments.PaymentIdentification,
    "PaymentTypeInformation": payments.PaymentTypeInformation,
    "CreditTransferTransaction": payments.CreditTransferTransaction,
    "SupplementaryData": payments.SupplementaryData,
    "Transaction": accounts.Transaction,
    "AccountResource": accounts.Account,
    "BalanceResource": accounts.Balance,
    "PaymentCoverageRequestResource": payments.PaymentCoverageRequest,
    "HalPaymentRequestCreation": payments.PaymentRequestCreated,
    "Access": accounts.Consent,
}
STET_BREAKING = {
    "CreditTransferTransaction": "$",
    "HalPaymentRequestCreation": "$.appliedAuthenticationApproach",
    "Access": "$.balances",
}

# One error object each: a part of the body, not the whole.
CDR_ERRORS = (1, 2, 3, 4, 5, 7, 9, 10)


def test_no_berlin_group_example_is_left_out(specs: Path, load: Load) -> None:
    document = load(specs / "berlin-group" / "psd2-api_v1.3.12-2022-07-01.json")
    assert BERLIN_GROUP.keys() | BERLIN_GROUP_OTHER == document["components"]["examples"].keys()


@pytest.mark.parametrize("name", BERLIN_GROUP)
def test_a_berlin_group_example_comes_back_or_is_refused_where_it_breaks_its_schema(
    specs: Path, load: Load, name: str, numbers_as_text: Read
) -> None:
    document = load(specs / "berlin-group" / "psd2-api_v1.3.12-2022-07-01.json")
    octets = json.dumps(document["components"]["examples"][name]["value"]).encode()
    resource = BERLIN_GROUP[name]
    shape = standard("berlin-group").shape(resource)
    if name in BERLIN_GROUP_BREAKING:
        with pytest.raises(MalformedBody) as caught:
            decode(octets, shape, standard="berlin-group", resource=resource)
        assert caught.value.path == BERLIN_GROUP_BREAKING[name]
        shape = Wire
    read = decode(octets, shape, standard="berlin-group", resource=resource)
    assert numbers_as_text(encode(read)) == numbers_as_text(octets)


@pytest.mark.parametrize("name", STET)
def test_a_stet_example_comes_back_or_is_refused_where_it_breaks_its_schema(
    specs: Path, load: Load, name: str, numbers_as_text: Read
) -> None:
    document = load(specs / "stet" / "stet-psd2-v1.4.0.47-swagger.yaml")
    octets = json.dumps(document["definitions"][name]["example"]).encode()
    shape = STET[name]
    if name in STET_BREAKING:
        with pytest.raises(MalformedBody) as caught:
            decode(octets, shape, standard="stet", resource=name)
        assert caught.value.path == STET_BREAKING[name]
        shape = Wire
    read = decode(octets, shape, standard="stet", resource=name)
    assert numbers_as_text(encode(read)) == numbers_as_text(octets)


@pytest.mark.parametrize("number", CDR_ERRORS)
def test_a_cdr_error_example_comes_back_as_it_was(
    specs: Path, number: int, numbers_as_text: Read
) -> None:
    octets = (specs / "cdr" / "examples" / f"errors_{number:02}.json").read_bytes()
    read = decode(octets, cdr_errors.Error, standard="cdr", resource="error")
    assert numbers_as_text(encode(read)) == numbers_as_text(octets)
    whole = b'{"errors":[' + octets + b"]}"
    body = decode(whole, cdr_errors.Errors, standard="cdr", resource="error")
    assert body.errors == [read]
