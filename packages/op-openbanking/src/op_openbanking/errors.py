"""Every error that this package raises.

OpenBankingError
"""

from __future__ import annotations


class OpenBankingError(Exception):
    """Root of every error of this package."""
