from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end
GUIDE = Path(__file__).parents[4] / "docs" / "openpay-fapi.md"


def test_the_guide_runs_as_pasted() -> None:
    if not GUIDE.is_file():
        pytest.skip("no docs folder beside this package")
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "200 openid accounts introspection"
