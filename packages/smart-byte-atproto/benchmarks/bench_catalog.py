"""Typed app.bsky and com.atproto: time and memory of the import, beside `atproto`.

Ours is the package that `smart-byte lexicon generate` makes of the published schemas: the modules
that a program names, and, to be fair to a peer that brings everything at once, every one of them.
Each figure is that of a fresh interpreter; memory is the growth of the resident set.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from smart_byte_atproto.lexicon.catalog import Catalog
from smart_byte_atproto.lexicon.generate import generate

LEXICONS = Path(__file__).parents[4] / "shared" / "vectors" / "atproto" / "lexicons"
TIMES = 5
TARGETS = {
    ("import every schema: time", "atproto"): 10.0,
    ("import every schema: memory", "atproto"): 5.0,
}
_PROGRAM = """
import resource, sys, time
from pathlib import Path
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
before, start = resident(), time.perf_counter()
{}
print((time.perf_counter() - start) * 1000, (resident() - before) / 1e6)
"""
_ONE = "from lexicons.app.bsky.feed import post"
_ALL = "import {}"
_PEER = "import atproto; from atproto import models; models.AppBskyFeedPost.Record"


def measure() -> Iterator[tuple[str, str, float, str]]:
    """Yield case, library, milliseconds or megabytes, and unit."""
    if not LEXICONS.is_dir():
        return
    with tempfile.TemporaryDirectory() as folder:
        modules = []
        for path, text in generate(Catalog.from_folder(LEXICONS), package="lexicons"):
            file = Path(folder, "lexicons", path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            if path.endswith(".py") and not path.endswith("__init__.py"):
                modules.append("lexicons." + path.removesuffix(".py").replace("/", "."))
        everything = _ALL.format(", ".join(modules))
        figures = {"smart-byte": best(everything, folder)}
        if find_spec("atproto"):
            figures["atproto"] = best(_PEER, folder)
        one = best(_ONE, folder)
    for library, (time_ms, _) in figures.items():
        yield "import every schema: time", library, time_ms, "ms"
    for library, (_, memory_mb) in figures.items():
        yield "import every schema: memory", library, memory_mb, "MB"
    yield "import one schema: time", "smart-byte", one[0], "ms"


def best(statements: str, folder: str) -> tuple[float, float]:
    """Return the least time and memory of several runs; the first one compiles."""
    runs = []
    for _ in range(TIMES + 1):
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM.format(statements)],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
        )
        runs.append(tuple(map(float, done.stdout.split())))
    return min(run[0] for run in runs[1:]), min(run[1] for run in runs[1:])


if __name__ == "__main__":
    for case, library, value, unit in measure():
        print(f"{case:42} {library:12} {value:8.1f} {unit}")
