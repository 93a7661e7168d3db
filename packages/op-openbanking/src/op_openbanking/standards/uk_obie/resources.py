"""Which shape each resource of UK Open Banking Read/Write has."""

from __future__ import annotations

from op_openbanking.standards.registry import Standard
from op_openbanking.standards.uk_obie import (
    accounts,
    domestic,
    errors,
    events,
    file,
    funds,
    international,
    notifications,
    parties,
    payment_status,
    regular,
    statements,
    vrp,
    wire,
)

STANDARD = Standard(
    name="uk-obie",
    versions=("3.1.10", "3.1.11"),
    resources={
        "account-access-consent-request": accounts.AccountConsent,
        "account-access-consent": accounts.AccountConsentResponse,
        "accounts": accounts.Accounts,
        "balances": accounts.Balances,
        "transactions": accounts.Transactions,
        "beneficiaries": regular.Beneficiaries,
        "standing-orders": regular.StandingOrders,
        "direct-debits": regular.DirectDebits,
        "scheduled-payments": regular.ScheduledPayments,
        "party": parties.PartyResponse,
        "parties": parties.Parties,
        "statements": statements.Statements,
        "offers": statements.Offers,
        "domestic-payment-consent-request": domestic.DomesticConsent,
        "domestic-payment-consent": domestic.DomesticConsentResponse,
        "domestic-payment-request": domestic.DomesticPayment,
        "domestic-payment": domestic.DomesticPaymentResponse,
        "domestic-scheduled-payment-consent-request": domestic.DomesticScheduledConsent,
        "domestic-scheduled-payment-consent": domestic.DomesticScheduledConsentResponse,
        "domestic-scheduled-payment-request": domestic.DomesticScheduledPayment,
        "domestic-scheduled-payment": domestic.DomesticScheduledPaymentResponse,
        "domestic-standing-order-consent-request": domestic.DomesticStandingOrderConsent,
        "domestic-standing-order-consent": domestic.DomesticStandingOrderConsentResponse,
        "domestic-standing-order-request": domestic.DomesticStandingOrder,
        "domestic-standing-order": domestic.DomesticStandingOrderResponse,
        "international-payment-consent-request": international.InternationalConsent,
        "international-payment-consent": international.InternationalConsentResponse,
        "international-payment-request": international.InternationalPayment,
        "international-payment": international.InternationalPaymentResponse,
        "international-scheduled-payment-consent-request": (
            international.InternationalScheduledConsent
        ),
        "international-scheduled-payment-consent": (
            international.InternationalScheduledConsentResponse
        ),
        "international-scheduled-payment-request": international.InternationalScheduledPayment,
        "international-scheduled-payment": international.InternationalScheduledPaymentResponse,
        "international-standing-order-consent-request": (
            international.InternationalStandingOrderConsent
        ),
        "international-standing-order-consent": (
            international.InternationalStandingOrderConsentResponse
        ),
        "international-standing-order-request": international.InternationalStandingOrder,
        "international-standing-order": international.InternationalStandingOrderResponse,
        "file-payment-consent-request": file.FileConsent,
        "file-payment-consent": file.FileConsentResponse,
        "file-payment-request": file.FilePayment,
        "file-payment": file.FilePaymentResponse,
        "payment-funds-confirmation": payment_status.PaymentFundsConfirmation,
        "payment-details": payment_status.PaymentDetails,
        "domestic-vrp-consent-request": vrp.VRPConsent,
        "domestic-vrp-consent": vrp.VRPConsentResponse,
        "domestic-vrp-request": vrp.VRPPayment,
        "domestic-vrp": vrp.VRPPaymentResponse,
        "domestic-vrp-details": vrp.VRPDetails,
        "domestic-vrp-funds-confirmation-request": wire.VRPFundsConfirmation,
        "domestic-vrp-funds-confirmation": vrp.VRPFundsConfirmationResponse,
        "funds-confirmation-consent-request": funds.FundsConsent,
        "funds-confirmation-consent": funds.FundsConsentResponse,
        "funds-confirmation-request": wire.VRPFundsConfirmation,
        "funds-confirmation": funds.FundsConfirmationResponse,
        "event-subscription-request": events.EventSubscription,
        "event-subscription": events.EventSubscriptionResponse,
        "event-subscriptions": events.EventSubscriptionsResponse,
        "events-request": events.EventPolling,
        "events": events.EventPollingResponse,
        "event-notification": notifications.EventNotification,
        "error": errors.ErrorResponse,
    },
    earlier={"3.1.10": {"domestic-vrp-request": vrp.VRPPaymentWithoutType}},
)
