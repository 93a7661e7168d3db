"""Variable recurring payments at a UK bank.

Source: OBIE Read/Write 3.1.10 and 3.1.11, VRP API.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from op_openbanking.errors import ConfigError, quoted
from op_openbanking.flow import Flow
from op_openbanking.jose.strict_json import encode_object
from op_openbanking.model.consent import Consent
from op_openbanking.model.money import Money
from op_openbanking.model.vrp import VRPMandate, VRPPayment
from op_openbanking.standards.base import Maybe, Wire, decode, encode, known
from op_openbanking.standards.uk_obie import payment_mapping, vrp, wire
from op_openbanking.standards.uk_obie.client.channel import JSON_UTF8, Channel
from op_openbanking.standards.uk_obie.client.consents import MANDATE, OBIEConsents
from op_openbanking.standards.uk_obie.client.orders import account, amount
from op_openbanking.standards.uk_obie.client.piis import confirmation_request
from op_openbanking.standards.uk_obie.client.repeated import repeated
from op_openbanking.standards.where import Where
from op_openbanking.stores import records
from op_openbanking.stores.records import ConsentRecord, Submission, SubmissionState
from op_openbanking.traits.piis import FundsConfirmation
from op_openbanking.traits.wish import NewMandate, NewVRPPayment, Presence

_SCA_NOT_REQUIRED: Final = "UK.OBIE.SCANotRequired"
_WITHOUT_TYPE: Final = "3.1.10"
_UNCHANGED: Final = ("Available", "NotAvailable")


@dataclass(frozen=True, slots=True)
class OBIEMandates:
    """Fills `traits.vrp.VRP`."""

    channel: Channel
    consents: OBIEConsents

    def ask(self, mandate: NewMandate | Wire) -> Flow[Consent]:
        """See `VRP.ask`; takes a `VRPConsent` too."""
        request = self._request(mandate) if isinstance(mandate, NewMandate) else mandate
        if not isinstance(request, vrp.VRPConsent):
            raise ConfigError(f"{type(request).__name__} asks for no mandate of uk-obie")
        return (yield from self.consents.ask(MANDATE, encode(request)))

    def mandate(self, consent_id: str) -> Flow[VRPMandate]:
        """See `VRP.mandate`."""
        self._record(consent_id)
        yield from self.consents.read(consent_id)
        answer = self.channel.link.consent(consent_id).answer
        return payment_mapping.vrp_mandate(
            decode(answer, vrp.VRPConsentResponse, standard="uk-obie", resource=MANDATE)
        )

    def confirm(self, consent_id: str, asked: Money, *, reference: str) -> Flow[FundsConfirmation]:
        """See `VRP.confirm`."""
        link = self.channel.link
        self._record(consent_id)
        path = "/domestic-vrp-consents/{consent_id}/funds-confirmation"
        response = yield from self.channel.post(
            link.url("vrp", path, consent_id=consent_id),
            encode(confirmation_request(consent_id, asked, reference)),
            consent_id=consent_id,
            signed=True,
        )
        resource = "domestic-vrp-funds-confirmation"
        body = link.decode(response, vrp.VRPFundsConfirmationResponse, resource)
        result = body.data.funds_available_result
        where = Where("uk-obie", resource, "$.Data.FundsAvailableResult")
        if result.funds_available not in _UNCHANGED:
            raise where.refusal("neither Available nor NotAvailable", member="FundsAvailable")
        return FundsConfirmation(
            available=result.funds_available == _UNCHANGED[0],
            raw=body,
            at=where.when(result.funds_available_date_time, member="FundsAvailableDateTime"),
            id=body.data.funds_confirmation_id,
        )

    def pay(
        self, consent_id: str, payment: NewVRPPayment, *, presence: Presence | None = None
    ) -> Flow[VRPPayment]:
        """See `VRP.pay`. Initiation and Risk repeat the consent's octets."""
        channel, link = self.channel, self.channel.link
        record = self._record(consent_id)
        wanted = Submission(
            key=_key(consent_id, payment.instruction_id),
            idempotency_key=channel.fresh_key(),
            url=link.url("vrp", "/domestic-vrps"),
            content_type=JSON_UTF8,
            body=self._body(record, payment),
            created_at_s=link.now_s,
        )
        response = yield from channel.submit(wanted, consent_id=consent_id, presence=presence)
        return payment_mapping.vrp_payment(
            link.decode(response, vrp.VRPPaymentResponse, "domestic-vrp")
        )

    def payment(self, consent_id: str, instruction_id: str) -> Flow[VRPPayment]:
        """See `VRP.payment`.

        Raises:
            ConfigError: No such payment was made.
        """
        link = self.channel.link
        made = records.load(link.store, Submission, _key(consent_id, instruction_id))
        if made is None or made.state is not SubmissionState.ANSWERED:
            raise ConfigError(f"no payment {quoted(instruction_id)} was made under this mandate")
        body = decode(
            made.answer, vrp.VRPPaymentResponse, standard="uk-obie", resource="domestic-vrp"
        )
        path = "/domestic-vrps/{payment_id}"
        response = yield from self.channel.get(
            link.url("vrp", path, payment_id=body.data.domestic_vrp_id),
            scope="payments",
            signed=True,
        )
        return payment_mapping.vrp_payment(
            link.decode(response, vrp.VRPPaymentResponse, "domestic-vrp")
        )

    def _record(self, consent_id: str) -> ConsentRecord:
        record = self.channel.link.consent(consent_id)
        if record.product != MANDATE:
            raise ConfigError(f"consent {quoted(consent_id)} is for {record.product}, no mandate")
        return record

    def _body(self, record: ConsentRecord, payment: NewVRPPayment) -> bytes:
        source = (
            record.answer if self.channel.quirks.initiation_from == "answer" else record.request
        )
        asked = decode(record.request, vrp.VRPConsent, standard="uk-obie", resource=MANDATE)
        control, initiation = asked.data.control_parameters, asked.data.initiation
        creditor: wire.AccountIdentification | None
        if payment.creditor is None:
            creditor = known(initiation.creditor_account)
        else:
            creditor = account(payment.creditor)
        if creditor is None:
            raise ConfigError("the mandate fixes no payee, so the payment must name one")
        method = control.psu_authentication_methods[0]
        instruction = vrp.VRPInstruction(
            instruction_identification=payment.instruction_id,
            end_to_end_identification=payment.end_to_end_id or payment.instruction_id,
            instructed_amount=amount(payment.amount),
            creditor_account=creditor,
            remittance_information=_remittance(payment, initiation),
        )
        beside = {"PSUAuthenticationMethod": encode_object(method)}
        if self.channel.link.profile.version != _WITHOUT_TYPE:
            beside["VRPType"] = encode_object(payment.kind or control.vrp_type[0])
        beside["Instruction"] = encode(instruction)
        return repeated(source).body(record.id, beside=beside)

    def _request(self, wish: NewMandate) -> vrp.VRPConsent:
        limits = [
            vrp.PeriodicLimit(
                period_type=limit.period.text,
                period_alignment=limit.alignment.text,
                amount=limit.amount.text,
                currency=limit.amount.currency,
            )
            for limit in wish.limits
        ]
        begins, ends = wish.valid_from, wish.valid_to
        return vrp.VRPConsent(
            data=vrp.VRPConsentData(
                control_parameters=vrp.ControlParameters(
                    vrp_type=list(wish.kinds),
                    psu_authentication_methods=[_SCA_NOT_REQUIRED],
                    maximum_individual_amount=amount(wish.maximum),
                    periodic_limits=limits,
                    valid_from_date_time=UNSET if begins is None else self.channel.moment(begins),
                    valid_to_date_time=UNSET if ends is None else self.channel.moment(ends),
                ),
                initiation=vrp.VRPInitiation(
                    debtor_account=UNSET if wish.debtor is None else account(wish.debtor),
                    creditor_account=UNSET if wish.creditor is None else account(wish.creditor),
                    remittance_information=(
                        UNSET
                        if wish.reference is None
                        else wire.RemittanceInformation(reference=wish.reference)
                    ),
                ),
            ),
            risk=wire.Risk(),
        )


def _remittance(
    payment: NewVRPPayment, initiation: vrp.VRPInitiation
) -> Maybe[wire.RemittanceInformation]:
    if payment.reference is None:
        return initiation.remittance_information
    return wire.RemittanceInformation(reference=payment.reference)


def _key(consent_id: str, instruction_id: str) -> str:
    return f"domestic-vrp:{consent_id}:{instruction_id}"
