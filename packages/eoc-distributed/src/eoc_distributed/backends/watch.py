"""Keeps an eye on engines: which are there, what they serve, how they are, what they carry.

One task for each engine. An engine whose models are not known yet is asked until it tells,
and joins the cluster then; one that comes back with other models joins anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import Mapping
from random import Random

from eoc_distributed.config import UpstreamLimits, WatchConfig, WorkerConfig
from eoc_distributed.energy.attribution import Reading, TokenEnergy
from eoc_distributed.energy.meters import open_meter
from eoc_distributed.errors import ConfigError, MeterFailed, WorkerFailed
from eoc_distributed.gateway.handler import Gateway
from eoc_distributed.units import MICRO_JOULES_PER_JOULE, MicroJoules, Quality
from eoc_distributed.worker import Accelerator, Capability, Load

from . import backend
from .address import Address, parse_address
from .base import MAX_COUNT, Backend, EngineLoad
from .detect import detect, list_models
from .http_worker import HTTPWorker
from .metrics_text import parse_metrics

_log = logging.getLogger(__name__)

_OK = 200
_NOT_FOUND = 404
_SERVER_ERROR = 500


class Watched:
    """One engine, from its configuration on.

    Args:
        config: What was said of it.
        gateway: Whose cluster it joins.
        watch: How often it is asked.
        upstream: Time-outs of its requests.
        environment: Where its key is.

    Raises:
        ConfigError: The configuration is wrong.
    """

    def __init__(
        self,
        config: WorkerConfig,
        *,
        gateway: Gateway,
        watch: WatchConfig,
        upstream: UpstreamLimits,
        environment: Mapping[str, str],
    ) -> None:
        self._config = config
        self._gateway = gateway
        self._watch = watch
        self._upstream = upstream
        self._address = parse_address(config.url)
        self.id = config.id or f"{self._address.host}:{self._address.port}"
        if not self.id.isascii() or not self.id.isprintable() or " " in self.id:
            raise ConfigError(f"worker {self.id!r}", "an id is printable ASCII without spaces")
        self._backend: Backend | None = backend(config.engine) if config.engine else None
        self._accelerator = _accelerator(config.accelerator)
        self._api_key: str | None = None
        if config.api_key_env is not None:
            self._api_key = environment.get(config.api_key_env)
            where = f"worker {self.id}: api_key_env"
            if not self._api_key:
                raise ConfigError(where, f"{config.api_key_env} is not set")
            if not self._api_key.isascii() or not self._api_key.isprintable():
                raise ConfigError(where, f"{config.api_key_env} is not printable ASCII")
        self._meter = open_meter(config.meter) if config.meter is not None else None
        self._energy = TokenEnergy()
        self._tokens_seen = 0
        self._worker = self._make(config.models or ())
        self._metrics = self._worker
        self._metrics_path: str | None = None
        if config.metrics_url is not None:
            address = parse_address(config.metrics_url)
            self._metrics_path = address.path or "/metrics"
            self._metrics = HTTPWorker(
                self.id,
                address=address._replace(path=""),
                capability=self._worker.capability,
                limits=upstream,
            )

    @property
    def address(self) -> Address:
        """Where the engine is."""
        return self._address

    def join(self) -> None:
        """Join the cluster at once if the models are known, else be awaited."""
        if self._config.models:
            self._gateway.cluster.add(self._worker)
        else:
            self._gateway.awaited[str(self._address)] = "not asked yet"

    def close(self) -> None:
        """Break off every connection."""
        self._worker.close()
        self._metrics.close()

    async def run(self, rng: Random) -> None:
        """Ask again and again, until cancelled."""
        failures = successes = 0
        while True:
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001 - one engine must not take the others down
                if not isinstance(error, WorkerFailed):
                    _log.exception("worker %s cannot be looked at", self.id)
                failures, successes = failures + 1, 0
                self.note_failure(str(error), failures=failures)
            else:
                if failures:
                    _log.warning("worker %s is there", self.id)
                failures, successes = 0, successes + 1
                if successes >= self._watch.successes:
                    self._gateway.health.probe_passed(self.id)
            spread = 1.0 + self._watch.jitter * (2.0 * rng.random() - 1.0)
            await asyncio.sleep(self._watch.interval_s * spread)

    def note_failure(self, why: str, *, failures: int) -> None:
        """Say why an engine is not well, to people once and to clients as long as it is so."""
        if failures in (1, self._watch.failures):
            _log.warning("worker %s at %s: %s", self.id, self._address, why)
        address = str(self._address)
        if address in self._gateway.awaited:
            self._gateway.awaited[address] = why
        if self.id in self._gateway.cluster:
            self._gateway.health.probe_missed(self.id)
            if failures >= self._watch.failures:
                self._gateway.health.probe_failed(self.id, why)

    async def look(self) -> None:
        """Ask once: models until they are known, then health and load.

        Raises:
            WorkerFailed: The engine is not well.
        """
        timeout_s = self._watch.timeout_s
        if self._backend is None or self.id not in self._gateway.cluster:
            found = await detect(self._worker, engine=self._backend, timeout_s=timeout_s)
            self._backend = found.backend
            self._take_models(found.models)
            if self.id not in self._gateway.cluster:
                raise WorkerFailed(self.id, "it serves no model")
        engine = self._backend
        status, _ = await self._worker.fetch(engine.health_path, timeout_s=timeout_s)
        if status >= _SERVER_ERROR or status == _NOT_FOUND:
            raise WorkerFailed(self.id, f"{engine.health_path} answered {status}")
        if not self._config.models:
            self._take_models(await list_models(self._worker, timeout_s=timeout_s))
        await self._read_load(engine)

    def _make(self, models: tuple[str, ...]) -> HTTPWorker:
        config = self._config
        return HTTPWorker(
            self.id,
            address=self._address,
            capability=Capability(
                models,
                accelerator=self._accelerator,
                max_concurrency=config.max_concurrency,
                zone=config.zone,
            ),
            load=self._load(EngineLoad()),
            limits=self._upstream,
            api_key=self._api_key,
            via=self._gateway.pseudonym,
        )

    def _take_models(self, models: tuple[str, ...]) -> None:
        cluster = self._gateway.cluster
        if self._config.models or not models:
            return
        if self.id in cluster and cluster[self.id].models == frozenset(models):
            return
        load = self._worker.load
        self._worker = self._make(models)
        self._worker.set_load(load)
        if self._metrics_path is None:
            self._metrics = self._worker
        if self.id in cluster:
            cluster.replace(self._worker)  # requests under way keep their connections
        else:
            cluster.add(self._worker)
        self._gateway.awaited.pop(str(self._address), None)

    async def _read_load(self, engine: Backend) -> None:
        """Take the engine's figures; what it does not tell is unknown from then on."""
        path = self._metrics_path or engine.metrics_path
        reported = EngineLoad()
        if path is not None:
            # A page of figures that is late says nothing about the engine's health.
            with contextlib.suppress(WorkerFailed):
                status, body = await self._metrics.fetch(path, timeout_s=self._watch.timeout_s)
                samples = parse_metrics(body.decode("utf-8", "replace")) if status == _OK else None
                if samples is not None:
                    reported = engine.load(samples)
        self._worker.set_load(self._load(reported))

    def _load(self, reported: EngineLoad) -> Load:
        """Join what the engine and its meter say with what was declared."""
        config = self._config
        per_token = config.micro_joules_per_token
        quality = Quality.DECLARED
        micro_joules = self._read_meter(reported)
        if micro_joules is not None:
            totals = self._gateway.ledger.workers.get(self.id)
            tokens = totals.prompt_tokens + totals.completion_tokens if totals else 0
            cluster = self._gateway.cluster
            now_s = cluster.clock.now_s()
            self._energy.add(
                Reading(micro_joules, now_s),
                tokens=tokens - self._tokens_seen,
                busy=self.id in cluster and cluster[self.id].in_flight > 0,
            )
            self._tokens_seen = tokens
        measured = self._energy.micro_joules_per_token
        if measured is not None:
            per_token, quality = measured, Quality.MEASURED
        return Load(
            in_flight=reported.in_flight or 0,
            micro_joules_per_token=per_token,
            g_co2e_per_kwh=config.g_co2e_per_kwh,
            energy_quality=quality,
            kv_tokens=reported.kv_tokens,
            kv_usage=_share(reported.kv_usage),
        )

    def _read_meter(self, reported: EngineLoad) -> MicroJoules | None:
        """Return the counter of the meter, or else the engine's own; None without a reading."""
        if self._meter is not None:
            try:
                return self._meter.read_micro_joules()
            except MeterFailed as error:
                _log.warning("worker %s: %s", self.id, error)
                return None
        if reported.joules is None or not 0 <= reported.joules <= MAX_COUNT:
            return None
        return MicroJoules(int(reported.joules * MICRO_JOULES_PER_JOULE))


