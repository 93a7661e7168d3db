"""One frozen tree for everything that `eoc serve` can be told.

Times are in seconds, sizes in bytes. Reading a TOML file is here too, and nothing else
touches the disk or the environment; the command line turns its options into this tree.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from .errors import ConfigError

KIB = 1024
MIB = 1024 * KIB

_LARGEST = 1e12
"""Well above any time, size or intensity that makes sense, and keeps infinity out."""
Positive = Annotated[float, msgspec.Meta(gt=0, le=_LARGEST)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=_LARGEST)]
Count = Annotated[int, msgspec.Meta(ge=1)]


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the server takes from a client; sizes are RFC 9110's advice and common practice.

    Attributes:
        head_bytes: Request line and headers together; beyond it 431.
        header_count: Header fields of a request; beyond it 431.
        url_bytes: Request target; beyond it 414.
        body_bytes: Body of a request; beyond it 413, before all of it is read.
        pipelined: Requests read ahead on a connection; beyond it reading pauses.
        read_ahead_bytes: Bodies read ahead while a request is answered; beyond it reading pauses.
        connections: Connections held at a time; further ones are closed at once.
        head_timeout_s: From the first byte of a head to its end.
        body_idle_timeout_s: Between two reads of a body.
        body_timeout_s: From the first byte of a body to its end.
        keep_alive_s: Between two requests on a connection.
        write_timeout_s: How long a client may leave its answer unread.
        write_buffer_bytes: Unread answer at which its source is paused.
    """

    head_bytes: Count = 64 * KIB
    header_count: Count = 200
    url_bytes: Count = 64 * KIB
    body_bytes: Count = 64 * MIB
    pipelined: Count = 16
    read_ahead_bytes: Count = 256 * KIB
    connections: Count = 16384
    head_timeout_s: Positive = 10.0
    body_idle_timeout_s: Positive = 30.0
    body_timeout_s: Positive = 600.0
    keep_alive_s: Positive = 75.0
    write_timeout_s: Positive = 120.0
    write_buffer_bytes: Count = 64 * KIB


class UpstreamLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a worker's engine may take, and how connections to it are kept.

    Attributes:
        connect_timeout_s: To open a connection.
        first_byte_timeout_s: From the request to the head of the answer: queue and prefill.
        idle_timeout_s: Between two pieces of an answer; any byte counts.
        total_timeout_s: A whole exchange.
        max_idle_s: A connection unused for longer is closed; common engines close at 5 s.
        head_bytes: Status line and headers of an answer.
        read_buffer_bytes: Unread answer at which reading from the engine is paused.
    """

    connect_timeout_s: Positive = 5.0
    first_byte_timeout_s: Positive = 300.0
    idle_timeout_s: Positive = 120.0
    total_timeout_s: Positive = 1800.0
    max_idle_s: Positive = 4.0
    head_bytes: Count = 64 * KIB
    read_buffer_bytes: Count = 64 * KIB


class WatchConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How often engines are asked for their health and load.

    Attributes:
        interval_s: Between two looks at an engine, give or take `jitter`.
        jitter: Share of the interval by which looks are spread, 0 to 1.
        timeout_s: For one look.
        failures: Failed looks in a row after which a worker gets no work.
        successes: Good looks in a row after which it does again.
    """

    interval_s: Positive = 5.0
    jitter: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.2
    timeout_s: Positive = 3.0
    failures: Count = 3
    successes: Count = 2


class WorkerConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One engine behind a URL.

    Attributes:
        url: `http://host:port` with an optional path in front of `/v1`.
        id: Name of the worker; `host:port` if empty.
        engine: Name of a backend; None to find out.
        models: Names of the models it serves; empty to ask it.
        zone: Electricity zone where it draws its power.
        accelerator: cpu, gpu, tpu, npu or mixed.
        max_concurrency: Most requests that it is given at a time.
        micro_joules_per_token: Declared energy for each token read or written, µJ.
        g_co2e_per_kwh: Declared carbon intensity, gCO2e/kWh; None for its zone's.
        api_key_env: Environment variable with the bearer token that the engine wants.
        metrics_url: Where its metrics are, if not at `/metrics` of the URL.
        meter: Power meter of the device that the engine has to itself: `nvml:0`, `rapl`.
    """

    url: str
    id: str = ""
    engine: str | None = None
    models: tuple[str, ...] = ()
    zone: str | None = None
    accelerator: str = "gpu"
    max_concurrency: Count = 256
    micro_joules_per_token: Annotated[int, msgspec.Meta(ge=0)] | None = None
    g_co2e_per_kwh: NotNegative | None = None
    api_key_env: str | None = None
    metrics_url: str | None = None
    meter: str | None = None


class RouterConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How workers are chosen.

    Attributes:
        name: A registered router.
        ttft_objective_ms: Longest predicted time to first token, ms, for those that hold one.
    """

    name: str = "joule-weighted"
    ttft_objective_ms: Positive | None = None


class AdmissionConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens to requests while every worker of their model is full.

    Attributes:
        waiting: How many may wait in the gateway; 0 refuses at once.
        timeout_s: How long each may wait.
    """

    waiting: Annotated[int, msgspec.Meta(ge=0)] = 256
    timeout_s: Positive = 30.0


class DrainConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the gateway goes away.

    Attributes:
        notice_s: How long `/ready` says no while requests are still taken.
        timeout_s: How long running requests may take to end; then they are cut.
    """

    notice_s: NotNegative = 0.0
    timeout_s: NotNegative = 30.0


class GatewayConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything `eoc serve` can be told.

    Attributes:
        carbon_file: CSV file of hourly intensities (see `carbon.csv_file`); zones and hours
            that it does not have get their annual mean, where that is known.
    """

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8100
    workers: tuple[WorkerConfig, ...] = ()
    router: RouterConfig = RouterConfig()
    limits: Limits = Limits()
    upstream: UpstreamLimits = UpstreamLimits()
    watch: WatchConfig = WatchConfig()
    admission: AdmissionConfig = AdmissionConfig()
    drain: DrainConfig = DrainConfig()
    carbon_file: str | None = None


def parse_config(text: bytes, *, where: str) -> GatewayConfig:
    """Read a configuration from TOML.

    Args:
        text: The document.
        where: Name of the file, for errors.

    Raises:
        ConfigError: It is not TOML, or a key is unknown or has a wrong value; says which.
    """
    try:
        return msgspec.toml.decode(text, type=GatewayConfig)
    except msgspec.ValidationError as error:
        what, _, key = str(error).partition(" - at ")
        raise ConfigError(f"{where}: {key.strip('`').removeprefix('$.') or 'top'}", what) from error
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
        raise ConfigError(where, str(error)) from error
    except RecursionError as error:
        raise ConfigError(where, "nested too deep") from error


def load_config(path: Path) -> GatewayConfig:
    """Read a configuration file.

    Raises:
        ConfigError: It cannot be read, or is not as it should be.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(str(path), error.strerror or str(error)) from error
    return parse_config(text, where=str(path))
