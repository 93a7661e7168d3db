"""Import of the optional libraries behind remote signers."""

from __future__ import annotations

import importlib
from types import ModuleType

from op_openbanking.errors import ExtraMissing


def load(module: str, *, extra: str, feature: str) -> ModuleType:
    """Import a module of an optional library.

    Args:
        module: Full name.
        extra: The extra of this package that brings it.
        feature: What needs it, for the error message.

    Raises:
        ExtraMissing: It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ExtraMissing(feature, extra=extra) from error
