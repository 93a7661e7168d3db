from __future__ import annotations

import pytest

from eoc_distributed.errors import (
    StreamBroken,
    WorkerRefused,
    WorkerTimeout,
    WorkerUnreachable,
)
from eoc_distributed.health import Outcome, outcome_of_error, outcome_of_status


@pytest.mark.parametrize("status", [500, 502, 504])
def test_server_failures_count(status: int) -> None:
    assert outcome_of_status(status) is Outcome.FAILURE
    assert outcome_of_error(WorkerRefused("w", "no", status=status)) is Outcome.FAILURE


@pytest.mark.parametrize("status", [400, 401, 404, 408, 422, 429, 503])
def test_back_pressure_and_the_clients_mistakes_are_neutral(status: int) -> None:
    assert outcome_of_status(status) is Outcome.NEUTRAL
    assert outcome_of_error(WorkerRefused("w", "no", status=status)) is Outcome.NEUTRAL


def test_answers_are_successes() -> None:
    assert outcome_of_status(200) is Outcome.SUCCESS


@pytest.mark.parametrize("error", [WorkerUnreachable, WorkerTimeout, StreamBroken])
def test_silence_and_broken_connections_count(error: type[WorkerUnreachable]) -> None:
    assert outcome_of_error(error("w", "gone")) is Outcome.FAILURE
