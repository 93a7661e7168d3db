from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

PACKAGE = Path(__file__).parents[2]
GUIDE = PACKAGE.parents[1] / "docs" / "openpay-signing.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def run(document: Path) -> str:
    program = "\n".join(BLOCK.findall(document.read_text(encoding="utf-8")))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_of_the_readme_runs_as_pasted() -> None:
    assert run(PACKAGE / "README.md").split()[:2] == ["tpp", "jws-signature"]


def test_the_guide_to_signers_runs_as_pasted() -> None:
    if not GUIDE.exists():
        pytest.skip("the guides are not part of the package's own archive")
    run(GUIDE)


def test_the_readme_is_short() -> None:
    assert len((PACKAGE / "README.md").read_text(encoding="utf-8").splitlines()) < 150
