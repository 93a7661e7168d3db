"""Every error that this package raises.

ATProtoError
  InvalidKey (ValueError)      a key or its text form is malformed
  BadSignature                 a signature is malformed or does not match
"""

from __future__ import annotations

from typing import ClassVar


class ATProtoError(Exception):
    """Root of every error of this package."""


class InvalidKey(ATProtoError, ValueError):
    """A public or private key, or its text form, is malformed.

    Attributes:
        reason: What is wrong. Never holds key material.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"invalid key: {reason}")


class BadSignature(ATProtoError):
    """A signature is malformed or does not match its message and key.

    Attributes:
        code: `length`, `der`, `zero`, `range`, `high-s`, `mismatch` or `key-type`.
        reason: The same for people.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(f"bad signature ({code}): {reason}")
