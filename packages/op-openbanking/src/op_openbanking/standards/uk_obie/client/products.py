"""Payment products: where each consent and payment is, and which shapes they have.

Source: OBIE Read/Write 3.1.11, payment initiation, endpoint table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from op_openbanking.errors import ConfigError
from op_openbanking.standards.base import Wire
from op_openbanking.standards.uk_obie import domestic, file, international
from op_openbanking.standards.uk_obie.mapping import PaymentConsentResponse
from op_openbanking.standards.uk_obie.payment_mapping import PaymentResponse
from op_openbanking.traits.capability import Operation


@dataclass(frozen=True, slots=True)
class Product:
    """One product.

    Attributes:
        name: For example `domestic-payment`; its paths are made of it.
        operation: What the bank must offer.
        request: Shape of what a consent is asked for with.
        consent: Shape of the bank's consent.
        payment: Shape of the bank's payment.
        has_funds: Whether funds can be confirmed under its consent.
    """

    name: str
    operation: Operation
    request: type[Wire]
    consent: type[PaymentConsentResponse]
    payment: type[PaymentResponse]
    has_funds: bool = False

    @property
    def consents(self) -> str:
        """Path of its consents."""
        return f"/{self.name}-consents"

    @property
    def payments(self) -> str:
        """Path of its payments."""
        return f"/{self.name}s"


_ALL: Final = (
    Product(
        "domestic-payment",
        Operation.SINGLE_PAYMENT,
        domestic.DomesticConsent,
        domestic.DomesticConsentResponse,
        domestic.DomesticPaymentResponse,
        has_funds=True,
    ),
    Product(
        "domestic-scheduled-payment",
        Operation.FUTURE_PAYMENT,
        domestic.DomesticScheduledConsent,
        domestic.DomesticScheduledConsentResponse,
        domestic.DomesticScheduledPaymentResponse,
    ),
    Product(
        "domestic-standing-order",
        Operation.RECURRING_PAYMENT,
        domestic.DomesticStandingOrderConsent,
        domestic.DomesticStandingOrderConsentResponse,
        domestic.DomesticStandingOrderResponse,
    ),
    Product(
        "international-payment",
        Operation.INTERNATIONAL_PAYMENT,
        international.InternationalConsent,
        international.InternationalConsentResponse,
        international.InternationalPaymentResponse,
        has_funds=True,
    ),
    Product(
        "international-scheduled-payment",
        Operation.INTERNATIONAL_PAYMENT,
        international.InternationalScheduledConsent,
        international.InternationalScheduledConsentResponse,
        international.InternationalScheduledPaymentResponse,
        has_funds=True,
    ),
    Product(
        "international-standing-order",
        Operation.INTERNATIONAL_PAYMENT,
        international.InternationalStandingOrderConsent,
        international.InternationalStandingOrderConsentResponse,
        international.InternationalStandingOrderResponse,
    ),
    Product(
        "file-payment",
        Operation.BULK_PAYMENT,
        file.FileConsent,
        file.FileConsentResponse,
        file.FilePaymentResponse,
    ),
)
PRODUCTS: Final[Mapping[str, Product]] = MappingProxyType({each.name: each for each in _ALL})


def product_of(request: Wire) -> Product:
    """The product whose consent a wire object asks for.

    Raises:
        ConfigError: It is no such request.
    """
    for product in _ALL:
        if isinstance(request, product.request):
            return product
    raise ConfigError(f"{type(request).__name__} asks for no payment of uk-obie")