async def watch(watched: tuple[Watched, ...], *, rng: Random) -> None:
    """Watch engines until cancelled."""
    async with asyncio.TaskGroup() as group:
        for one in watched:
            group.create_task(one.run(rng))


def watch_all(
    workers: tuple[WorkerConfig, ...],
    *,
    gateway: Gateway,
    watch_config: WatchConfig,
    upstream: UpstreamLimits,
    environment: Mapping[str, str] = os.environ,
) -> tuple[Watched, ...]:
    """Make what watches each engine, and let those join whose models are known.

    Raises:
        ConfigError: A configuration is wrong.
        DuplicateWorker: Two workers have one id.
    """
    _refuse_shared_meters(workers)
    watched = tuple(
        Watched(
            config,
            gateway=gateway,
            watch=watch_config,
            upstream=upstream,
            environment=environment,
        )
        for config in workers
    )
    ids = [one.id for one in watched]
    for one in watched:
        if ids.count(one.id) > 1:
            raise ConfigError(f"worker {one.id}", "two workers have this id")
        one.join()
    return watched


def _refuse_shared_meters(workers: tuple[WorkerConfig, ...]) -> None:
    """Refuse two engines on one meter: each would be charged for both."""
    meters = [config.meter for config in workers if config.meter is not None]
    for meter in meters:
        if meters.count(meter) > 1:
            raise ConfigError(
                f"meter {meter}", "two workers name it; it cannot tell their energy apart"
            )


def _accelerator(tag: str) -> Accelerator:
    try:
        return Accelerator(tag.lower())
    except ValueError as error:
        known = ", ".join(kind.tag for kind in Accelerator)
        raise ConfigError("accelerator", f"{tag!r} is not one of {known}") from error


def _share(value: float | None) -> float | None:
    """Return a share as the engine tells it; what is none is unknown."""
    return value if value is not None and 0.0 <= value <= 1.0 else None
