"""Energy- and carbon-aware scheduling of LLM inference behind an OpenAI-compatible gateway."""

from __future__ import annotations

from .errors import EOCError

__all__ = ["EOCError", "__version__"]

__version__ = "0.1.0"
