from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from eoc_distributed.cli import main

FLEET = '[[worker]]\nid = "a"\nprofile = "h100"\nzone = "FR"\ncount = 2\n'


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    rows = [f"2023-11-16 18:15:{second:02}.0,{100 + second},{5 + second}" for second in range(40)]
    path.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n" + "\n".join(rows) + "\n")
    return path


def test_json_tells_each_policy_once_with_all_requests(tmp_path: Path, trace: Path) -> None:
    fleet = tmp_path / "fleet.toml"
    fleet.write_text(FLEET)
    arguments = ["--trace", str(trace), "--fleet", str(fleet), "--json"]
    policies = ["--policy", "round-robin,joule-weighted,round-robin"]
    result = CliRunner().invoke(main, ["simulate", *arguments, *policies])
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)
    assert {row["policy"] for row in rows} == {"round-robin", "joule-weighted"}
    assert [row["finished"] for row in rows] == [40, 40]
    assert [row["joules_per_1k_tokens"] for row in rows] == sorted(
        row["joules_per_1k_tokens"] for row in rows
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[worker]", "fleet.toml"),
        (FLEET.replace("h100", "h101"), "'h101' is not one of"),
        (FLEET.replace("2", "1001"), "count is 1 to 1000"),
        (FLEET + FLEET, "'a-1' is used twice"),
        ("worker = []", "1 to 1000 workers, not 0"),
        (FLEET.replace("FR", "XX"), "no carbon intensity is known"),
    ],
)
def test_a_wrong_fleet_is_refused_with_what_and_where(
    tmp_path: Path, trace: Path, text: str, said: str
) -> None:
    fleet = tmp_path / "fleet.toml"
    fleet.write_text(text)
    result = CliRunner().invoke(main, ["simulate", "--trace", str(trace), "--fleet", str(fleet)])
    assert result.exit_code == 1
    assert said in result.stderr.replace("\n", " ")


def test_an_unknown_policy_names_those_there_are(trace: Path) -> None:
    result = CliRunner().invoke(main, ["simulate", "--trace", str(trace), "--policy", "magic"])
    assert result.exit_code == 1
    assert "'magic' is none of" in result.stderr
    assert "marginal-joules" in result.stderr


def test_the_report_is_one_page_with_every_policy_and_plot(tmp_path: Path, trace: Path) -> None:
    report = tmp_path / "report.html"
    policies = "round-robin,sticky+marginal-carbon+stealing+autoscale"
    arguments = ["--trace", str(trace), "--policy", policies, "--report", str(report)]
    result = CliRunner().invoke(main, ["simulate", *arguments])
    assert result.exit_code == 0, result.output
    assert policies.split(",")[1] in result.stdout
    text = report.read_text()
    assert text.count("<svg") == text.count("<figure>") == 6
    assert all(policy in text for policy in policies.split(","))
    assert "http://" not in text.replace("http://www.w3.org", "").replace(
        "http://purl.org", ""
    ).replace("http://creativecommons.org", "")


def test_a_report_that_cannot_be_written_is_told(tmp_path: Path, trace: Path) -> None:
    where = tmp_path / "absent" / "report.html"
    arguments = ["--trace", str(trace), "--policy", "round-robin", "--report", str(where)]
    result = CliRunner().invoke(main, ["simulate", *arguments])
    assert result.exit_code == 1
    assert "report.html" in result.stderr


def test_requests_come_faster_and_longer_ones_are_cut(trace: Path) -> None:
    rows = []
    for more in ([], ["--speed", "10", "--context", "64"]):
        arguments = ["--trace", str(trace), "--policy", "least-busy", "--json", *more]
        result = CliRunner().invoke(main, ["simulate", *arguments])
        assert result.exit_code == 0, result.output
        rows += json.loads(result.stdout)
    assert rows[1]["seconds"] < rows[0]["seconds"] / 5
    assert (rows[0]["clipped"], rows[1]["clipped"]) == (0, 40)
