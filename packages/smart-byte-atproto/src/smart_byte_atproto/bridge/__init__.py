"""The bridge between AT URIs and self-certifying identifiers: CESR, SAIDs, AIDs, bindings."""

from __future__ import annotations

from .aid import KeyState, SignedEvent, incept, interact, replay, rotate
from .binding import Binding, Bound, bind, naming_record, verify_binding
from .repository import verify_in_repository
from .said import Serialization, compute_said, verify_said, with_said

__all__ = [
    "Binding",
    "Bound",
    "KeyState",
    "Serialization",
    "SignedEvent",
    "bind",
    "compute_said",
    "incept",
    "interact",
    "naming_record",
    "replay",
    "rotate",
    "verify_binding",
    "verify_in_repository",
    "verify_said",
    "with_said",
]
