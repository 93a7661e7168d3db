from __future__ import annotations

import subprocess
import sys

import pytest

from smart_byte_atproto import __version__

pytestmark = pytest.mark.end_to_end


def test_version_is_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "smart_byte_atproto", "--version"],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert __version__ in done.stdout
