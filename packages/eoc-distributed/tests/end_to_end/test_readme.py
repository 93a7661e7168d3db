from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

README = Path(__file__).parents[2] / "README.md"


def test_the_example_of_the_readme_prints_what_the_readme_says() -> None:
    text = README.read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", example],
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=True,
    )
    printed = done.stdout.splitlines()
    assert len(printed) == 3
    assert all(f"`{line}`" in text for line in printed)
