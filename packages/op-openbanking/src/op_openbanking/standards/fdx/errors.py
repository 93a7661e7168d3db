"""Error bodies.

Source: facts of FDX Core; providers write the code as a number or as text.
"""

from __future__ import annotations

from msgspec import UNSET

from op_openbanking.standards.base import Maybe
from op_openbanking.standards.fdx.wire import Shape


class Error(Shape, frozen=True, kw_only=True):
    """An error; `code` is FDX's own, not the HTTP status."""

    code: str | int
    message: Maybe[str] = UNSET
    debug_message: Maybe[str] = UNSET
