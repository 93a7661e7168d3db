"""Compact JWS, signed and verified per second, beside raw `cryptography` and three libraries.

    make bench-openpay
    python packages/op-openbanking/benchmarks/run.py --json --seconds 20

What is timed: a payload of `--bytes` octets of JSON (200 is a client assertion) under one key,
PS256 with RSA-2048 and ES256 with P-256. "raw" is the bare call of `cryptography` over a ready
signing input: no header, no base64, no key selection, ECDSA left in DER; nobody who makes a whole
JWS on top of that call can pass it. Every library makes or checks the whole compact JWS with its
allow-list of algorithms set and its key object built before. All contenders take turns in short
rounds, in an order that is shuffled anew for each round. Time is processor time of the thread, so
that a neighbour who takes the core away counts for nobody. Per second is the best round; a ratio is
the median of the ratios within each round.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jws as joserfc_jws
from joserfc.jwk import ECKey, RSAKey
from jwcrypto.jwk import JWK as JWCryptoKey  # noqa: N811 (its name)
from jwcrypto.jws import JWS as JWCryptoJWS  # noqa: N811
from rich.console import Console
from rich.table import Table

from op_openbanking.jose.algorithms import PrivateKey
from op_openbanking.jose.jwk import JWKSet
from op_openbanking.jose.jws import sign_compact, verify_compact
from op_openbanking.signing.local import LocalSigner

RAW, OURS = "raw cryptography", "op-openbanking"
LIBRARIES = ("joserfc", "pyjwt", "jwcrypto")
TARGET = 0.9


@dataclass(frozen=True, slots=True)
class Row:
    alg: str
    operation: str
    contender: str
    per_second: float
    ratio_to_raw: float


Case = dict[str, Callable[[], object]]


def make_key(alg: str) -> PrivateKey:
    if alg == "PS256":
        return rsa.generate_private_key(65537, 2048)
    return ec.generate_private_key(ec.SECP256R1())


def raw_calls(key: PrivateKey, signing_input: bytes) -> tuple[Callable[[], object], ...]:
    sha256 = hashes.SHA256()
    if isinstance(key, rsa.RSAPrivateKey):
        pss = padding.PSS(padding.MGF1(sha256), 32)
        signature, rsa_public = key.sign(signing_input, pss, sha256), key.public_key()
        return (
            lambda: key.sign(signing_input, pss, sha256),
            lambda: rsa_public.verify(signature, signing_input, pss, sha256),
        )
    ecdsa = ec.ECDSA(sha256)
    signature, ec_public = key.sign(signing_input, ecdsa), key.public_key()
    return (
        lambda: key.sign(signing_input, ecdsa),
        lambda: ec_public.verify(signature, signing_input, ecdsa),
    )


def cases(alg: str, payload: bytes) -> dict[str, Case]:
    key = make_key(alg)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    signer = LocalSigner.from_key(key)
    keys = JWKSet.of([signer.jwk])
    header = {"alg": alg, "kid": signer.kid}
    token = sign_compact(payload, signer)
    raw_sign, raw_verify = raw_calls(key, token.rpartition(".")[0].encode("ascii"))

    rfc_key = (RSAKey if alg == "PS256" else ECKey).import_key(pem)
    rfc_public = (RSAKey if alg == "PS256" else ECKey).import_key(signer.jwk.to_pem())
    jwt_api, jwt_public = jwt.PyJWS(), signer.jwk.public_key
    crypto_key = JWCryptoKey.from_pem(pem)
    crypto_public = JWCryptoKey.from_pem(signer.jwk.to_pem())

    def jwcrypto_sign() -> object:
        made = JWCryptoJWS(payload)
        made.add_signature(crypto_key, protected=header)
        return made.serialize(compact=True)

    def jwcrypto_verify() -> object:
        read = JWCryptoJWS()
        read.allowed_algs = [alg]
        read.deserialize(token, crypto_public)
        return read.payload

    sign: Case = {
        RAW: raw_sign,
        OURS: lambda: sign_compact(payload, signer),
        "joserfc": lambda: joserfc_jws.serialize_compact(header, payload, rfc_key, [alg]),
        "pyjwt": lambda: jwt_api.encode(payload, key, alg, {"kid": signer.kid}),
        "jwcrypto": jwcrypto_sign,
    }
    verify: Case = {
        RAW: raw_verify,
        OURS: lambda: verify_compact(token, keys, algorithms=(alg,)),
        "joserfc": lambda: joserfc_jws.deserialize_compact(token, rfc_public, [alg]),
        "pyjwt": lambda: jwt_api.decode(token, jwt_public, [alg]),
        "jwcrypto": jwcrypto_verify,
    }
    return {"sign": sign, "verify": verify}


def rates(case: Case, *, seconds: float, rng: random.Random) -> list[dict[str, float]]:
    loops = {}
    for name, call in case.items():
        call()
        started = time.perf_counter()
        for _ in range(5):
            call()
        loops[name] = max(5, int(0.004 / ((time.perf_counter() - started) / 5)))
    rounds = []
    names = list(case)
    gc.collect()
    gc.disable()  # as timeit does
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        rng.shuffle(names)
        done = {}
        for name in names:
            call, count = case[name], loops[name]
            started = time.thread_time()
            for _ in range(count):
                call()
            done[name] = count / (time.thread_time() - started)
        rounds.append(done)
        gc.collect()
    gc.enable()
    return rounds


def measure(*, seconds: float, payload_bytes: int, seed: int) -> list[Row]:
    rng = random.Random(seed)
    filler = "x" * max(0, payload_bytes - 60)
    payload = json.dumps({"iss": "tpp", "aud": "bank", "iat": 1735689600, "note": filler}).encode()
    rows = []
    for alg in ("PS256", "ES256"):
        for operation, case in cases(alg, payload).items():
            rounds = rates(case, seconds=seconds / 4, rng=rng)
            for name in case:
                best = max(done[name] for done in rounds)
                ratio = statistics.median(done[name] / done[RAW] for done in rounds)
                rows.append(Row(alg, operation, name, best, ratio))
    return rows


def verdicts(rows: list[Row]) -> list[str]:
    lines = []
    for ours in (row for row in rows if row.contender == OURS):
        peers = [
            row
            for row in rows
            if (row.alg, row.operation) == (ours.alg, ours.operation) and row.contender in LIBRARIES
        ]
        fastest = max(peers, key=lambda row: row.ratio_to_raw)
        lines.append(
            f"{ours.alg} {ours.operation}: {ours.ratio_to_raw:.2f} of raw "
            f"({'meets' if ours.ratio_to_raw >= TARGET else 'misses'} {TARGET}), "
            f"{ours.ratio_to_raw / fastest.ratio_to_raw:.2f} times {fastest.contender}"
        )
    return lines


def print_table(rows: list[Row]) -> None:
    table = Table("alg", "operation", "contender", title="Compact JWS, one core")
    table.add_column("per second", justify="right")
    table.add_column("of raw", justify="right")
    last = None
    for row in rows:
        group = (row.alg, row.operation)
        if last not in (None, group):
            table.add_section()
        last = group
        style = "bold" if row.contender == OURS else None
        figures = (f"{row.per_second:,.0f}", f"{row.ratio_to_raw:.2f}")
        table.add_row(*group, row.contender, *figures, style=style)
    console = Console()
    console.print(table)
    for line in verdicts(rows):
        console.print(line, highlight=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=24.0, help="time in all")
    parser.add_argument("--bytes", type=int, default=200, help="size of the payload")
    parser.add_argument("--seed", type=int, default=1, help="of the order of the rounds")
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    given = parser.parse_args()
    rows = measure(seconds=given.seconds, payload_bytes=given.bytes, seed=given.seed)
    if not given.json:
        print_table(rows)
        return
    names = ("cryptography", *LIBRARIES)
    result = {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "versions": {name: version(name) for name in names},
        "payload_bytes": given.bytes,
        "rows": [
            {
                "alg": row.alg,
                "operation": row.operation,
                "contender": row.contender,
                "per_second": round(row.per_second, 1),
                "ratio_to_raw": round(row.ratio_to_raw, 4),
            }
            for row in rows
        ],
        "verdicts": verdicts(rows),
    }
    json.dump(result, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
