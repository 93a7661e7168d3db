"""CAR of 100,000 different post records: read with every hash verified, beside libipld.

libipld decodes the records too but verifies no hash; `decoded` does both on our side.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO

from post_records import VALUES

from smart_byte_atproto import car
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID

BLOCKS = 100_000
READ = "read a CAR of 100,000 records, verified"
DECODED = "the same, and every record decoded"
STREAM = "the same, from a file in bounded memory"
TARGETS = {(READ, "libipld (no hash verified)"): 2.0}


def measure() -> Iterator[tuple[str, str, float, str]]:
    """Yield case, library, seconds and unit."""
    blocks = []
    for number in range(BLOCKS):
        block = dag_cbor.encode(VALUES[number % len(VALUES)] | {"number": number})
        blocks.append((CID.of(block), block))
    data = car.dump([blocks[0][0]], blocks)
    works: dict[tuple[str, str], Callable[[], object]] = {
        (READ, "smart-byte"): lambda: car.load(data),
        (READ, "SHA-256 alone"): lambda: [sha256(block).digest() for _, block in blocks],
        (STREAM, "smart-byte"): lambda: sum(1 for _ in car.CARReader(BytesIO(data))),
        (DECODED, "smart-byte"): lambda: [value for _, value in car.load(data).decoded()],
    }
    if find_spec("libipld"):
        decode_car = import_module("libipld").decode_car
        for case in (READ, DECODED):
            works[case, "libipld (no hash verified)"] = lambda: decode_car(data)
    best = dict.fromkeys(works, float("inf"))
    for _ in range(4):
        for name, work in works.items():
            gc.collect()
            start = time.perf_counter()
            result = work()
            best[name] = min(best[name], time.perf_counter() - start)
            del result
    for case, library in sorted(works, key=lambda name: (READ, STREAM, DECODED).index(name[0])):
        yield case, library, best[case, library], "s"


if __name__ == "__main__":
    for case, library, value, unit in measure():
        print(f"{case:42} {library:28} {value:8.3f} {unit}")
