from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, inspect

from op_openbanking.standards.base import Number
from op_openbanking.standards.registry import standard

pytestmark = pytest.mark.conformance

Schema = dict[str, Any]
Load = Callable[[Path], Schema]

UK_OBIE: dict[str, dict[str, str]] = {
    "account-info": {
        "account-access-consent-request": "OBReadConsent1",
        "account-access-consent": "OBReadConsentResponse1",
        "accounts": "OBReadAccount6",
        "balances": "OBReadBalance1",
        "transactions": "OBReadTransaction6",
        "beneficiaries": "OBReadBeneficiary5",
        "standing-orders": "OBReadStandingOrder6",
        "direct-debits": "OBReadDirectDebit2",
        "scheduled-payments": "OBReadScheduledPayment3",
        "party": "OBReadParty2",
        "parties": "OBReadParty3",
        "statements": "OBReadStatement2",
        "offers": "OBReadOffer1",
        "products": "OBReadProduct2",
        "error": "OBErrorResponse1",
    },
    "payment-initiation": {
        "domestic-payment-consent-request": "OBWriteDomesticConsent4",
        "domestic-payment-consent": "OBWriteDomesticConsentResponse5",
        "domestic-payment-request": "OBWriteDomestic2",
        "domestic-payment": "OBWriteDomesticResponse5",
        "domestic-scheduled-payment-consent-request": "OBWriteDomesticScheduledConsent4",
        "domestic-scheduled-payment-consent": "OBWriteDomesticScheduledConsentResponse5",
        "domestic-scheduled-payment-request": "OBWriteDomesticScheduled2",
        "domestic-scheduled-payment": "OBWriteDomesticScheduledResponse5",
        "domestic-standing-order-consent-request": "OBWriteDomesticStandingOrderConsent5",
        "domestic-standing-order-consent": "OBWriteDomesticStandingOrderConsentResponse6",
        "domestic-standing-order-request": "OBWriteDomesticStandingOrder3",
        "domestic-standing-order": "OBWriteDomesticStandingOrderResponse6",
        "international-payment-consent-request": "OBWriteInternationalConsent5",
        "international-payment-consent": "OBWriteInternationalConsentResponse6",
        "international-payment-request": "OBWriteInternational3",
        "international-payment": "OBWriteInternationalResponse5",
        "international-scheduled-payment-consent-request": "OBWriteInternationalScheduledConsent5",
        "international-scheduled-payment-consent": "OBWriteInternationalScheduledConsentResponse6",
        "international-scheduled-payment-request": "OBWriteInternationalScheduled3",
        "international-scheduled-payment": "OBWriteInternationalScheduledResponse6",
        "international-standing-order-consent-request": "OBWriteInternationalStandingOrderConsent6",
        "international-standing-order-consent": "OBWriteInternationalStandingOrderConsentResponse7",
        "international-standing-order-request": "OBWriteInternationalStandingOrder4",
        "international-standing-order": "OBWriteInternationalStandingOrderResponse7",
        "file-payment-consent-request": "OBWriteFileConsent3",
        "file-payment-consent": "OBWriteFileConsentResponse4",
        "file-payment-request": "OBWriteFile2",
        "file-payment": "OBWriteFileResponse3",
        "payment-funds-confirmation": "OBWriteFundsConfirmationResponse1",
        "payment-details": "OBWritePaymentDetailsResponse1",
    },
    "vrp": {
        "domestic-vrp-consent-request": "OBDomesticVRPConsentRequest",
        "domestic-vrp-consent": "OBDomesticVRPConsentResponse",
        "domestic-vrp-request": "OBDomesticVRPRequest",
        "domestic-vrp": "OBDomesticVRPResponse",
        "domestic-vrp-details": "OBDomesticVRPDetails",
        "domestic-vrp-funds-confirmation-request": "OBVRPFundsConfirmationRequest",
        "domestic-vrp-funds-confirmation": "OBVRPFundsConfirmationResponse",
    },
    "confirmation-funds": {
        "funds-confirmation-consent-request": "OBFundsConfirmationConsent1",
        "funds-confirmation-consent": "OBFundsConfirmationConsentResponse1",
        "funds-confirmation-request": "OBFundsConfirmation1",
        "funds-confirmation": "OBFundsConfirmationResponse1",
    },
    "events": {
        "event-subscription-request": "OBEventSubscription1",
        "event-subscription": "OBEventSubscriptionResponse1",
        "event-subscriptions": "OBEventSubscriptionsResponse1",
        "events-request": "OBEventPolling1",
        "events": "OBEventPollingResponse1",
    },
    "event-notifications": {"event-notification": "OBEventNotification1"},
}

