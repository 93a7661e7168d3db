from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

README = Path(__file__).parents[2] / "README.md"


def test_the_example_runs_as_pasted(tmp_path: Path) -> None:
    text = README.read_text("utf-8")
    assert len(text.splitlines()) < 150
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    shown = re.search(r"```\n(\d.*?)```", text, re.DOTALL)
    assert program is not None
    assert shown is not None
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program[1]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    tid = r"3[2-7a-z]{12}"
    assert re.sub(tid, "TID", done.stdout) == re.sub(tid, "TID", shown[1])
