"""Confirmation of funds at a UK bank (CBPII).

Source: OBIE Read/Write 3.1.11, confirmation of funds API.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UNSET

from op_openbanking.errors import ConfigError
from op_openbanking.flow import Flow
from op_openbanking.model.consent import Consent
from op_openbanking.model.money import Money
from op_openbanking.standards.base import Wire, encode
from op_openbanking.standards.uk_obie import funds, wire
from op_openbanking.standards.uk_obie.client.channel import Channel
from op_openbanking.standards.uk_obie.client.consents import FUNDS, OBIEConsents
from op_openbanking.standards.uk_obie.client.orders import account, amount
from op_openbanking.standards.where import Where
from op_openbanking.traits.piis import FundsConfirmation
from op_openbanking.traits.wish import FundsAccess


@dataclass(frozen=True, slots=True)
class OBIEFunds:
    """Fills `traits.piis.PIIS`."""

    channel: Channel
    consents: OBIEConsents

    def ask(self, access: FundsAccess | Wire) -> Flow[Consent]:
        """See `PIIS.ask`; takes a `FundsConsent` too."""
        request = self._request(access) if isinstance(access, FundsAccess) else access
        if not isinstance(request, funds.FundsConsent):
            raise ConfigError(f"{type(request).__name__} asks for no funds access of uk-obie")
        return (yield from self.consents.ask(FUNDS, encode(request)))

    def confirm(self, consent_id: str, asked: Money, *, reference: str) -> Flow[FundsConfirmation]:
        """See `PIIS.confirm`."""
        link = self.channel.link
        response = yield from self.channel.post(
            link.url("cbpii", "/funds-confirmations"),
            encode(confirmation_request(consent_id, asked, reference)),
            consent_id=consent_id,
        )
        body = link.decode(response, funds.FundsConfirmationResponse, "funds-confirmation")
        where = Where("uk-obie", "funds-confirmation", "$.Data")
        return FundsConfirmation(
            available=body.data.funds_available,
            raw=body,
            at=where.when(body.data.creation_date_time, member="CreationDateTime"),
            id=body.data.funds_confirmation_id,
        )

    def _request(self, access: FundsAccess) -> funds.FundsConsent:
        until = access.until or self.channel.link.profile.consent.longest_until(
            self.channel.link.now
        )
        return funds.FundsConsent(
            data=funds.FundsConsentData(
                debtor_account=account(access.account),
                expiration_date_time=UNSET if until is None else self.channel.moment(until),
            )
        )


def confirmation_request(consent_id: str, asked: Money, reference: str) -> wire.FundsConfirmation:
    """The question, as funds and VRP both ask it."""
    return wire.FundsConfirmation(
        data=wire.FundsConfirmationData(
            consent_id=consent_id, reference=reference, instructed_amount=amount(asked)
        )
    )
