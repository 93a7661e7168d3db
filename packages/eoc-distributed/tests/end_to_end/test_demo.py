from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from eoc_distributed.routing import REGISTRY

pytestmark = pytest.mark.end_to_end


def demo(cwd: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eoc_distributed", "demo", *options],
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
        cwd=cwd,
    )


def test_demo_answers_every_request_and_its_totals_add_up(tmp_path: Path) -> None:
    done = demo(tmp_path, "--requests", "60", "--speedup", "40", "--json")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = msgspec.json.decode(done.stdout)
    assert result["energy_quality"] == "estimated"
    assert result["consistent"] is True
    assert result["failures"] == []
    assert "synthetic" in result["trace"]["title"]
    runs = [result["served"], *result["what_if"]]
    assert [run["router"] for run in runs] == ["joule-weighted", *REGISTRY]
    tokens = set()
    for run in runs:
        workers = run["workers"]
        assert run["failed"] == 0
        assert sum(worker["requests"] for worker in workers) == run["requests"] == 60
        assert sum(worker["micro_joules"] for worker in workers) == run["micro_joules"] > 0
        assert sum(worker["idle_micro_joules"] for worker in workers) == run["idle_micro_joules"]
        for worker in workers:
            grams = worker["micro_joules"] / 3.6e12 * worker["g_co2e_per_kwh"]
            assert worker["g_co2e"] == pytest.approx(grams)
        tokens.add(
            (
                sum(worker["prompt_tokens"] for worker in workers),
                sum(worker["completion_tokens"] for worker in workers),
            )
        )
    assert len(tokens) == 1


def test_demo_prints_tables_of_a_hundred_columns_without_a_terminal(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(
        "".join(
            f'{{"timestamp": {100 * i}, "input_length": 50, "output_length": 5}}\n'
            for i in range(8)
        )
    )
    svg = tmp_path / "demo.svg"
    done = demo(tmp_path, "--trace", str(trace), "--router", "round-robin", "--svg", str(svg))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert max(len(line) for line in lines) <= 100
    assert "trace.jsonl: 8 requests in 1 s" in lines[0]
    for text in ("pl-b200", "carbon-weighted", "round-robin (HTTP)", "modelled", "agree"):
        assert text in done.stdout
    assert "…" not in done.stdout
    assert "<svg" in svg.read_text(encoding="utf-8")


def test_demo_refuses_a_file_that_is_no_trace(tmp_path: Path) -> None:
    trace = tmp_path / "notes.txt"
    trace.write_text("hello\n")
    done = demo(tmp_path, "--trace", str(trace))
    assert done.returncode == 1
    assert "notes.txt:1" in done.stderr
    assert demo(tmp_path, "--router", "best").returncode == 2


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--speedup", "nan"), "--speedup"),
        (("--speedup", "inf"), "--speedup"),
        (("--ttft-objective-ms", "nan"), "--ttft-objective-ms"),
        (("--svg", "nowhere/demo.svg"), "--svg"),
    ],
)
def test_demo_refuses_before_the_run_what_would_fail_in_it(
    tmp_path: Path, options: tuple[str, str], what: str
) -> None:
    done = demo(tmp_path, *options)
    assert done.returncode == 2
    assert what in done.stderr
    assert "Traceback" not in done.stderr
