"""Every error that this package raises.

ATProtoError
"""

from __future__ import annotations


class ATProtoError(Exception):
    """Root of every error of this package."""
