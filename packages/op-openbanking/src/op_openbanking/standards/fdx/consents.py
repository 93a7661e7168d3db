"""Consent grants and their revocation.

Source: facts of the FDX Consent API (names and enumerations).
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.fdx.wire import Shape


class ConsentParty(Shape, frozen=True, kw_only=True):
    """A company that takes part in a grant."""

    name: Maybe[str] = UNSET
    type: Maybe[str] = UNSET
    home_uri: Maybe[str] = UNSET
    logo_uri: Maybe[str] = UNSET
    registry: Maybe[str] = UNSET
    registered_entity_name: Maybe[str] = UNSET
    registered_entity_id: Maybe[str] = UNSET


class ConsentResource(Shape, frozen=True, kw_only=True):
    """One account, customer or document, and what may be read of it."""

    resource_type: str
    data_clusters: list[str]
    resource_id: Maybe[str] = UNSET


class ConsentGrant(Shape, frozen=True, kw_only=True):
    """A grant: who may read what, for how long."""

    id: str
    status: str
    resources: Maybe[list[ConsentResource]] = UNSET
    parties: Maybe[list[ConsentParty]] = UNSET
    created_time: Maybe[str] = UNSET
    expiration_time: Maybe[str] = UNSET
    updated_time: Maybe[str] = UNSET
    duration_type: Maybe[str] = UNSET
    duration_period: Maybe[int] = UNSET
    lookback_period: Maybe[int] = UNSET


class ConsentRevocation(Shape, frozen=True, kw_only=True):
    """The end of a grant, and who ended it."""

    reason: str
    initiator: str
    status: Maybe[str] = UNSET
    updated_time: Maybe[str] = UNSET
