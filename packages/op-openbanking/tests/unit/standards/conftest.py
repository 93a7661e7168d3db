from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from op_openbanking.standards.base import Wire, decode
from op_openbanking.standards.registry import standard

DATA = Path(__file__).parents[2] / "data" / "standards"


@pytest.fixture
def body() -> Callable[..., Wire]:
    """Reads one of our own bodies, optionally with a text in it replaced."""

    def read(name: str, resource: str, *, version: str | None = None, **change: str) -> Wire:
        octets = (DATA / f"{name}.json").read_bytes()
        if change:
            assert change["old"].encode() in octets
            octets = octets.replace(change["old"].encode(), change["by"].encode())
        folder = standard(name.split("/", maxsplit=1)[0].replace("_", "-"))
        shape = folder.shape(resource, version=version)
        return decode(octets, shape, standard=folder.name, resource=resource)

    return read
