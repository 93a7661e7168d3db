"""Fixtures for every package."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parent.parent / "shared"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """Reference data beside the checkout; the test is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared beside this checkout")
    return SHARED
