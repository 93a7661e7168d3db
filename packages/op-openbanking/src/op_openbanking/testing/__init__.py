"""Small real things for tests: throw-away authorities and certificates."""

from __future__ import annotations
