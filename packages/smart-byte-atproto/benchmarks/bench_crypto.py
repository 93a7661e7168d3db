"""Signatures: verify and sign, K-256 on both engines and beside peers, P-256, Ed25519."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256

from smart_byte_atproto.crypto import KeyType, PrivateKey
from smart_byte_atproto.crypto.k256 import ENGINE, OPENSSL

MESSAGE = bytes(range(112))
ROUNDS = 300


def per_second(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(ROUNDS):
            work()
        best = min(best, time.perf_counter() - start)
    return ROUNDS / best


def measure() -> Iterator[tuple[str, str, float, str]]:
    """Yield case, library, value and unit; higher is better for all."""
    for engine in {ENGINE.name: ENGINE, OPENSSL.name: OPENSSL}.values():
        key = PrivateKey(KeyType.K256, bytes(range(1, 33)), engine=engine)
        signature = key.sign(MESSAGE)
        public = key.public_key
        who = f"smart-byte on {engine.name}"
        yield "K-256 verify", who, per_second(lambda: public.verify(MESSAGE, signature)), "/s"  # noqa: B023 - used at once
        yield "K-256 sign", who, per_second(lambda: key.sign(MESSAGE)), "/s"  # noqa: B023 - used at once
    key = PrivateKey(KeyType.K256, bytes(range(1, 33)))
    yield from peers(key.public_key.did_key, key.sign(MESSAGE))
    for kind in (KeyType.P256, KeyType.ED25519):
        other = PrivateKey.generate(kind)
        made = other.sign(MESSAGE)
        rate = per_second(lambda: other.public_key.verify(MESSAGE, made))  # noqa: B023 - used at once
        yield f"{kind} verify", "smart-byte", rate, "/s"


def peers(did_key: str, signature: bytes) -> Iterator[tuple[str, str, float, str]]:
    try:
        from atproto_crypto.verify import verify_signature  # noqa: PLC0415 - a peer
    except ImportError:
        pass
    else:
        assert verify_signature(did_key, MESSAGE, signature)
        rate = per_second(lambda: verify_signature(did_key, MESSAGE, signature))
        yield "K-256 verify", "atproto", rate, "/s"
    # arroba verifies with `cryptography` directly; this is that call and nothing around it.
    public = ec.derive_private_key(int.from_bytes(bytes(range(1, 33))), ec.SECP256K1()).public_key()
    der = utils.encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
    rate = per_second(lambda: public.verify(der, MESSAGE, ec.ECDSA(SHA256())))
    yield "K-256 verify", "cryptography alone (arroba)", rate, "/s"


if __name__ == "__main__":
    for case, who, value, unit in measure():
        print(f"{case:36} {who:26} {value:12.0f} {unit}")
