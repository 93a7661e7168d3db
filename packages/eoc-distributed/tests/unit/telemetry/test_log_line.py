from __future__ import annotations

from eoc_distributed.energy.accounting import Energy, RequestCost
from eoc_distributed.telemetry.log_line import log_line
from eoc_distributed.telemetry.record import RequestRecord
from eoc_distributed.units import GramsCO2e, MicroJoules, Quality


def record(model: str, cost: RequestCost | None) -> RequestRecord:
    return RequestRecord(
        method="POST",
        path="/v1/x",
        model=model,
        worker_id="w",
        status=200,
        ttft_ms=12.4,
        duration_ms=20.0,
        cost=cost,
        tokens_exact=False,
        attempts=1,
    )


def test_tells_what_a_request_cost() -> None:
    energy = Energy(MicroJoules(1_500_000), Quality.DECLARED)
    line = log_line(record("m", RequestCost(10, 5, energy, GramsCO2e(0.002), Quality.DECLARED)))
    assert line == (
        "POST /v1/x  m  w  200  12 ms/20 ms  ~10+5 tok  1.5 J (declared)  0.002 gCO2e (declared)"
    )


def test_what_is_not_known_is_a_dash_and_a_client_cannot_steer_the_terminal() -> None:
    line = log_line(record("\x1b[31mred\n", None))
    assert line == "POST /v1/x  ?[31mred?  w  200  12 ms/20 ms  -  -  -"
