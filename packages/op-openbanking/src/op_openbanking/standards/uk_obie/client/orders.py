"""A payment in the model's words, as the consent request of a UK bank.

Source: OBIE Read/Write 3.1.11, OBWriteDomesticConsent4 and its family.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.errors import ConfigError
from op_openbanking.model.account import AccountReference, Scheme
from op_openbanking.model.money import Money
from op_openbanking.standards.base import Maybe, Wire
from op_openbanking.standards.uk_obie import domestic, international, wire
from op_openbanking.standards.uk_obie.client.channel import Channel
from op_openbanking.traits.wish import NewPayment

_SCHEMES = {
    Scheme.IBAN: "UK.OBIE.IBAN",
    Scheme.BBAN: "UK.OBIE.BBAN",
    Scheme.SORT_CODE: "UK.OBIE.SortCodeAccountNumber",
    Scheme.PAN: "UK.OBIE.PAN",
    Scheme.MSISDN: "UK.OBIE.Paym",
}


def consent_request(wish: NewPayment, channel: Channel) -> Wire:
    """The consent request for a payment.

    Raises:
        ConfigError: The standard has no such product, or cannot name the account.
    """
    abroad = wish.currency_of_transfer is not None
    if wish.recurrence is not None:
        return _international_standing_order(wish) if abroad else _standing_order(wish)
    if wish.execute is not None:
        return _international_scheduled(wish, channel) if abroad else _scheduled(wish, channel)
    return _international(wish, channel) if abroad else _single(wish, channel)


def account(reference: AccountReference, *, name: str | None = None) -> wire.AccountIdentification:
    """An account as a payment names it.

    Raises:
        ConfigError: The standard has no scheme for it.
    """
    scheme = reference.scheme.text
    if "." not in scheme:
        known = reference.scheme.known
        if known not in _SCHEMES:
            raise ConfigError(f"uk-obie cannot name an account by {reference.scheme}")
        scheme = _SCHEMES[known]
    return wire.AccountIdentification(
        scheme_name=scheme,
        identification=reference.identification,
        name=_some(reference.name or name),
        secondary_identification=_some(reference.secondary),
    )


def amount(money: Money) -> wire.Amount:
    """An amount, with the digits it was written with."""
    return wire.Amount(amount=money.text, currency=money.currency)


def _single(wish: NewPayment, channel: Channel) -> domestic.DomesticConsent:
    return domestic.DomesticConsent(
        data=domestic.DomesticConsentData(
            initiation=domestic.DomesticInitiation(
                instruction_identification=wish.instruction_id or channel.fresh_id(),
                end_to_end_identification=wish.end_to_end_id or channel.fresh_id(),
                local_instrument=_some(wish.product),
                instructed_amount=amount(wish.amount),
                debtor_account=_debtor(wish),
                creditor_account=_creditor(wish),
                remittance_information=_remittance(wish),
            )
        ),
        risk=wire.Risk(),
    )


def _scheduled(wish: NewPayment, channel: Channel) -> domestic.DomesticScheduledConsent:
    return domestic.DomesticScheduledConsent(
        data=domestic.DomesticScheduledConsentData(
            permission="Create",
            initiation=domestic.DomesticScheduledInitiation(
                instruction_identification=wish.instruction_id or channel.fresh_id(),
                end_to_end_identification=wish.end_to_end_id or channel.fresh_id(),
                local_instrument=_some(wish.product),
                requested_execution_date_time=_execute(wish),
                instructed_amount=amount(wish.amount),
                debtor_account=_debtor(wish),
                creditor_account=_creditor(wish),
                remittance_information=_remittance(wish),
            ),
        ),
        risk=wire.Risk(),
    )


def _standing_order(wish: NewPayment) -> domestic.DomesticStandingOrderConsent:
    return domestic.DomesticStandingOrderConsent(
        data=domestic.DomesticStandingOrderConsentData(
            permission="Create",
            initiation=domestic.DomesticStandingOrderInitiation(
                frequency=_frequency(wish),
                first_payment_date_time=_first(wish),
                first_payment_amount=amount(wish.amount),
                number_of_payments=_count(wish),
                final_payment_date_time=_last(wish),
                reference=_some(wish.reference),
                debtor_account=_debtor(wish),
                creditor_account=_creditor(wish),
            ),
        ),
        risk=wire.Risk(),
    )


def _international(wish: NewPayment, channel: Channel) -> international.InternationalConsent:
    return international.InternationalConsent(
        data=international.InternationalConsentData(
            initiation=international.InternationalInitiation(
                instruction_identification=wish.instruction_id or channel.fresh_id(),
                end_to_end_identification=wish.end_to_end_id or channel.fresh_id(),
                local_instrument=_some(wish.product),
                currency_of_transfer=wish.currency_of_transfer or "",
                instructed_amount=amount(wish.amount),
                debtor_account=_debtor(wish),
                creditor=_party(wish),
                creditor_account=_creditor(wish),
                remittance_information=_remittance(wish),
            )
        ),
        risk=wire.Risk(),
    )


def _international_scheduled(
    wish: NewPayment, channel: Channel
) -> international.InternationalScheduledConsent:
    return international.InternationalScheduledConsent(
        data=international.InternationalScheduledConsentData(
            permission="Create",
            initiation=international.InternationalScheduledInitiation(
                instruction_identification=wish.instruction_id or channel.fresh_id(),
                end_to_end_identification=wish.end_to_end_id or channel.fresh_id(),
                local_instrument=_some(wish.product),
                requested_execution_date_time=_execute(wish),
                currency_of_transfer=wish.currency_of_transfer or "",
                instructed_amount=amount(wish.amount),
                debtor_account=_debtor(wish),
                creditor=_party(wish),
                creditor_account=_creditor(wish),
                remittance_information=_remittance(wish),
            ),
        ),
        risk=wire.Risk(),
    )


def _international_standing_order(
    wish: NewPayment,
) -> international.InternationalStandingOrderConsent:
    return international.InternationalStandingOrderConsent(
        data=international.InternationalStandingOrderConsentData(
            permission="Create",
            initiation=international.InternationalStandingOrderInitiation(
                frequency=_frequency(wish),
                first_payment_date_time=_first(wish),
                number_of_payments=_count(wish),
                final_payment_date_time=_last(wish),
                reference=_some(wish.reference),
                currency_of_transfer=wish.currency_of_transfer or "",
                instructed_amount=amount(wish.amount),
                debtor_account=_debtor(wish),
                creditor=_party(wish),
                creditor_account=_creditor(wish),
            ),
        ),
        risk=wire.Risk(),
    )


def _creditor(wish: NewPayment) -> wire.AccountIdentification:
    return account(wish.creditor, name=wish.creditor_name)


def _debtor(wish: NewPayment) -> Maybe[wire.AccountIdentification]:
    return UNSET if wish.debtor is None else account(wish.debtor)


def _party(wish: NewPayment) -> Maybe[international.Creditor]:
    name = wish.creditor_name or wish.creditor.name
    return UNSET if name is None else international.Creditor(name=name)


def _remittance(wish: NewPayment) -> Maybe[wire.RemittanceInformation]:
    if wish.reference is None and wish.text is None:
        return UNSET
    return wire.RemittanceInformation(
        reference=_some(wish.reference), unstructured=_some(wish.text)
    )


def _execute(wish: NewPayment) -> str:
    if wish.execute is None or wish.execute.instant is None:
        raise ConfigError("uk-obie executes at a date and time with an offset, not on a date alone")
    return wish.execute.text


def _frequency(wish: NewPayment) -> str:
    if wish.recurrence is None or not wish.recurrence.frequency.text:
        raise ConfigError("a standing order of uk-obie needs a Frequency in the standard's words")
    return wish.recurrence.frequency.text


def _first(wish: NewPayment) -> str:
    recurrence = wish.recurrence
    if recurrence is None or recurrence.first is None or recurrence.first.instant is None:
        raise ConfigError("a standing order of uk-obie needs a first date and time with an offset")
    return recurrence.first.text


def _last(wish: NewPayment) -> Maybe[str]:
    recurrence = wish.recurrence
    return UNSET if recurrence is None or recurrence.last is None else recurrence.last.text


def _count(wish: NewPayment) -> Maybe[str]:
    recurrence = wish.recurrence
    if recurrence is None or recurrence.count is None:
        return UNSET
    return str(recurrence.count)


def _some(text: str | None) -> Maybe[str]:
    # OBIE: a member without value is left out, never null or empty.
    return text or UNSET
