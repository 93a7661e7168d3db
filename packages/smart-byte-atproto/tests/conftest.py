"""Where the published vectors are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def vectors(request: pytest.FixtureRequest) -> Path:
    """Folder of the published vectors: `VECTORS_DIR`, or beside the checkout."""
    own = os.environ.get("VECTORS_DIR")
    if own:
        return Path(own)
    shared: Path = request.getfixturevalue("shared")
    return shared / "vectors" / "atproto"