BERLIN_GROUP = {
    "accounts": "accountList",
    "balances": "readAccountBalanceResponse-200",
    "transactions": "transactionsResponse-200_json",
    "card-accounts": "cardAccountList",
    "card-balances": "readCardAccountBalanceResponse-200",
    "card-transactions": "cardAccountsTransactionsResponse200",
    "consent-request": "consents",
    "consent-created": "consentsResponse-201",
    "consent": "consentInformationResponse-200_json",
    "consent-status": "consentStatusResponse-200",
    "payment-request": "paymentInitiation_json",
    "periodic-payment-request": "periodicPaymentInitiation_json",
    "bulk-payment-request": "bulkPaymentInitiation_json",
    "payment-created": "paymentInitiationRequestResponse-201",
    "payment-status": "paymentInitiationStatusResponse-200_json",
    "payment-cancelled": "paymentInitiationCancelResponse-202",
    "payment": "paymentInitiationWithStatusResponse",
    "periodic-payment": "periodicPaymentInitiationWithStatusResponse",
    "bulk-payment": "bulkPaymentInitiationWithStatusResponse",
    "authorisations": "authorisations",
    "authorisation-started": "startScaprocessResponse",
    "sca-status": "scaStatusResponse",
    "psu-identified": "updatePsuIdentificationResponse",
    "psu-authentication-request": "updatePsuAuthentication",
    "psu-authenticated": "updatePsuAuthenticationResponse",
    "method-request": "selectPsuAuthenticationMethod",
    "method-selected": "selectPsuAuthenticationMethodResponse",
    "transaction-authorisation-request": "transactionAuthorisation",
    "authorisation-confirmation-request": "authorisationConfirmation",
    "authorisation-confirmation": "authorisationConfirmationResponse",
    "signing-basket-request": "signingBasket",
    "signing-basket-created": "signingBasketResponse-201",
    "signing-basket": "signingBasketResponse-200",
    "signing-basket-status": "signingBasketStatusResponse-200",
    "funds-confirmation-request": "confirmationOfFunds",
    "error": "Error400_NG_AIS",
    "problem": "Error400_AIS",
}

# Documents of their own beside the main one.
BERLIN_GROUP_BESIDE = {
    "psd2-confirmation-of-funds-consent-2.0-20190607.yaml": (
        ("funds-consent-request", "consentsConfirmationOfFunds"),
        ("funds-consent-created", "ConsentsConfirmationOfFundsResponse"),
        ("funds-consent-created", "ConsentsConfirmationOfFundsMultilevelSCAResponse"),
        ("funds-consent", "ConsentConfirmationOfFundsContentResponse"),
        ("funds-consent-status", "ConsentConfirmationOfFundsStatusResponse"),
    ),
    "psd2-trusted_beneficiaries_v1.0.0_20200519v1.yaml": (
        ("trusted-beneficiaries", "trustedBeneficiaries"),
    ),
}

# Answers whose schema is written inside the operation: path, method, status.
BERLIN_GROUP_INSIDE = {
    "account": ("/v1/accounts/{account-id}", "get", "200"),
    "card-account": ("/v1/card-accounts/{account-id}", "get", "200"),
    "transaction": ("/v1/accounts/{account-id}/transactions/{transactionId}", "get", "200"),
    "funds-confirmation": ("/v1/funds-confirmations", "post", "200"),
}

CDR = {
    "cds_banking": {
        "accounts": "ResponseBankingAccountListV2",
        "account": "ResponseBankingAccountByIdV3",
        "balances": "ResponseBankingAccountsBalanceList",
        "balance": "ResponseBankingAccountsBalanceById",
        "account-ids-request": "RequestAccountIds",
        "transactions": "ResponseBankingTransactionList",
        "transaction": "ResponseBankingTransactionById",
        "payees": "ResponseBankingPayeeListV2",
        "payee": "ResponseBankingPayeeByIdV2",
        "direct-debits": "ResponseBankingDirectDebitAuthorisationList",
        "scheduled-payments": "ResponseBankingScheduledPaymentsListV2",
        "error": "ResponseErrorListV2",
    },
    "cds_common": {
        "customer": "ResponseCommonCustomer",
        "customer-detail": "ResponseCommonCustomerDetailV2",
    },
}

STET = {
    "accounts": "HalAccounts",
    "balances": "HalBalances",
    "transactions": "HalTransactions",
    "trusted-beneficiaries": "HalBeneficiaries",
    "consent-request": "Access",
    "payment-request": "PaymentRequestResource",
    "payment": "HalPaymentRequest",
    "payment-created": "HalPaymentRequestCreation",
    "confirmation-request": "ConfirmationResource",
    "funds-confirmation-request": "PaymentCoverageRequestResource",
    "funds-confirmation": "HalPaymentCoverageReport",
    "error": "ErrorModel",
}


