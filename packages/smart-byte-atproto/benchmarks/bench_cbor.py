"""DAG-CBOR: post records and the layer around them, beside cbrrr, libipld and dag-cbor.

Libraries take turns within each round, record by record, and the best round of each counts, so
that a busy machine slows all of them alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from post_records import RECORDS, VALUES

from smart_byte_atproto.data import dag_cbor

ROUNDS = 60
CALLS = 100
DECODE = "decode a post record, strict"
ENCODE = "encode a post record, strict"
TARGETS = {(DECODE, "cbrrr"): 0.8, (DECODE, "libipld"): 0.4}

Work = tuple[str, Callable[[Any], object], list[Any], int]


def measure() -> Iterator[tuple[str, str, float, str]]:
    """Yield case, library, nanoseconds a record and unit."""
    decoders: list[Work] = [("smart-byte", dag_cbor.decode, RECORDS, CALLS)]
    encoders: list[Work] = [("smart-byte", dag_cbor.encode, VALUES, CALLS)]
    for peer, decode, encode, calls in peers():
        decoders.append((peer, decode, RECORDS, calls))
        encoders.append((peer, encode, [decode(record) for record in RECORDS], calls))
    for case, works in ((DECODE, decoders), (ENCODE, encoders)):
        for work, value in zip(works, in_turns(works), strict=True):
            yield case, work[0], value, "ns"


def peers() -> Iterator[tuple[str, Callable[[Any], Any], Callable[[Any], Any], int]]:
    for name, module, decode, encode, calls in (
        ("cbrrr", "cbrrr", "decode_dag_cbor", "encode_dag_cbor", CALLS),
        ("libipld", "libipld", "decode_dag_cbor", "encode_dag_cbor", CALLS),
        ("dag-cbor", "dag_cbor", "decode", "encode", 2),
    ):
        if find_spec(module):
            peer = import_module(module)
            yield name, getattr(peer, decode), getattr(peer, encode), calls


def in_turns(works: list[Work]) -> list[float]:
    """Nanoseconds a call, the mean over the items of the best of all rounds."""
    best = [[float("inf")] * len(items) for _, _, items, _ in works]
    for _ in range(ROUNDS):
        for index, (_, work, items, calls) in enumerate(works):
            for place, item in enumerate(items):
                start = time.perf_counter_ns()
                for _ in range(calls):
                    work(item)
                taken = (time.perf_counter_ns() - start) / calls
                best[index][place] = min(best[index][place], taken)
    return [sum(times) / len(times) for times in best]


if __name__ == "__main__":
    for case, library, value, unit in measure():
        print(f"{case:36} {library:12} {value:10.0f} {unit}")
