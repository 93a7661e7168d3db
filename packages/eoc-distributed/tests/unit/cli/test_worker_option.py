from __future__ import annotations

import pytest

from eoc_distributed.cli.worker_option import parse_worker
from eoc_distributed.config import WorkerConfig
from eoc_distributed.errors import ConfigError


def test_reads_keys_and_repeated_models() -> None:
    text = "http://a:1,zone=FR,model=m,model=o/n,uj_per_token=5,g_per_kwh=1.5,max-concurrency=3"
    assert parse_worker(text) == WorkerConfig(
        url="http://a:1",
        zone="FR",
        models=("m", "o/n"),
        micro_joules_per_token=5,
        g_co2e_per_kwh=1.5,
        max_concurrency=3,
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("http://a,zone", "'zone' is not key=value"),
        ("http://a,zone=", "'zone=' is not key=value"),
        ("http://a,colour=red", "'colour' is not one of"),
        ("http://a,max_concurrency=0", "max_concurrency"),
        ("http://a,uj_per_token=x", "micro_joules_per_token"),
    ],
)
def test_says_which_key_is_wrong(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        parse_worker(text)
