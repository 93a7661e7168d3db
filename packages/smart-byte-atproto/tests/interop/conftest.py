"""The official server and PLC directory, in a process of their own on loopback."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
CACHE = HERE.parents[3] / ".cache" / "dev-env"
_START_S = 120.0
_INSTALL_S = 900.0
_STOP_S = 30.0


@dataclass
class Official:
    """Where the official services are."""

    process: subprocess.Popen[bytes]
    plc: str
    pds: str

    def restart(self) -> None:
        """Stop the server and start it again, on its port, with its data."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"restart\n")
        self.process.stdin.flush()
        assert _line(self.process) == {"restarted": True}


@pytest.fixture(scope="session")
def dev_env() -> Path:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node or npm is not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    wanted, done = (HERE / "package.json").read_bytes(), CACHE / ".installed"
    with (CACHE / ".lock").open("w") as lock:
        # Two test processes share the folder: one of them installs.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_bytes() != wanted:
            shutil.copy(HERE / "package.json", CACHE)
            command = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock"]
            made = subprocess.run(
                command, cwd=CACHE, capture_output=True, timeout=_INSTALL_S, check=False
            )
            if made.returncode != 0:
                pytest.skip(f"@atproto/dev-env cannot be installed: {made.stderr[-300:]!r}")
            done.write_bytes(wanted)
        shutil.copy(HERE / "server.mjs", CACHE)
    return CACHE


@pytest.fixture(scope="session")
def official(dev_env: Path) -> Iterator[Official]:
    process = subprocess.Popen(
        ["node", "server.mjs"],
        cwd=dev_env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "LOG_ENABLED": "false"},
    )
    try:
        where = _line(process)
        yield Official(process, where["plc"], where["pds"])
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _line(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    """Read the next JSON line of a process; others say things there too."""
    assert process.stdout is not None
    until = time.monotonic() + _START_S
    text = b""
    while time.monotonic() < until:
        ready, _, _ = select.select([process.stdout], [], [], 1.0)
        if not ready:
            assert process.poll() is None, "the official server has ended"
            continue
        piece = os.read(process.stdout.fileno(), 65536)
        assert piece, "the official server has ended"
        text += piece
        *lines, text = text.split(b"\n")
        for line in lines:
            if line.startswith(b"{"):
                found: dict[str, Any] = json.loads(line)
                return found
    raise TimeoutError("the official server says nothing")
