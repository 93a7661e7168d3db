from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end
DOCS = Path(__file__).parents[4] / "docs"


def test_the_guide_runs_as_pasted() -> None:
    guide = DOCS / "openpay-bank.md"
    if not guide.is_file():
        pytest.skip("no docs folder beside this package")
    (code,) = re.findall(r"```python\n(.*?)```", guide.read_text("utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["Bills 60", "Holidays 0", "in-settlement 10.00 GBP"]


def test_the_profile_of_the_guide_is_read_as_pasted(tmp_path: Path) -> None:
    guide = DOCS / "openpay-add-a-bank.md"
    if not guide.is_file():
        pytest.skip("no docs folder beside this package")
    text = guide.read_text("utf-8")
    (profile,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "my-bank.toml").write_text(profile, "utf-8")
    check = (
        "from op_openbanking.traits.dialect import capabilities\nprint(capabilities(profile).bank)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\n{check}"],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "my-bank"
