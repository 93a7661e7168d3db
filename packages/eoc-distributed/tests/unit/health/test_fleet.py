from __future__ import annotations

from eoc_distributed.health import FleetHealth, HealthPolicy, Outcome, PhiPolicy, Verdict

POLICY = HealthPolicy(phi=PhiPolicy(pause_s=1.0, first_interval_s=1.0))


def fleet(count: int) -> FleetHealth:
    health = FleetHealth(POLICY)
    for number in range(count):
        health.add(f"w{number}", 0.0)
    return health


def answer(health: FleetHealth, worker_id: str, outcome: Outcome, now_s: float) -> bool:
    granted = health.begin(worker_id, now_s)
    if granted is None:
        return False
    health.end(worker_id, granted, outcome, now_s)
    return True


def test_a_worker_whose_heartbeats_stop_is_ill_and_says_why() -> None:
    health = fleet(4)
    changed: tuple[Verdict, ...] = ()
    second = 0
    while not changed:
        second += 1
        for number in range(4):
            if number != 2 or second < 10:
                health.heartbeat(f"w{number}", float(second))
        changed = health.sweep(float(second))
    assert [verdict.worker_id for verdict in changed] == ["w2"]
    assert changed[0].reason.startswith("no heartbeat: phi ")
    assert not health.healthy("w2")
    assert 10 < second < 16


def test_a_worker_that_streams_is_alive_though_it_answers_no_probe() -> None:
    health = fleet(4)
    for second in range(60):
        for number in range(4):
            if number == 1 and second > 10:
                health.alive("w1", float(second))
            else:
                health.heartbeat(f"w{number}", float(second))
        assert health.sweep(float(second)) == ()


def test_an_answer_to_a_worker_that_has_gone_is_ignored() -> None:
    health = fleet(4)
    granted = health.begin("w1", 0.0)
    assert granted is not None
    health.remove("w1")
    health.end("w1", granted, Outcome.FAILURE, 1.0)
    assert health.sweep(1.0) == ()


def test_a_broken_worker_is_ill_by_its_answers_alone() -> None:
    health = fleet(4)
    for _ in range(5):
        answer(health, "w1", Outcome.FAILURE, 1.0)
    assert health.sweep(1.0) == (Verdict("w1", False, "ejected as an outlier"),)
    for _ in range(5):
        answer(health, "w1", Outcome.FAILURE, 1.0)
    assert not answer(health, "w1", Outcome.SUCCESS, 1.0)
    assert health.sweep(32.0) == ()
    assert health.sweep(61.0) == (Verdict("w1", True, ""),)


def test_one_who_returns_starts_slowly() -> None:
    health = fleet(4)
    health.sweep(100.0)
    assert health.slow_start_factor("w1", 100.0) == 1.0
    for _ in range(5):
        answer(health, "w1", Outcome.FAILURE, 100.0)
    health.sweep(100.0)
    assert health.slow_start_factor("w1", 100.0) == 0.0
    health.sweep(130.0)
    assert health.slow_start_factor("w1", 130.0) == 0.1
    assert health.slow_start_factor("w1", 145.0) == 0.5
    assert health.slow_start_factor("w1", 160.0) == 1.0


def test_when_most_are_ill_health_is_ignored() -> None:
    health = fleet(4)
    for second in range(10):
        for number in range(4):
            health.heartbeat(f"w{number}", float(second))
    for second in range(10, 30):
        health.heartbeat("w0", float(second))
        health.sweep(float(second))
    assert all(health.healthy(f"w{number}") for number in range(4))


def test_workers_that_are_not_watched_are_ignored() -> None:
    health = fleet(1)
    health.remove("w0")
    health.remove("w0")
    health.heartbeat("w0", 1.0)
    health.alive("w0", 1.0)
    assert health.begin("w0", 1.0) is None
    assert not health.healthy("w0")
    assert health.slow_start_factor("w0", 1.0) == 0.0
    assert health.sweep(2.0) == ()


def flapping_hours(*, flaps_s: int, hours: int = 2, fleet_size: int = 10) -> tuple[int, int, int]:
    """Let w0 fail and work in turns; return its changes, those of others, and naive changes."""
    health = fleet(fleet_size)
    own = others = naive = 0
    for second in range(hours * 3600):
        down = second // flaps_s % 2 == 1
        naive += second % flaps_s == 0
        for number in range(fleet_size):
            bad = down and number == 0
            if not bad:
                health.heartbeat(f"w{number}", float(second))
            if health.healthy(f"w{number}"):
                answer(
                    health,
                    f"w{number}",
                    Outcome.FAILURE if bad else Outcome.SUCCESS,
                    float(second),
                )
        for verdict in health.sweep(float(second)):
            if verdict.worker_id == "w0":
                own += 1
            else:
                others += 1
    return own, others, naive


def test_a_flapping_worker_does_not_make_the_fleet_swing() -> None:
    own, others, naive = flapping_hours(flaps_s=10)
    assert others == 0
    assert naive == 720
    # Ejections of 30, 60, ... 300 s fill two hours with 28 of them.
    assert 2 <= own <= 60


def test_a_worker_that_flaps_by_the_minute_sits_out_several_of_its_turns() -> None:
    own, others, naive = flapping_hours(flaps_s=60)
    assert others == 0
    assert naive == 120
    assert 2 <= own <= 40


def test_when_many_flap_by_turns_a_tenth_sits_out_at_most() -> None:
    health = fleet(20)
    least_well = 20
    for second in range(1800):
        for number in range(20):
            health.heartbeat(f"w{number}", float(second))
            if health.healthy(f"w{number}"):
                bad = (second // 20 + number) % 3 == 0
                answer(
                    health,
                    f"w{number}",
                    Outcome.FAILURE if bad and second % 4 else Outcome.SUCCESS,
                    float(second),
                )
        health.sweep(float(second))
        least_well = min(least_well, sum(health.healthy(f"w{n}") for n in range(20)))
    assert least_well >= 10