@dataclass
class Census:
    """Where each shape is used in the published schemas, and what they say of it there."""

    members: dict[type[Struct], list[set[str]]] = field(default_factory=lambda: defaultdict(list))
    required: dict[type[Struct], list[set[str]]] = field(default_factory=lambda: defaultdict(list))
    wrong_kinds: list[str] = field(default_factory=list)
    left_open: set[str] = field(default_factory=set)

    def count(self, document: Schema, schema: Schema, shape: type[Struct], where: str) -> None:
        """Walk a schema and a shape side by side."""
        properties, required = _flat(document, schema)
        self.members[shape].append(set(properties))
        self.required[shape].append(required)
        for field_ in _fields(shape):
            if field_.encode_name in properties:
                self._member(
                    document,
                    properties[field_.encode_name],
                    field_.type,
                    f"{where}.{field_.encode_name}",
                )

    def _member(self, document: Schema, schema: Schema, declared: inspect.Type, where: str) -> None:
        schema = _resolved(document, schema)
        if not schema:
            return  # a reference to nothing, which one published file has
        for kind in _alternatives(declared):
            match kind:
                case inspect.StructType(cls=shape):
                    self._object(document, schema, shape, where)
                case inspect.ListType(item_type=item) if schema.get("type") == "array":
                    self._member(document, schema.get("items", {}), item, f"{where}[]")
                case inspect.DictType():
                    if schema.get("type") not in {"object", None}:
                        self.wrong_kinds.append(f"{where} is no object")
                case _:
                    if not _is_kind(kind, schema) and len(_alternatives(declared)) == 1:
                        self.wrong_kinds.append(f"{where} is {schema.get('type')}")

    def _object(self, document: Schema, schema: Schema, shape: type[Struct], where: str) -> None:
        properties, _ = _flat(document, schema)
        if properties and _fields(shape):
            self.count(document, schema, shape, where)
        elif properties:
            self.left_open.add(where.partition(" ")[2] or where)
        elif _fields(shape) and schema.get("type") != "array":
            self.wrong_kinds.append(f"{where} is no object")

    def missing(self) -> list[str]:
        """Members of the schemas that no shape declares."""
        return sorted(
            f"{shape.__name__}.{name}"
            for shape, places in self.members.items()
            for name in set().union(*places) - _names(shape)
        )

    def invented(self) -> list[str]:
        """Members of the shapes that no schema has."""
        return sorted(
            f"{shape.__name__}.{name}"
            for shape, places in self.members.items()
            for name in _names(shape) - set().union(*places)
        )

    def wrongly_required(self) -> list[str]:
        """Members whose optionality is not that of the schemas: required is required everywhere."""
        return sorted(
            f"{shape.__name__}.{name}"
            for shape, places in self.required.items()
            for name in set.intersection(*places).symmetric_difference(
                {f.encode_name for f in _fields(shape) if f.required}
            )
        )


def _resolved(document: Schema, schema: Schema) -> Schema:
    while "$ref" in schema:
        node: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            node = node.get(part.replace("~1", "/").replace("~0", "~"), {})
        schema = node
    return schema


def _flat(document: Schema, schema: Schema) -> tuple[Mapping[str, Schema], set[str]]:
    """Properties and required members, through references, `allOf`, `oneOf` and `anyOf`."""
    schema = _resolved(document, schema)
    properties: dict[str, Schema] = dict(schema.get("properties") or {})
    required = set(schema.get("required") or [])
    for part in schema.get("allOf", []):
        more, needed = _flat(document, part)
        properties = {**more, **properties}
        required |= needed
    choices = [_flat(document, part) for part in schema.get("oneOf") or schema.get("anyOf") or []]
    for more, _ in choices:
        properties = {**more, **properties}
    if choices:
        required |= set.intersection(*(needed for _, needed in choices))
    return properties, required & properties.keys()


def _fields(shape: type[Struct]) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(shape)
    assert isinstance(info, inspect.StructType)
    return tuple(f for f in info.fields if f.name != "unknown")


def _names(shape: type[Struct]) -> set[str]:
    return {f.encode_name for f in _fields(shape)}


def _alternatives(declared: inspect.Type) -> tuple[inspect.Type, ...]:
    if isinstance(declared, inspect.UnionType):
        return tuple(t for t in declared.types if not isinstance(t, inspect.NoneType))
    return (declared,)


def _is_kind(kind: inspect.Type, schema: Schema) -> bool:
    return schema.get("type") in set(_types(kind))


