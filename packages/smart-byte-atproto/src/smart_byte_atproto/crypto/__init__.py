"""Keys and signatures: K-256, P-256 and Ed25519.

One file for each algorithm fills `base.Algorithm`; another engine for a type is one file that
does the same, chosen in that type's file as `k256.py` does.
"""

from __future__ import annotations

from .base import Algorithm, KeyType
from .key import PrivateKey, PublicKey, engine_of

__all__ = ["Algorithm", "KeyType", "PrivateKey", "PublicKey", "engine_of"]
