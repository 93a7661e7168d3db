"""Lexicon: schemas of records and calls, data checked against them, and typed Python from them."""

from __future__ import annotations

from .catalog import Catalog
from .schema import Lexicon, from_value, parse
from .validate import Validator

__all__ = ["Catalog", "Lexicon", "Validator", "from_value", "parse"]
