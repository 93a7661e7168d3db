"""Signatures: verify and sign, K-256 on both engines and beside peers, P-256, Ed25519."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

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
    secret = bytes(range(1, 33))
    engines = {ENGINE.name: ENGINE, OPENSSL.name: OPENSSL}
    keys = {
        f"smart-byte on {name}": PrivateKey(KeyType.K256, secret, engine=engine)
        for name, engine in engines.items()
    }
    signature = next(iter(keys.values())).sign(MESSAGE)
    for who, key in keys.items():
        yield (
            "K-256 verify",
            who,
            per_second(partial(key.public_key.verify, MESSAGE, signature)),
            "/s",
        )
    yield from peers(next(iter(keys.values())).public_key.did_key, signature)
    for who, key in keys.items():
        yield "K-256 sign", who, per_second(partial(key.sign, MESSAGE)), "/s"
    for kind in (KeyType.P256, KeyType.ED25519):
        key = PrivateKey.generate(kind)
        work = partial(key.public_key.verify, MESSAGE, key.sign(MESSAGE))
        yield f"{kind} verify", "smart-byte", per_second(work), "/s"


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
