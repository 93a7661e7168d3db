"""Error bodies: the two forms that a bank may choose from.

Source: Berlin Group NextGenPSD2 XS2A 1.3.12 (2022-07-01), OpenAPI file.
"""

from __future__ import annotations

from msgspec import UNSET, field

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.berlin_group.wire import Href, Shape, TPPMessage


class AdditionalError(Shape, frozen=True, kw_only=True):
    """Member `additionalErrors` of `ProblemDetails`."""

    code: str
    title: Maybe[str] = UNSET
    detail: Maybe[str] = UNSET


class ProblemDetails(Shape, frozen=True, kw_only=True):
    """Schema `Error400_AIS`."""

    type: str
    code: str
    title: Maybe[str] = UNSET
    detail: Maybe[str] = UNSET
    additional_errors: Maybe[list[AdditionalError]] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")


class ErrorInformation(Shape, frozen=True, kw_only=True):
    """Schema `Error400_NG_AIS`."""

    tpp_messages: Maybe[list[TPPMessage]] = UNSET
    links: Maybe[dict[str, Href]] = field(default=UNSET, name="_links")
