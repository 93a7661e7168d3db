"""The gateway on one core before four mock engines, beside direct and beside a peer.

Engines and the load generator (`wrk`) share the other core; the gateway has one to itself,
with routing by energy, metrics and accounting on. For each target:

- req_s: requests a second, 32 connections, answers of 8 tokens, not streamed;
- cpu_us: CPU of the gateway's process for each of them, µs, user and system;
- core: share of its core that the gateway's process kept busy meanwhile; well below 1 the load
  (engines and `wrk` share the other core) was the bound, and 1e6 / cpu_us is what one core bears;
- varied_us: the same where each request has an X-Request-Id of its own;
- tokens_s: tokens a second of streamed answers of 64 tokens, 32 connections;
- times: how many times the target's requests a second `eoc serve` answers;
- p50_ms: median latency on one connection without other load; added_ms is that less direct.

The peer is `sglang-router` from PyPI in an environment of its own. On a shared machine the
ratios count, not the figures: the targets are run in turn, those whose turn it is not are
stopped (SIGSTOP), and the median of the rounds is shown. `direct` puts all load on one engine.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

ENGINES = 4
CONNECTIONS = 32
SECONDS = 2
ROUNDS = 3
STREAMED_TOKENS = 64
PEER_HOME = Path(__file__).parents[3] / ".cache" / "sglang-router"
PEERS = {
    "sglang-router": (),
    "sglang-router, leanest": ("--policy", "round_robin", "--log-level", "error"),
}
"""The peer as it comes (cache-aware policy), and with all that it can leave out left out."""
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")
_LUA = """wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"model":"mock","messages":[{"role":"user","content":"How are you?"}]%s}'
"""


_VARIED = (
    _LUA
    + """local number = 0
request = function()
  number = number + 1
  wrk.headers["X-Request-Id"] = number
  return wrk.format()
end
"""
)


@dataclass
class Target:
    """What is put under load; `pid` is None where nothing stands before the engines."""

    name: str
    url: str
    pid: int | None


def cores() -> tuple[set[int], set[int]]:
    """Return the gateway's core and everybody else's; the same where there is only one."""
    usable = sorted(os.sched_getaffinity(0))
    return {usable[0]}, set(usable[1:2]) or {usable[0]}


@contextmanager
def process(command: list[str], on: set[int], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command pinned to cores, its output in a file."""
    with log.open("wb") as out:
        started = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: os.sched_setaffinity(0, on),  # noqa: PLW1509 - one thread
        )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(timeout=10)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def lines_of(log: Path, wanted: int, limit_s: float = 30.0) -> list[str]:
    """Wait until a log has so many `listening on` lines; return their URLs."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        found = re.findall(r"^listening on (\S+)$", log.read_text(errors="replace"), re.MULTILINE)
        if len(found) >= wanted:
            return found
        time.sleep(0.05)
    raise RuntimeError(f"{log} does not say where it listens:\n{log.read_text()[-2000:]}")


def answers(url: str, limit_s: float) -> bool:
    """Wait until a completion is answered."""
    body = b'{"model":"mock","messages":[{"role":"user","content":"?"}]}'
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", body, {"Content-Type": "application/json"}
    )
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(request, timeout=2) as answer:
                return bool(answer.status == HTTPStatus.OK)
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    return False


def free_port() -> int:
    """Return a port that is free at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def peer_python() -> Path | str:
    """Return the Python of the peer's environment, made if need be, or why there is none."""
    python = PEER_HOME / "bin" / "python"
    if not python.exists():
        made = subprocess.run(
            [sys.executable, "-m", "venv", str(PEER_HOME)], capture_output=True, check=False
        )
        if made.returncode == 0:
            made = subprocess.run(
                [str(python), "-m", "pip", "install", "-q", "sglang-router"],
                capture_output=True,
                timeout=300,
                check=False,
            )
        if made.returncode != 0:
            shutil.rmtree(PEER_HOME, ignore_errors=True)
            return f"sglang-router cannot be installed: {made.stderr.decode()[-200:].strip()}"
    return python


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process and its threads, s."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * _TICK_S


