"""Labels: what a service says of accounts and records."""

from __future__ import annotations

from .label import (
    SUBSCRIBE_LABELS,
    Label,
    LabelsEvent,
    effective,
    parse_labels,
    sign_label,
    verify_label,
)

__all__ = [
    "SUBSCRIBE_LABELS",
    "Label",
    "LabelsEvent",
    "effective",
    "parse_labels",
    "sign_label",
    "verify_label",
]
