"""AT Protocol identity, repositories and firehose, strict and fast."""

from __future__ import annotations

from .errors import ATProtoError

__all__ = ["ATProtoError", "__version__"]

__version__ = "0.1.0"
