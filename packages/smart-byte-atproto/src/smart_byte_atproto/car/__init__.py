"""CAR version 1: blocks and their CIDs in one file, with the roots in front."""

from __future__ import annotations

from .decoder import CARDecoder
from .reader import CAR, CARReader, load
from .writer import chunks, dump

__all__ = ["CAR", "CARDecoder", "CARReader", "chunks", "dump", "load"]
