"""Myinfo finance items, the public part of SGFinDex.

Every leaf is an object with a value, or with a code and its description. Every item says where it
comes from (`source`: 1 government, 2 user, 3 not applicable, 4 verified by Singpass), how it is
classified and when it was updated. An item that is not available says `unavailable` (v3.2) or is
null (v4). Amounts are JSON numbers in SGD.

The shapes of banks, insurers and the securities depository are known to participants only: see
`decoder.py`.

Source: Myinfo v3.2 and v4 data model, finance items.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe, Number, Wire


class Shape(Wire, frozen=True, kw_only=True, rename="lower"):
    """An object of this standard: lower-case members without separators."""


class Text(Shape, frozen=True, kw_only=True):
    """A text leaf."""

    value: Maybe[str] = UNSET


class Amount(Shape, frozen=True, kw_only=True):
    """A number leaf: an amount in SGD, a count of months or years."""

    value: Maybe[Number] = UNSET


class CodedText(Shape, frozen=True, kw_only=True):
    """A leaf from a code list."""

    code: Maybe[str] = UNSET
    desc: Maybe[str] = UNSET


class Item(Shape, frozen=True, kw_only=True):
    """What every item says about itself."""

    source: Maybe[str] = UNSET
    classification: Maybe[str] = UNSET
    last_updated: Maybe[str] = field(default=UNSET, name="lastupdated")
    unavailable: Maybe[bool] = UNSET


class CPFBalances(Item, frozen=True, kw_only=True):
    """Provident fund: ordinary, special, Medisave and retirement account."""

    oa: Maybe[Amount] = UNSET
    sa: Maybe[Amount] = UNSET
    ma: Maybe[Amount] = UNSET
    ra: Maybe[Amount] = UNSET


class CPFContribution(Shape, frozen=True, kw_only=True):
    """One month's contribution by one employer."""

    month: Maybe[Text] = UNSET
    date: Maybe[Text] = UNSET
    employer: Maybe[Text] = UNSET
    amount: Maybe[Amount] = UNSET


class CPFContributions(Item, frozen=True, kw_only=True):
    """Contributions of up to 15 months."""

    history: Maybe[list[CPFContribution]] = UNSET


class CPFEmployer(Shape, frozen=True, kw_only=True):
    """The employer of one month."""

    month: Maybe[Text] = UNSET
    employer: Maybe[Text] = UNSET


class CPFEmployers(Item, frozen=True, kw_only=True):
    """Employers by month."""

    history: Maybe[list[CPFEmployer]] = UNSET


class Address(Shape, frozen=True, kw_only=True):
    """An address; `type` is SG or UNFORMATTED, the other members depend on it and are kept."""

    type: Maybe[str] = UNSET


class HousingWithdrawal(Shape, frozen=True, kw_only=True):
    """What was withdrawn for one property."""

    address: Maybe[Address] = UNSET
    accrued_interest: Maybe[Amount] = field(default=UNSET, name="accruedinterestamt")
    monthly_instalment: Maybe[Amount] = field(default=UNSET, name="monthlyinstalmentamt")
    principal_withdrawal: Maybe[Amount] = field(default=UNSET, name="principalwithdrawalamt")
    total_allowed: Maybe[Amount] = field(default=UNSET, name="totalamountofcpfallowedforproperty")


class CPFHousingWithdrawal(Item, frozen=True, kw_only=True):
    """Withdrawals for housing."""

    details: Maybe[list[HousingWithdrawal]] = field(default=UNSET, name="withdrawaldetails")


class NoticeOfAssessment(Item, frozen=True, kw_only=True):
    """Income of one year as the tax authority assessed it; the basic form has two members."""

    year: Maybe[Text] = field(default=UNSET, name="yearofassessment")
    amount: Maybe[Amount] = UNSET
    employment: Maybe[Amount] = UNSET
    trade: Maybe[Amount] = UNSET
    rent: Maybe[Amount] = UNSET
    interest: Maybe[Amount] = UNSET
    tax_clearance: Maybe[Text] = field(default=UNSET, name="taxclearance")
    category: Maybe[Text] = UNSET


class NoticesOfAssessment(Item, frozen=True, kw_only=True):
    """Notices of several years."""

    notices: Maybe[list[NoticeOfAssessment]] = field(default=UNSET, name="noas")


class RepaymentPeriod(Shape, frozen=True, kw_only=True):
    """Years and months of a loan."""

    years: Maybe[Amount] = UNSET
    months: Maybe[Amount] = UNSET


class HDBOwnership(Item, frozen=True, kw_only=True):
    """One public flat: ownership and loan."""

    owners: Maybe[Amount] = field(default=UNSET, name="noofowners")
    address: Maybe[Address] = UNSET
    hdb_type: Maybe[CodedText] = field(default=UNSET, name="hdbtype")
    lease_commencement: Maybe[Text] = field(default=UNSET, name="leasecommencementdate")
    lease_term: Maybe[Amount] = field(default=UNSET, name="termoflease")
    purchased: Maybe[Text] = field(default=UNSET, name="dateofpurchase")
    transferred: Maybe[Text] = field(default=UNSET, name="dateofownershiptransfer")
    loan_granted: Maybe[Amount] = field(default=UNSET, name="loangranted")
    original_repayment: Maybe[RepaymentPeriod] = field(default=UNSET, name="originalloanrepayment")
    balance_repayment: Maybe[RepaymentPeriod] = field(default=UNSET, name="balanceloanrepayment")
    outstanding: Maybe[Amount] = field(default=UNSET, name="outstandingloanbalance")
    monthly_instalment: Maybe[Amount] = field(default=UNSET, name="monthlyloaninstalment")


class Person(Shape, frozen=True, kw_only=True):
    """The finance items of one person; items that are not modelled are kept in `unknown`."""

    cpf_balances: Maybe[CPFBalances] = field(default=UNSET, name="cpfbalances")
    cpf_contributions: Maybe[CPFContributions] = field(default=UNSET, name="cpfcontributions")
    cpf_employers: Maybe[CPFEmployers] = field(default=UNSET, name="cpfemployers")
    cpf_housing_withdrawal: Maybe[CPFHousingWithdrawal] = field(
        default=UNSET, name="cpfhousingwithdrawal"
    )
    notice: Maybe[NoticeOfAssessment] = field(default=UNSET, name="noa")
    notice_basic: Maybe[NoticeOfAssessment] = field(default=UNSET, name="noa-basic")
    notices: Maybe[NoticesOfAssessment] = field(default=UNSET, name="noahistory")
    notices_basic: Maybe[NoticesOfAssessment] = field(default=UNSET, name="noahistory-basic")
    hdb_ownership: Maybe[list[HDBOwnership]] = field(default=UNSET, name="hdbownership")
