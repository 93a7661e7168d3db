"""Which shape each resource of SGFinDex has."""

from __future__ import annotations

from op_openbanking.standards.registry import Standard
from op_openbanking.standards.sgfindex import wire

STANDARD = Standard(
    name="sgfindex",
    versions=("myinfo-4",),
    resources={
        "person": wire.Person,
    },
)
