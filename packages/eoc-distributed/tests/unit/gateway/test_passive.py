from __future__ import annotations

import pytest

from eoc_distributed import Capability, Cluster, InMemoryWorker
from eoc_distributed.clock import ManualClock
from eoc_distributed.gateway.passive import (
    BASE_EJECTION_S,
    MAX_SERVER_ERRORS,
    MAX_UNREACHABLE,
    Health,
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def cluster(clock: ManualClock) -> Cluster:
    return Cluster((InMemoryWorker(name, Capability({"m"})) for name in "ab"), clock=clock)


def test_an_unreachable_worker_is_left_alone_and_comes_back(
    cluster: Cluster, clock: ManualClock
) -> None:
    health = Health(cluster)
    for _ in range(MAX_UNREACHABLE):
        assert cluster["a"].healthy
        health.unreachable("a", "refused")
    assert cluster["a"].unhealthy_reason == "refused"
    clock.advance(BASE_EJECTION_S - 1)
    health.readmit()
    assert not cluster["a"].healthy
    clock.advance(1)
    health.readmit()
    assert cluster["a"].healthy


def test_one_more_failure_after_the_return_sends_it_away_for_longer(
    cluster: Cluster, clock: ManualClock
) -> None:
    health = Health(cluster)
    for _ in range(MAX_UNREACHABLE):
        health.unreachable("a", "refused")
    clock.advance(BASE_EJECTION_S)
    health.readmit()
    health.unreachable("a", "refused")
    clock.advance(BASE_EJECTION_S)
    health.readmit()
    assert not cluster["a"].healthy
    clock.advance(BASE_EJECTION_S)
    health.readmit()
    assert cluster["a"].healthy


def test_failures_count_only_in_a_row(cluster: Cluster) -> None:
    health = Health(cluster)
    for _ in range(5):
        health.unreachable("a", "refused")
        health.answered("a")
    assert cluster["a"].healthy


def test_the_last_healthy_worker_stays_in_spite_of_server_errors(cluster: Cluster) -> None:
    health = Health(cluster)
    for worker in "ab":
        for _ in range(MAX_SERVER_ERRORS):
            health.server_error(worker, 500)
    assert not cluster["a"].healthy
    assert cluster["b"].healthy


def test_probes_and_requests_are_judged_together(cluster: Cluster, clock: ManualClock) -> None:
    health = Health(cluster)
    for _ in range(MAX_SERVER_ERRORS):
        health.server_error("a", 502)
    health.probe_failed("a", "/health answered 503")
    assert cluster["a"].unhealthy_reason == "/health answered 503"
    health.probe_passed("a")
    assert cluster["a"].unhealthy_reason == "5 answers of 502 in a row"
    clock.advance(BASE_EJECTION_S)
    health.readmit()
    assert cluster["a"].healthy


def test_a_good_probe_brings_back_who_was_unreachable(cluster: Cluster) -> None:
    health = Health(cluster)
    for _ in range(MAX_UNREACHABLE):
        health.unreachable("a", "refused")
    health.probe_passed("a")
    assert cluster["a"].healthy
