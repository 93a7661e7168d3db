from __future__ import annotations

from pathlib import Path

import pytest

from eoc_distributed.config import GatewayConfig, WorkerConfig, load_config, parse_config
from eoc_distributed.errors import ConfigError


def test_an_empty_file_is_the_default() -> None:
    assert parse_config(b"", where="x") == GatewayConfig()


def test_reads_workers_and_branches(tmp_path: Path) -> None:
    file = tmp_path / "eoc.toml"
    file.write_text('[[workers]]\nurl = "http://a"\nzone = "FR"\n[limits]\nbody_bytes = 5\n')
    config = load_config(file)
    assert config.workers == (WorkerConfig(url="http://a", zone="FR"),)
    assert config.limits.body_bytes == 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"[limits]\nbody_bytes = 0\n", r"eoc.toml: limits.body_bytes: .*>= 1"),
        (b"[limits]\nbodybytes = 1\n", r"eoc.toml: limits: .*unknown field `bodybytes`"),
        (b'[[workers]]\nzone = "FR"\n', r"eoc.toml: workers\[0\]: .*`url`"),
        (b"port = 70000\n", "eoc.toml: port"),
        (b"port = \n", "eoc.toml: "),
        (b"\xff", "eoc.toml: "),
    ],
)
def test_errors_name_file_key_and_fault(text: bytes, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_config(text, where="eoc.toml")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml"):
        load_config(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("carbon_file = " + "[" * 5000 + "]" * 5000, "nested too deep"),
        ("drain.timeout_s = inf", "timeout_s"),
        ("[[workers]]\nurl = 'http://a'\ng_co2e_per_kwh = inf", "g_co2e_per_kwh"),
        ("[[workers]]\nurl = 'http://a'\ng_co2e_per_kwh = nan", "g_co2e_per_kwh"),
    ],
    ids=["deep", "infinite time", "infinite intensity", "no number"],
)
def test_what_would_fail_later_is_refused_while_read(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_config(text.encode(), where="f.toml")
