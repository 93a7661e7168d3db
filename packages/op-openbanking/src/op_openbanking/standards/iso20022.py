"""ISO 20022 codes that Berlin Group and STET share, and what they mean in the model.

Source: ISO 20022 external code sets, ExternalPaymentTransactionStatus1Code,
ExternalCashAccountType1Code.
"""

from __future__ import annotations

from op_openbanking.model.account import AccountKind
from op_openbanking.model.payment import PaymentStatus

PAYMENT_STATUS = {
    "RCVD": PaymentStatus.RECEIVED,
    "PDNG": PaymentStatus.PENDING,
    "PATC": PaymentStatus.PENDING,
    "PART": PaymentStatus.PARTIALLY_ACCEPTED,
    "ACTC": PaymentStatus.ACCEPTED_TECHNICAL,
    "ACCP": PaymentStatus.ACCEPTED_CUSTOMER,
    "ACFC": PaymentStatus.ACCEPTED_CUSTOMER,
    "ACSP": PaymentStatus.IN_SETTLEMENT,
    "ACWC": PaymentStatus.IN_SETTLEMENT,
    "ACWP": PaymentStatus.WITHOUT_POSTING,
    "ACSC": PaymentStatus.DEBTOR_SETTLED,
    "ACCC": PaymentStatus.CREDITOR_CREDITED,
    "RJCT": PaymentStatus.REJECTED,
    "CANC": PaymentStatus.CANCELLED,
}

ACCOUNT_KIND = {
    "CACC": AccountKind.CURRENT,
    "TRAN": AccountKind.CURRENT,
    "CARD": AccountKind.CARD,
    "SVGS": AccountKind.SAVINGS,
    "LOAN": AccountKind.LOAN,
    "MGLD": AccountKind.LOAN,
    "CASH": AccountKind.CURRENT,
}
