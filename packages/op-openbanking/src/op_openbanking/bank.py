"""One bank, whatever it speaks.

    bank = Bank(example_profile("sandbox", base=url), client, store=SQLiteStore("bank.db"), ...)

    consent = run(bank.ask(AccountAccess()), transport)
    step = run(bank.authorise(consent.id, user_agent=session), transport)      # Redirect(url)
    consent = run(bank.land(callback, user_agent=session), transport)          # the browser is back
    for account in each(bank.accounts(consent.id), transport): ...
    run(bank.revoke(consent.id), transport)

What needs one answer is a `Flow` for `run` or `arun`; what is a list is `Pages` for `each` or
`aeach`. What the bank does not offer is refused with `CapabilityMissing` by the call itself, before
a flow exists and anything is sent. The services are also there one by one: `bank.traits.pisp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from .banks.profile import BankProfile
from .errors import ConfigError
from .fapi.callback import Callback
from .fapi.client import Client
from .fapi.pending import PendingStore
from .fapi.pending_memory import MemoryPendingStore
from .flow import Flow
from .jose.rotation import KeyRing
from .model.account import Account
from .model.balance import Balance
from .model.consent import Consent
from .model.money import Money
from .model.payment import Payment
from .model.transaction import Transaction
from .model.vrp import VRPMandate, VRPPayment
from .signing.base import AsyncSigner, Signer
from .standards.base import Wire
from .stores.base import Store
from .stores.records import Submission, unfinished
from .traits.aisp import AISP, Resource
from .traits.capability import Operation
from .traits.consent import Reply, Step
from .traits.dialect import capabilities, dialect
from .traits.events import Events
from .traits.link import CertificateOnly, Link
from .traits.pages import Pages
from .traits.piis import PIIS, FundsConfirmation
from .traits.pisp import PISP, FileUploads
from .traits.vrp import VRP
from .traits.wish import (
    AccountAccess,
    FundsAccess,
    NewMandate,
    NewPayment,
    NewVRPPayment,
    Presence,
    Window,
)

T = TypeVar("T")
W = TypeVar("W", bound=Wire)


class Bank:
    """One client at one bank.

    Args:
        profile: The bank.
        client: The client as registered there, whose server's issuer is the profile's; or one
            with a certificate alone, where the profile has no security profile.
        store: Consents, tokens and submissions; memory forgets payments in doubt.
        pending: Authorization requests that wait; in memory by default.
        message_signer: Signs messages, where the profile wants that.
        bank_keys: The bank's signing keys over time; made from the profile where left out.

    Attributes:
        profile: See above.
        capabilities: What the bank offers.
        traits: The services, each None where the standard lacks it; they check no capability.

    Raises:
        ConfigError: Profile and client do not go together, or something the profile needs is not
            there.
    """

    def __init__(
        self,
        profile: BankProfile,
        client: Client | CertificateOnly,
        *,
        store: Store,
        pending: PendingStore | None = None,
        message_signer: Signer | AsyncSigner | None = None,
        bank_keys: KeyRing | None = None,
    ) -> None:
        has = "none" if isinstance(client, CertificateOnly) else client.profile.name
        if has != profile.security.profile:
            raise ConfigError(f"the bank wants {profile.security.profile}, the client has {has}")
        if isinstance(client, Client) and client.server.issuer != profile.issuer:
            raise ConfigError("the client belongs to another bank: its issuer is not the profile's")
        waiting = MemoryPendingStore(clock=client.clock) if pending is None else pending
        self.profile = profile
        self.capabilities = capabilities(profile)
        self._link = Link(profile, client, store, waiting, message_signer, bank_keys)
        self.traits = dialect(profile.standard).connect(self._link)

    def ask(self, wish: AccountAccess | NewPayment | FundsAccess | NewMandate) -> Flow[Consent]:
        """Ask for a consent; it waits for the owner.

        A wire object of the standard goes to its service: `bank.traits.pisp.ask(wire)`.

        Raises:
            CapabilityMissing: The bank does not offer that.
        """
        match wish:
            case AccountAccess():
                return self._aisp(Operation.ACCOUNT_CONSENT).ask(wish)
            case NewPayment():
                return self._pisp(_payment_operation(wish)).ask(wish)
            case FundsAccess():
                return self._piis(Operation.FUNDS_CONSENT).ask(wish)
            case NewMandate():
                return self._vrp(Operation.VRP_CONSENT).ask(wish)

    def authorise(
        self, consent_id: str, *, user_agent: str, presence: Presence | None = None
    ) -> Flow[Step]:
        """Let the owner agree, or authenticate again; see `traits.consent` for the steps."""
        return self.traits.authorisations.begin(
            consent_id, user_agent=user_agent, presence=presence
        )

    def land(self, callback: Callback | str, *, user_agent: str) -> Flow[Consent]:
        """Judge what came back through the browser, and get the tokens.

        Args:
            callback: What came back, or its whole URL with query and fragment.
            user_agent: The browser that came back, by the name that `authorise` had.
        """
        visited = Callback.from_url(callback) if isinstance(callback, str) else callback
        return self.traits.authorisations.land(visited, user_agent=user_agent)

    def proceed(self, consent_id: str, reply: Reply) -> Flow[Step]:
        """Go on with a decoupled or embedded authentication."""
        return self.traits.authorisations.proceed(consent_id, reply)

    def consent(self, consent_id: str) -> Flow[Consent]:
        """The consent as the bank reports it."""
        self.capabilities.require(Operation.CONSENT_STATUS)
        return self.traits.consents.read(consent_id)

    def revoke(self, consent_id: str) -> Flow[Consent]:
        """End the consent at the bank and forget its tokens."""
        self.capabilities.require(Operation.CONSENT_REVOCATION)
        return self.traits.consents.revoke(consent_id)

    def accounts(self, consent_id: str, *, presence: Presence | None = None) -> Pages[Account]:
        """Accounts of the consent."""
        return self._aisp(Operation.ACCOUNTS).accounts(consent_id, presence=presence)

    def balances(
        self, consent_id: str, account_id: str, *, presence: Presence | None = None
    ) -> Pages[Balance]:
        """Balances of one account."""
        return self._aisp(Operation.BALANCES).balances(consent_id, account_id, presence=presence)

    def transactions(
        self,
        consent_id: str,
        account_id: str,
        *,
        window: Window | None = None,
        presence: Presence | None = None,
    ) -> Pages[Transaction]:
        """Transactions of one account."""
        return self._aisp(Operation.TRANSACTIONS).transactions(
            consent_id, account_id, window=window, presence=presence
        )

    def read(
        self,
        consent_id: str,
        resource: Resource[W],
        *,
        account_id: str | None = None,
        item_id: str | None = None,
        presence: Presence | None = None,
    ) -> Pages[W]:
        """Any other resource, in its own shape; each item is one page's body."""
        return self._aisp(resource.operation).read(
            consent_id, resource, account_id=account_id, item_id=item_id, presence=presence
        )

    def pay(self, consent_id: str) -> Flow[Payment]:
        """Carry out an authorised payment. Calling it again pays nothing anew.

        Raises:
            OutcomeUnknown: Sent, and nobody can say what became of it. Call again while it is
                `resumable`; else ask the bank.
        """
        return self._pisp().submit(consent_id)

    def payment(self, consent_id: str) -> Flow[Payment]:
        """How far the payment of a consent is."""
        return self._pisp(Operation.PAYMENT_STATUS).payment(consent_id)

    def payment_funds(self, consent_id: str) -> Flow[FundsConfirmation]:
        """Whether the funds for an authorised payment are there."""
        return self._pisp(Operation.PAYMENT_FUNDS).confirm(consent_id)

    def cancel(self, consent_id: str) -> Flow[Payment]:
        """Stop a payment that is not yet executed."""
        return self._pisp(Operation.PAYMENT_CANCELLATION).cancel(consent_id)

    def upload(self, consent_id: str, octets: bytes, *, media_type: str) -> Flow[Consent]:
        """Upload the file of a payment whose consent waits for it."""
        self.capabilities.require(Operation.BULK_PAYMENT)
        files: FileUploads = _there(self.traits.files)
        return files.upload(consent_id, octets, media_type=media_type)

    def funds(self, consent_id: str, amount: Money, *, reference: str) -> Flow[FundsConfirmation]:
        """Whether an amount is there."""
        piis = self._piis(Operation.FUNDS_CONFIRMATION)
        return piis.confirm(consent_id, amount, reference=reference)

    def mandate(self, consent_id: str) -> Flow[VRPMandate]:
        """The limits of a mandate, as the bank holds them."""
        return self._vrp(Operation.VRP_CONSENT).mandate(consent_id)

    def mandate_funds(
        self, consent_id: str, amount: Money, *, reference: str
    ) -> Flow[FundsConfirmation]:
        """Whether an amount is there, under a mandate."""
        return self._vrp(Operation.VRP_FUNDS).confirm(consent_id, amount, reference=reference)

    def pay_under(
        self, consent_id: str, payment: NewVRPPayment, *, presence: Presence | None = None
    ) -> Flow[VRPPayment]:
        """Pay under a mandate. The same `instruction_id` again pays nothing anew."""
        return self._vrp(Operation.VRP_PAYMENT).pay(consent_id, payment, presence=presence)

    def payment_under(self, consent_id: str, instruction_id: str) -> Flow[VRPPayment]:
        """How far a payment under a mandate is."""
        return self._vrp(Operation.VRP_PAYMENT).payment(consent_id, instruction_id)

    def unfinished(self) -> Iterator[Submission]:
        """Payments whose end nobody knows, after a crash: `pay` again, or ask the bank."""
        return unfinished(self._link.store)

    def events(self, operation: Operation = Operation.EVENT_PUSH) -> Events:
        """The bank's notifications.

        Args:
            operation: What they are wanted for: push, poll or subscription.
        """
        self.capabilities.require(operation)
        return _there(self.traits.events)

    def _aisp(self, *operations: Operation) -> AISP:
        self.capabilities.require(*operations)
        return _there(self.traits.aisp)

    def _pisp(self, *operations: Operation) -> PISP:
        # Without a payment product there is no service to ask.
        self.capabilities.require(*(operations or (Operation.SINGLE_PAYMENT,)))
        return _there(self.traits.pisp)

    def _piis(self, *operations: Operation) -> PIIS:
        self.capabilities.require(*operations)
        return _there(self.traits.piis)

    def _vrp(self, *operations: Operation) -> VRP:
        self.capabilities.require(*operations)
        return _there(self.traits.vrp)


def _there(service: T | None) -> T:
    """A service whose capability was required; a standard that states it and lacks it is broken."""
    if service is None:
        raise ConfigError("the standard states an operation and lacks the service for it")
    return service


def _payment_operation(wish: NewPayment) -> Operation:
    if wish.currency_of_transfer is not None:
        return Operation.INTERNATIONAL_PAYMENT
    if wish.recurrence is not None:
        return Operation.RECURRING_PAYMENT
    return Operation.SINGLE_PAYMENT if wish.execute is None else Operation.FUTURE_PAYMENT
