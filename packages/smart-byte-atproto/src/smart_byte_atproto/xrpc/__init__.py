"""XRPC: calls of services, sessions, and tokens between services."""

from __future__ import annotations

from .call import Answer, Call, RateLimit
from .client import AsyncClient, Client
from .retry import RetryPolicy
from .session import Tokens

__all__ = ["Answer", "AsyncClient", "Call", "Client", "RateLimit", "RetryPolicy", "Tokens"]
