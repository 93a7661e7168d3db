"""Open-banking client over six standards, with FAPI security."""

from __future__ import annotations

from .errors import (
    BankError,
    ConfigError,
    OpenBankingError,
    ProtocolViolation,
    SecurityError,
    TransportError,
)
from .flow import AsyncTransport, Flow, Request, Response, Transport, arun, run
from .signing.base import AsyncSigner, Signer

__all__ = [
    "AsyncSigner",
    "AsyncTransport",
    "BankError",
    "ConfigError",
    "Flow",
    "OpenBankingError",
    "ProtocolViolation",
    "Request",
    "Response",
    "SecurityError",
    "Signer",
    "Transport",
    "TransportError",
    "__version__",
    "arun",
    "run",
]

__version__ = "0.1.0"
