"""How the DIDs of each method are resolved.

To add one: write its file beside these with a class that fulfils `base.Method`, and give it a line
in `METHODS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .base import Method
from .plc import PLC
from .web import Web

__all__ = ["METHODS", "PLC", "Method", "Web"]

METHODS: Mapping[str, Method] = MappingProxyType({"plc": PLC(), "web": Web()})
"""Every method by the name in its DIDs."""