def wrk(url: str, script: Path, *, connections: int, on: set[int]) -> tuple[float, int, float]:
    """Return requests a second, requests, and the median latency in ms."""
    done = subprocess.run(
        [
            *("taskset", "-c", ",".join(map(str, on)), "wrk", "-t1", f"-c{connections}"),
            *(f"-d{SECONDS}s", "--latency", "-s", str(script), f"{url}/v1/chat/completions"),
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if "Non-2xx" in done:
        raise RuntimeError(f"{url} answers with errors:\n{done}")
    rate = re.search(r"Requests/sec:\s+([\d.]+)", done)
    count = re.search(r"(\d+) requests in", done)
    median = re.search(r"50%\s+([\d.]+)(us|ms|s)", done)
    if rate is None or count is None or median is None:
        raise RuntimeError(f"wrk says something unexpected:\n{done}")
    scale = {"us": 1e-3, "ms": 1.0, "s": 1e3}[median[2]]
    return float(rate[1]), int(count[1]), float(median[1]) * scale


def measure(target: Target, folder: Path, others: set[int]) -> dict[str, float]:
    """Put one target under load once."""
    plain, varied, stream = (folder / f"{name}.lua" for name in ("plain", "varied", "stream"))
    varied.write_text(_VARIED % "")
    plain.write_text(_LUA % "")
    stream.write_text(_LUA % f',"stream":true,"max_tokens":{STREAMED_TOKENS}')
    before, began_s = cpu_s(target.pid) if target.pid is not None else 0.0, time.monotonic()
    rate, count, _ = wrk(target.url, plain, connections=CONNECTIONS, on=others)
    figures = {"req_s": rate}
    if target.pid is not None:
        spent_s = cpu_s(target.pid) - before
        figures["cpu_us"] = spent_s / count * 1e6
        figures["core"] = spent_s / (time.monotonic() - began_s)
        before = cpu_s(target.pid)
        _, count, _ = wrk(target.url, varied, connections=CONNECTIONS, on=others)
        figures["varied_us"] = (cpu_s(target.pid) - before) / count * 1e6
    streams, _, _ = wrk(target.url, stream, connections=CONNECTIONS, on=others)
    figures["tokens_s"] = streams * STREAMED_TOKENS
    figures["p50_ms"] = wrk(target.url, plain, connections=1, on=others)[2]
    return figures


@contextmanager
def awake(target: Target) -> Iterator[None]:
    """Let a stopped process run for a while, answered by one request before it counts."""
    if target.pid is None:
        yield
        return
    os.kill(target.pid, signal.SIGCONT)
    try:
        if not answers(target.url, 10.0):
            raise RuntimeError(f"{target.name} does not answer")
        yield
    finally:
        os.kill(target.pid, signal.SIGSTOP)


def in_turn(found: list[Target], folder: Path, others: set[int]) -> list[dict[str, float]]:
    """Measure every target once, each while the others are stopped."""
    figures = []
    for target in found:
        with awake(target):
            figures.append(measure(target, folder, others))
    return figures


def targets(stack: ExitStack, folder: Path) -> tuple[list[Target], list[str]]:
    """Start everything; return what can be measured, and what is left out and why."""
    alone, others = cores()
    log = folder / "engines.log"
    engine = [sys.executable, "-m", "eoc_distributed.testing.engine", "--loop", loop_name()]
    stack.enter_context(process([*engine, "--count", str(ENGINES)], others, log))
    engines = lines_of(log, ENGINES)
    found = [Target("direct", engines[0], None)]
    workers = [
        option
        for number, url in enumerate(engines)
        for option in ("--worker", f"{url},id=w{number},zone=FR,model=mock,uj_per_token=1000")
    ]
    log = folder / "eoc.log"
    serve = [sys.executable, "-m", "eoc_distributed", "serve", "--port", "0", "--loop", loop_name()]
    ours = stack.enter_context(process([*serve, *workers], alone, log))
    found.append(Target("eoc serve", lines_of(log, 1)[0], ours.pid))
    python = peer_python()
    if isinstance(python, str):
        return found, [python]
    skipped = []
    for name, options in PEERS.items():
        port = free_port()
        command = [
            *(str(python), "-m", "sglang_router.launch_router", "--host", "127.0.0.1"),
            *("--port", str(port), "--prometheus-port", str(free_port()), *options),
            *("--worker-urls", *engines),
        ]
        peer = stack.enter_context(process(command, alone, folder / f"peer-{port}.log"))
        url = f"http://127.0.0.1:{port}"
        if answers(url, 40.0):
            found.append(Target(name, url, peer.pid))
        else:
            skipped.append(f"{name} does not answer")
    return found, skipped


def loop_name() -> str:
    """Return uvloop where it is installed."""
    try:
        import uvloop  # noqa: F401, PLC0415
    except ImportError:
        return "asyncio"
    return "uvloop"


def rows() -> list[dict[str, object]]:
    """Measure every target; a row with `skipped` says what could not be measured."""
    if sys.platform != "linux":
        return [{"skipped": "CPU is pinned and read as Linux does it"}]
    if shutil.which("wrk") is None:
        return [{"skipped": "wrk is not installed (Debian package wrk)"}]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        found, skipped = targets(stack, folder)
        _, others = cores()
        for target in found:
            if target.pid is not None:
                os.kill(target.pid, signal.SIGSTOP)
        try:
            rounds = [in_turn(found, folder, others) for _ in range(ROUNDS)]
        finally:
            for target in found:
                if target.pid is not None:
                    os.kill(target.pid, signal.SIGCONT)  # or it could not end
    table: list[dict[str, object]] = []
    direct_ms = statistics.median(one[0]["p50_ms"] for one in rounds)
    for index, target in enumerate(found):
        row: dict[str, object] = {"target": target.name}
        for key in rounds[0][index]:
            row[key] = statistics.median(one[index][key] for one in rounds)
        if index:
            ours = statistics.median(one[1]["req_s"] for one in rounds)
            row["times"] = ours / float(str(row["req_s"]))
            row["added_ms"] = float(str(row["p50_ms"])) - direct_ms
        table.append(row)
    return table + [{"skipped": why} for why in skipped]


if __name__ == "__main__":
    for row in rows():
        print(row)
