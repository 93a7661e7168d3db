"""Accounts, and how an account is named.

Source: OBIE 3.1.11 OBAccount6; Berlin Group 1.3.12 accountDetails, accountReference; STET 1.4.0.47
AccountResource; CDR 1.31 BankingAccountV2; FDX 6 AccountDescriptor.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import msgspec

from op_openbanking.model.code import Code
from op_openbanking.standards.base import Wire


class Scheme(StrEnum):
    """How an account is identified."""

    IBAN = "iban"
    BBAN = "bban"
    SORT_CODE = "sort-code"
    PAN = "pan"
    MASKED_PAN = "masked-pan"
    MSISDN = "msisdn"
    ROUTING = "routing"
    OTHER = "other"


class AccountKind(StrEnum):
    """What an account is for."""

    CURRENT = "current"
    SAVINGS = "savings"
    CARD = "card"
    LOAN = "loan"
    MORTGAGE = "mortgage"
    INVESTMENT = "investment"
    INSURANCE = "insurance"
    PENSION = "pension"
    DEPOSIT = "term-deposit"
    WALLET = "wallet"
    OTHER = "other"


class AccountStatus(StrEnum):
    """Whether an account can be used."""

    OPEN = "open"
    PENDING = "pending"
    BLOCKED = "blocked"
    CLOSED = "closed"


class AccountReference(msgspec.Struct, frozen=True, gc=False):
    """One name of an account.

    Attributes:
        scheme: How it is identified; the text is the standard's own name of the scheme.
        identification: The identifier, as written.
        name: Name of the account or its owner, where given.
        secondary: Roll number or the like, where given.
        currency: For accounts in several currencies under one identifier.
    """

    scheme: Code[Scheme]
    identification: str
    name: str | None = None
    secondary: str | None = None
    currency: str | None = None


@dataclass(frozen=True, slots=True)
class Account:
    """An account as one bank shows it under one consent.

    Attributes:
        id: The bank's id, valid under this consent only (CDR and FDX ids differ by consent).
        raw: The wire object it was read from.
        name: What to show: nickname, display name, product or owner, whichever there is first.
        kind: What it is for, where the bank says.
        status: Whether it can be used, where the bank says.
        currency: ISO 4217; `XXX` or None where it has several.
        references: Its identifiers, possibly masked; empty without the consent to see them.
    """

    id: str
    raw: Wire
    name: str | None = None
    kind: Code[AccountKind] | None = None
    status: Code[AccountStatus] | None = None
    currency: str | None = None
    references: tuple[AccountReference, ...] = ()
