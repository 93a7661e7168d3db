"""Time to import the package, in a fresh interpreter, beside peers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

CASE = "import"
LIMITS = {CASE: 60.0}
TIMES = 7
PROGRAM = (
    "import time; start = time.perf_counter(); import {};"
    "print((time.perf_counter() - start) * 1000)"
)
WORK = "import what decodes, verifies and signs"


def measure() -> Iterator[tuple[str, str, float, str]]:
    """Yield case, library, milliseconds and unit."""
    yield CASE, "smart-byte", best("smart_byte_atproto"), "ms"
    for peer in ("atproto", "arroba.repo", "atmst.mst.node", "libipld", "cbrrr"):
        if find_spec(peer.partition(".")[0]):
            yield CASE, peer, best(peer), "ms"
    yield WORK, "smart-byte", best("smart_byte_atproto.repo"), "ms"


def best(name: str) -> float:
    return min(
        float(
            subprocess.run(
                [sys.executable, "-c", PROGRAM.format(name)],
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for _ in range(TIMES)
    )


if __name__ == "__main__":
    for case, library, value, unit in measure():
        print(f"{case:42} {library:12} {value:8.1f} {unit}")