def _types(kind: inspect.Type) -> Iterator[str | None]:
    match kind:
        case inspect.StrType():
            yield from ("string", None)
        case inspect.BoolType():
            yield "boolean"
        case inspect.IntType():
            yield "integer"
        case inspect.ListType():
            yield "array"
        case inspect.CustomType(cls=cls) if cls is Number:
            yield "number"
        case _:
            return


@pytest.fixture
def census() -> Census:
    return Census()


def assert_mirrors(
    census: Census,
    *,
    invented: list[str],
    wrongly_required: list[str] | None = None,
    left_open: set[str] | None = None,
) -> None:
    assert len(census.members) > 10
    assert census.missing() == []
    assert census.invented() == invented
    assert census.wrongly_required() == (wrongly_required or [])
    assert census.wrong_kinds == []
    assert census.left_open == (left_open or set())


def test_uk_obie_mirrors_the_schemas_of_both_versions(
    specs: Path, load: Load, census: Census
) -> None:
    obie = standard("uk-obie")
    # The older way to name a callback has no published file; its examples are held to instead.
    without_file = {"callback-url", "callback-urls"}
    modelled = {r for table in UK_OBIE.values() for r in table}
    assert modelled | without_file == obie.resources.keys()
    for version in obie.versions:
        for file, table in UK_OBIE.items():
            document = load(specs / "obie" / f"v{version}" / f"{file}-openapi.yaml")
            for resource, schema in table.items():
                shape = obie.shape(resource, version=version)
                reference = {"$ref": f"#/components/schemas/{schema}"}
                census.count(document, reference, shape, f"{version} {resource}")
    assert_mirrors(
        census,
        invented=[
            # Kinds of events that the text names and the file leaves out.
            "Event.urn:uk:org:openbanking:events:account-access-consent-linked-account-update",
            "Event.urn:uk:org:openbanking:events:consent-authorization-revoked",
            # The text's spelling; the file misspells it.
            "Risk.ContractPresentIndicator",
        ],
        wrongly_required=["Event.urn:uk:org:openbanking:events:resource-update"],
        left_open={
            f"products.Data.Product[].{terms}" for terms in ("BCA", "OtherProductType", "PCA")
        },
    )


def test_berlin_group_mirrors_the_schemas(specs: Path, load: Load, census: Census) -> None:
    berlin = standard("berlin-group")
    beside = {resource for table in BERLIN_GROUP_BESIDE.values() for resource, _ in table}
    modelled = BERLIN_GROUP.keys() | BERLIN_GROUP_INSIDE.keys() | beside
    assert modelled == berlin.resources.keys()
    document = load(specs / "berlin-group" / "psd2-api_v1.3.12-2022-07-01.json")
    for resource, schema in BERLIN_GROUP.items():
        reference = {"$ref": f"#/components/schemas/{schema}"}
        census.count(document, reference, berlin.shape(resource), resource)
    for resource, (path, method, status) in BERLIN_GROUP_INSIDE.items():
        answer = document["paths"][path][method]["responses"][status]
        while "$ref" in answer:
            answer = document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
        schema_inside = answer["content"]["application/json"]["schema"]
        census.count(document, schema_inside, berlin.shape(resource), resource)
    for file, table in BERLIN_GROUP_BESIDE.items():
        document = load(specs / "berlin-group" / file)
        for resource, schema in table:
            reference = {"$ref": f"#/components/schemas/{schema}"}
            census.count(document, reference, berlin.shape(resource), resource)
    assert_mirrors(
        census,
        invented=["Payment.requestedExecutionDate", "Payment.requestedExecutionTime"],
    )


def test_cdr_mirrors_the_schemas(specs: Path, load: Load, census: Census) -> None:
    cdr = standard("cdr")
    assert {r for table in CDR.values() for r in table} == cdr.resources.keys()
    for file, table in CDR.items():
        document = load(specs / "cdr" / "v1.31.0" / f"{file}.json")
        for resource, schema in table.items():
            reference = {"$ref": f"#/components/schemas/{schema}"}
            census.count(document, reference, cdr.shape(resource), resource)
    assert_mirrors(census, invented=[])


def test_stet_mirrors_the_schemas(specs: Path, load: Load, census: Census) -> None:
    stet = standard("stet")
    assert STET.keys() == stet.resources.keys()
    document = load(specs / "stet" / "stet-psd2-v1.4.0.47-swagger.yaml")
    for resource, schema in STET.items():
        reference = {"$ref": f"#/definitions/{schema}"}
        census.count(document, reference, stet.shape(resource), resource)
    assert_mirrors(census, invented=[])
