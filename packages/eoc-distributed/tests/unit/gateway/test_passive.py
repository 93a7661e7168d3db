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
    clock.advance(BASE_EJECTION_S)
    health.readmit()
    assert not cluster["a"].healthy
    health.probe_passed("a")
    assert cluster["a"].healthy


def test_good_probes_do_not_end_the_time_away_of_who_fails_at_its_work(
    cluster: Cluster, clock: ManualClock
) -> None:
    health = Health(cluster)
    for _ in range(MAX_UNREACHABLE):
        health.unreachable("a", "cut in mid-answer")
    for _ in range(5):
        health.probe_passed("a")
    assert not cluster["a"].healthy
    clock.advance(BASE_EJECTION_S)
    health.readmit()
    assert cluster["a"].healthy


def test_who_was_dead_and_passes_its_probes_again_comes_back_at_once(cluster: Cluster) -> None:
    health = Health(cluster)
    for _ in range(MAX_UNREACHABLE):
        health.unreachable("a", "refused")
    health.probe_failed("a", "refused")
    health.probe_passed("a")
    assert cluster["a"].healthy


def test_the_last_healthy_worker_stays_unless_its_probes_miss_too(cluster: Cluster) -> None:
    health = Health(cluster)
    for worker in "ab":
        for _ in range(MAX_UNREACHABLE):
            health.unreachable(worker, "cut")
    assert cluster["b"].healthy
    health.probe_missed("b")
    health.unreachable("b", "cut")
    assert not cluster["b"].healthy
