"""The state of the fleet as JSON, for people and for the demo: `/v1/eoc/workers`."""

from __future__ import annotations

import msgspec

from eoc_distributed.cluster import Cluster
from eoc_distributed.energy.accounting import Ledger, WorkerTotals
from eoc_distributed.worker import Load


class WorkerView(msgspec.Struct, frozen=True, kw_only=True):
    """One worker: what it can do, how it is, what it carries, and what it has used."""

    id: str
    models: list[str]
    accelerator: str
    zone: str | None
    max_concurrency: int
    healthy: bool
    unhealthy_reason: str
    draining: bool
    load: Load
    totals: WorkerTotals


class FleetView(msgspec.Struct, frozen=True, kw_only=True):
    """All workers, in the order in which they came."""

    workers: list[WorkerView]


def fleet_json(cluster: Cluster, ledger: Ledger) -> bytes:
    """Return the state of each worker; units are in the names."""
    views = [
        WorkerView(
            id=member.id,
            models=sorted(member.models),
            accelerator=member.capability.accelerator.tag,
            zone=member.capability.zone,
            max_concurrency=member.max_concurrency,
            healthy=member.healthy,
            unhealthy_reason=member.unhealthy_reason,
            draining=member.draining,
            load=cluster.load_of(member.id),
            totals=ledger.workers.get(member.id, WorkerTotals()),
        )
        for member in cluster
    ]
    return msgspec.json.encode(FleetView(workers=views))
