"""Every error that this package raises.

EOCError
"""

from __future__ import annotations


class EOCError(Exception):
    """Root of every error of this package."""
