"""The product behind an account.

Its terms (fees, interest, overdraft tiers) are left open: 46 nested shapes that clients show and do
not compute with. They are kept whole, member by member, in `unknown`.

Source: OBIE Read/Write 3.1.10r6 and 3.1.11r5, OpenAPI files.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.uk_obie.wire import Links, Meta, OpenObject, Shape


class Product(Shape, frozen=True, kw_only=True):
    """Member `Product` of `ProductsData`."""

    account_id: str
    product_type: str
    product_name: Maybe[str] = UNSET
    product_id: Maybe[str] = UNSET
    secondary_product_id: Maybe[str] = UNSET
    marketing_state_id: Maybe[str] = UNSET
    other_product_type: Maybe[OpenObject] = UNSET
    business_terms: Maybe[OpenObject] = field(default=UNSET, name="BCA")
    personal_terms: Maybe[OpenObject] = field(default=UNSET, name="PCA")


class ProductsData(Shape, frozen=True, kw_only=True):
    """Member `Data` of `Products`."""

    product: Maybe[list[Product]] = UNSET


class Products(Shape, frozen=True, kw_only=True):
    """Schema `OBReadProduct2`."""

    data: ProductsData
    links: Maybe[Links] = UNSET
    meta: Maybe[Meta] = UNSET
