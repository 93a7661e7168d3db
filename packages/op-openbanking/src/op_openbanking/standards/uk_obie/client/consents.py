"""Consents of every purpose at a UK bank, and how the owner agrees to them.

Source: OBIE Read/Write 3.1.11, consent resources and their states; OBIE security profile,
`openbanking_intent_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from op_openbanking.errors import ProtocolViolation
from op_openbanking.fapi.authorization import begin, finish
from op_openbanking.fapi.callback import Callback
from op_openbanking.fapi.profile import AnswerForm
from op_openbanking.fapi.tokens import exchange
from op_openbanking.flow import Flow
from op_openbanking.model.code import Code
from op_openbanking.model.consent import Consent, ConsentPurpose, ConsentStatus
from op_openbanking.standards.base import Wire, decode
from op_openbanking.standards.uk_obie import accounts, funds, mapping, vrp
from op_openbanking.standards.uk_obie.client.channel import Channel
from op_openbanking.standards.uk_obie.client.products import PRODUCTS
from op_openbanking.stores.records import ConsentRecord
from op_openbanking.traits.capability import Operation
from op_openbanking.traits.consent import Redirect, Reply, Step
from op_openbanking.traits.wish import Presence

ACCOUNTS: Final = "account-access"
FUNDS: Final = "funds-confirmation"
MANDATE: Final = "domestic-vrp"
_INTENT: Final = "openbanking_intent_id"
_ENDED: Final = "ended"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of consent.

    Attributes:
        purpose: What it is for.
        service: Which service has it.
        path: Path of the consents.
        scope: Scope of its tokens.
        shape: Shape of the bank's consent.
        mapped: The consent in the model.
        signed: Whether its messages are signed.
        ends: Whether it can be ended by us.
    """

    purpose: ConsentPurpose
    service: str
    path: str
    scope: str
    shape: type[Wire]
    mapped: Callable[..., Consent]
    signed: bool
    ends: bool


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        ACCOUNTS: Kind(
            ConsentPurpose.ACCOUNTS,
            "aisp",
            "/account-access-consents",
            "accounts",
            accounts.AccountConsentResponse,
            mapping.account_consent,
            signed=False,
            ends=True,
        ),
        FUNDS: Kind(
            ConsentPurpose.FUNDS,
            "cbpii",
            "/funds-confirmation-consents",
            "fundsconfirmations",
            funds.FundsConsentResponse,
            mapping.funds_consent,
            signed=False,
            ends=True,
        ),
        MANDATE: Kind(
            ConsentPurpose.VRP,
            "vrp",
            "/domestic-vrp-consents",
            "payments",
            vrp.VRPConsentResponse,
            mapping.vrp_consent,
            signed=True,
            ends=True,
        ),
        **{
            product.name: Kind(
                ConsentPurpose.PAYMENT,
                "pisp",
                product.consents,
                "payments",
                product.consent,
                mapping.payment_consent,
                signed=True,
                ends=False,
            )
            for product in PRODUCTS.values()
        },
    }
)


@dataclass(frozen=True, slots=True)
class OBIEConsents:
    """Fills `traits.consent.Consents` and `Authorisations`."""

    channel: Channel

    def ask(self, product: str, body: bytes) -> Flow[Consent]:
        """Ask for a consent and remember the octets it was asked for with."""
        kind, link = KINDS[product], self.channel.link
        response = yield from self.channel.post(
            link.url(kind.service, kind.path),
            body,
            scope=kind.scope,
            key=self.channel.fresh_key() if kind.signed else None,
            signed=kind.signed,
        )
        consent = kind.mapped(link.decode(response, kind.shape, f"{product}-consent"))
        link.remember(
            ConsentRecord(
                id=consent.id,
                purpose=kind.purpose,
                product=product,
                request=body,
                answer=response.body,
                created_at_s=link.now_s,
            )
        )
        return consent

    def read(self, consent_id: str) -> Flow[Consent]:
        """See `traits.consent.Consents.read`; the body's own shape is in `raw`."""
        link = self.channel.link
        record = link.consent(consent_id)
        kind = KINDS[record.product]
        before = self._held(record)
        if record.facts.get(_ENDED):
            return before  # the bank answers 400 to a consent that we ended
        response = yield from self.channel.get(
            link.url(kind.service, f"{kind.path}/{{consent_id}}", consent_id=consent_id),
            scope=kind.scope,
            signed=kind.signed,
        )
        found = kind.mapped(link.decode(response, kind.shape, f"{record.product}-consent"))
        if found.id != consent_id:
            raise ProtocolViolation(f"the bank answers with another consent than {consent_id}")
        moved = before.moved_to(found.status)
        link.amend(consent_id, answer=response.body)
        return replace(found, status=moved.status)

    def revoke(self, consent_id: str) -> Flow[Consent]:
        """See `traits.consent.Consents.revoke`."""
        link = self.channel.link
        record = link.consent(consent_id)
        kind = KINDS[record.product]
        if not kind.ends:
            raise self.channel.link.lacks(
                Operation.CONSENT_REVOCATION,
                "the consent to a payment ends by itself, nobody deletes it",
            )
        if not record.facts.get(_ENDED):
            yield from self.channel.delete(
                link.url(kind.service, f"{kind.path}/{{consent_id}}", consent_id=consent_id),
                scope=kind.scope,
            )
            record = link.amend(consent_id, facts={_ENDED: "yes"})
        link.drop(consent_id)
        return self._held(record)

    def begin(
        self, consent_id: str, *, user_agent: str, presence: Presence | None = None
    ) -> Flow[Step]:
        """See `traits.consent.Authorisations.begin`."""
        del presence  # the owner authenticates at the bank: nothing to state here
        link = self.channel.link
        record = link.consent(consent_id)
        intent = {_INTENT: {"value": consent_id, "essential": True}}
        security = link.profile.security
        redirection = yield from begin(
            link.client,
            scope=f"openid {KINDS[record.product].scope}",
            store=link.pending,
            user_agent=user_agent,
            answer=AnswerForm(security.answer) if security.answer else None,
            acr_values=security.acr_values,
            claims={"userinfo": intent, "id_token": intent},
            expected_claims={_INTENT: consent_id},
        )
        link.await_landing(redirection.state, consent_id, expires_at_s=redirection.expires_at_s)
        return Redirect(redirection.url, redirection.state, redirection.expires_at_s)

    def land(self, callback: Callback, *, user_agent: str) -> Flow[Consent]:
        """See `traits.consent.Authorisations.land`."""
        link = self.channel.link
        answer = yield from finish(link.client, callback, store=link.pending, user_agent=user_agent)
        consent_id = link.landed(answer.request.state)
        tokens = yield from exchange(link.client, answer)
        link.keep(consent_id, tokens)
        link.amend(consent_id, authorised_at_s=link.now_s)
        return (yield from self.read(consent_id))

    def proceed(self, consent_id: str, reply: Reply) -> Flow[Step]:
        """Refused: the owner authenticates at the bank alone."""
        del reply
        raise self.channel.link.lacks(
            Operation.EMBEDDED, f"consent {consent_id} is authorised by redirect alone"
        )

    def _held(self, record: ConsentRecord) -> Consent:
        kind = KINDS[record.product]
        body = decode(
            record.answer, kind.shape, standard="uk-obie", resource=f"{record.product}-consent"
        )
        consent = kind.mapped(body)
        if record.facts.get(_ENDED):
            ended = Code("", ConsentStatus.REVOKED_BY_CLIENT)
            return replace(consent, status=ended)
        return consent
