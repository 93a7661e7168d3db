"""Simulated requests a second, batching on, by the size of the fleet.

Synthetic Azure conversation traffic on H100 workers, two arrivals a second for each, under
least-busy. The target is 100,000 a second at 16 workers.
"""

from __future__ import annotations

import time
from itertools import islice
from random import Random

from eoc_distributed.backends.embedded.accelerators import H100
from eoc_distributed.sim.fleet import Site
from eoc_distributed.sim.policy import parse_policy
from eoc_distributed.sim.simulation import Conditions, simulate
from eoc_distributed.sim.traces import Shape, synthetic

REQUESTS = 10_000
POLICIES = ("least-busy", "marginal-joules")


def rows() -> list[dict[str, object]]:
    """Measure fleets of 16 and of 1,000."""
    found: list[dict[str, object]] = []
    for workers in (16, 1000):
        shape = Shape(rate_per_s=2.0 * workers)
        trace = list(islice(synthetic(Random(1), shape=shape), REQUESTS))
        fleet = tuple(Site(f"w{number}", H100, "FR") for number in range(workers))
        conditions = Conditions(fleet, lambda _zone, _hour: 50.0)
        for policy in POLICIES:
            start_s = time.process_time()
            tally = simulate(iter(trace), parse_policy(policy), conditions)
            spent_s = time.process_time() - start_s
            passes = sum(worker.passes for worker in tally.workers.values())
            found.append(
                {
                    "workers": workers,
                    "policy": policy,
                    "requests_per_s": round(REQUESTS / spent_s),
                    "passes_per_s": round(passes / spent_s),
                }
            )
    return found


if __name__ == "__main__":
    for row in rows():
        print(row)
