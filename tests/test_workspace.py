"""What must hold for the repository as a whole."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS_WITH_ADDRESSES = {"uv.lock", "pylock.toml", "poetry.lock"}


@pytest.fixture(scope="module")
def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, timeout=30
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in os.fsdecode(listed.stdout).split("\0") if name]


def test_no_lock_file_with_addresses_is_tracked(tracked: list[Path]) -> None:
    assert not LOCKS_WITH_ADDRESSES & {path.name for path in tracked}


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").iterdir()), ids=lambda p: p.name)
def test_requirements_name_no_address_and_pin_every_line_with_a_hash(path: Path) -> None:
    text = path.read_text()
    assert "://" not in text
    pins = re.findall(r"^[A-Za-z0-9._\[\]-]+==\S+", text, flags=re.MULTILINE)
    blocks = re.split(r"\n(?=\S)", text.strip())
    assert len(pins) == len(blocks)
    assert all("--hash=sha256:" in block for block in blocks)


def test_the_lock_holds_no_torch_and_no_cuda() -> None:
    names = {
        match.lower()
        for path in (ROOT / "requirements").iterdir()
        for match in re.findall(r"^([A-Za-z0-9._-]+)==", path.read_text(), flags=re.MULTILINE)
    }
    assert names
    assert not {name for name in names if name.startswith("torch") or "cuda" in name}


def test_no_path_of_one_machine_is_tracked(tracked: list[Path]) -> None:
    private = re.compile(r"/(?:work|root|home/\w+)/\w")
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in tracked
        if path.suffix in {".py", ".md", ".toml", ".txt", ".json", ".mjs", ".yml", ""}
        and path.is_file()
        for match in private.finditer(path.read_text(errors="replace"))
        if path != Path(__file__)
    ]
    assert not found


def test_each_package_carries_what_a_package_carries() -> None:
    for package in sorted((ROOT / "packages").iterdir()):
        project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
        assert project["name"] == package.name
        module = package / "src" / package.name.replace("-", "_")
        for needed in (
            package / "README.md",
            package / "CHANGELOG.md",
            package / "LICENSE",
            module / "py.typed",
            module / "errors.py",
        ):
            assert needed.is_file(), needed


def test_ci_script_may_be_run() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
