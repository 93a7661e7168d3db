"""Where UK banks leave the standard, as switches with the standard's value as default."""

from __future__ import annotations

from typing import Literal

import msgspec


class Quirks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Switches of one bank.

    Attributes:
        financial_id: Sent as `x-fapi-financial-id`, which the standard dropped at 3.1.2; empty
            for none.
        initiation_from: Which consent's Initiation a payment repeats: the octets of our `request`,
            or those of the bank's `answer`.
        query_offset: Whether dates in a query carry an offset. The standard has none there.
        milliseconds: Whether dates that we send have three digits of fraction.
        event_issuer: `iss` of event tokens; empty for the authorization server's issuer.
        event_audience: `aud` of event tokens; empty for the client id.
        event_scope: Scope of the token for the event interface.
    """

    financial_id: str = ""
    initiation_from: Literal["request", "answer"] = "request"
    query_offset: bool = False
    milliseconds: bool = False
    event_issuer: str = ""
    event_audience: str = ""
    event_scope: str = "accounts"
