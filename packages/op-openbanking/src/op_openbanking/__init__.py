"""Open-banking client over six standards, with FAPI security."""

from __future__ import annotations

from .errors import OpenBankingError

__all__ = ["OpenBankingError", "__version__"]

__version__ = "0.1.0"
