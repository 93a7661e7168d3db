"""Payments at a UK bank.

Source: OBIE Read/Write 3.1.11, payment initiation API.
"""

from __future__ import annotations

from dataclasses import dataclass

from op_openbanking.errors import ConfigError, quoted
from op_openbanking.flow import Flow
from op_openbanking.model.consent import Consent
from op_openbanking.model.payment import Payment
from op_openbanking.standards.base import Wire, encode, known
from op_openbanking.standards.uk_obie import payment_mapping, payment_status
from op_openbanking.standards.uk_obie.client.channel import JSON_UTF8, Channel
from op_openbanking.standards.uk_obie.client.consents import OBIEConsents
from op_openbanking.standards.uk_obie.client.orders import consent_request
from op_openbanking.standards.uk_obie.client.products import PRODUCTS, Product, product_of
from op_openbanking.standards.uk_obie.client.repeated import repeated
from op_openbanking.standards.where import Where
from op_openbanking.stores.records import ConsentRecord, Submission
from op_openbanking.traits.capability import Operation
from op_openbanking.traits.piis import FundsConfirmation
from op_openbanking.traits.wish import NewPayment

_PAYMENT: str = "payment_id"


@dataclass(frozen=True, slots=True)
class OBIEPayments:
    """Fills `traits.pisp.PISP`."""

    channel: Channel
    consents: OBIEConsents

    def ask(self, payment: NewPayment | Wire) -> Flow[Consent]:
        """See `PISP.ask`; takes every consent request of `products` too."""
        request: Wire
        match payment:
            case NewPayment():
                request = consent_request(payment, self.channel)
            case _:
                request = payment
        product = product_of(request)
        return (yield from self.consents.ask(product.name, encode(request)))

    def submit(self, consent_id: str) -> Flow[Payment]:
        """See `PISP.submit`. The body repeats the consent's octets."""
        channel, link = self.channel, self.channel.link
        record, product = self._product(consent_id)
        source = record.request if channel.quirks.initiation_from == "request" else record.answer
        wanted = Submission(
            key=f"{product.name}:{consent_id}",
            idempotency_key=channel.fresh_key(),
            url=link.url("pisp", product.payments),
            content_type=JSON_UTF8,
            body=repeated(source).body(consent_id),
            created_at_s=link.now_s,
        )
        response = yield from channel.submit(wanted, consent_id=consent_id)
        payment = payment_mapping.payment(link.decode(response, product.payment, product.name))
        link.amend(consent_id, facts={_PAYMENT: payment.id})
        return payment

    def payment(self, consent_id: str) -> Flow[Payment]:
        """See `PISP.payment`."""
        link = self.channel.link
        _, product, payment_id = self._made(consent_id)
        response = yield from self.channel.get(
            link.url("pisp", f"{product.payments}/{{payment_id}}", payment_id=payment_id),
            scope="payments",
            signed=True,
        )
        return payment_mapping.payment(link.decode(response, product.payment, product.name))

    def details(self, consent_id: str) -> Flow[payment_status.PaymentDetails]:
        """The path of a payment through the schemes: GET `/payment-details`.

        Raises:
            ConfigError: It was never submitted.
        """
        link = self.channel.link
        _, product, payment_id = self._made(consent_id)
        path = f"{product.payments}/{{payment_id}}/payment-details"
        response = yield from self.channel.get(
            link.url("pisp", path, payment_id=payment_id), scope="payments", signed=True
        )
        return link.decode(response, payment_status.PaymentDetails, "payment-details")

    def confirm(self, consent_id: str) -> Flow[FundsConfirmation]:
        """See `PISP.confirm`.

        Raises:
            CapabilityMissing: The product has no confirmation of funds.
        """
        link = self.channel.link
        _, product = self._product(consent_id)
        if not product.has_funds:
            raise self.channel.link.lacks(
                Operation.PAYMENT_FUNDS, f"{product.name} has no confirmation of funds"
            )
        path = f"{product.consents}/{{consent_id}}/funds-confirmation"
        response = yield from self.channel.get(
            link.url("pisp", path, consent_id=consent_id), consent_id=consent_id, signed=True
        )
        resource = "payment-funds-confirmation"
        body = link.decode(response, payment_status.PaymentFundsConfirmation, resource)
        result = known(body.data.funds_available_result)
        where = Where("uk-obie", resource, "$.Data.FundsAvailableResult")
        if result is None:
            raise where.refusal("missing: the bank does not answer")
        return FundsConfirmation(
            available=result.funds_available,
            raw=body,
            at=where.when(result.funds_available_date_time, member="FundsAvailableDateTime"),
        )

    def cancel(self, consent_id: str) -> Flow[Payment]:
        """Refused: a payment is cancelled in the bank's own channel."""
        raise self.channel.link.lacks(
            Operation.PAYMENT_CANCELLATION,
            f"{consent_id}: payments are cancelled in the bank's channel",
        )

    def _made(self, consent_id: str) -> tuple[ConsentRecord, Product, str]:
        record, product = self._product(consent_id)
        payment_id = record.facts.get(_PAYMENT)
        if payment_id is None:
            raise ConfigError(f"consent {quoted(consent_id)} has no payment; submit it first")
        return record, product, payment_id

    def _product(self, consent_id: str) -> tuple[ConsentRecord, Product]:
        record = self.channel.link.consent(consent_id)
        product = PRODUCTS.get(record.product)
        if product is None:
            raise ConfigError(f"consent {quoted(consent_id)} is for {record.product}, no payment")
        return record, product
