from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]


@pytest.fixture(scope="session")
def specs(shared: Path) -> Path:
    return shared / "specs" / "openbanking"


@pytest.fixture(scope="session")
def load() -> Callable[[Path], dict[str, Any]]:
    loaded: dict[Path, dict[str, Any]] = {}

    def read(path: Path) -> dict[str, Any]:
        if path not in loaded:
            text = path.read_text()
            document = (
                json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
            )
            assert isinstance(document, dict)
            loaded[path] = document
        return loaded[path]

    return read


@pytest.fixture
def numbers_as_text() -> Callable[[bytes], object]:
    """A reader of JSON that keeps each number's text, for comparing without a float."""

    def read(octets: bytes) -> object:
        return json.loads(octets, parse_float=lambda t: f"#{t}", parse_int=lambda t: f"#{t}")

    return read
