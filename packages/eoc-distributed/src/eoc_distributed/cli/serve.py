"""`eoc serve`: the gateway as a process."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import click
import msgspec

from eoc_distributed.config import GatewayConfig, WorkerConfig, load_config
from eoc_distributed.errors import ConfigError, EOCError
from eoc_distributed.routing import REGISTRY

from .worker_option import parse_worker


@click.command()
@click.option(
    "--worker",
    "workers",
    multiple=True,
    metavar="URL[,KEY=VALUE…]",
    help="An engine: zone=FR, model=NAME (repeatable), uj_per_token=, g_per_kwh=, "
    "max_concurrency=, accelerator=, engine=, id=, api_key_env=, metrics_url=, "
    "meter=nvml:0 or rapl. Repeatable.",
)
@click.option(
    "--config", "file", type=click.Path(path_type=Path), help="A TOML file; options win over it."
)
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="0 for any free one. [default: 8100]")
@click.option("--router", type=click.Choice(sorted(REGISTRY)), help="How workers are chosen.")
@click.option("--ttft-objective-ms", type=float, help="Longest predicted time to first token, ms.")
@click.option("--carbon", "carbon_file", help="CSV file of hourly intensities by zone.")
@click.option("--drain-timeout-s", type=float, help="How long running answers may take at the end.")
@click.option("--body-limit", type=int, help="Largest body of a request, bytes.")
@click.option(
    "--loop",
    type=click.Choice(("auto", "asyncio", "uvloop")),
    default="auto",
    show_default=True,
    help="Event loop; auto takes uvloop if it is installed.",
)
@click.option("--quiet", is_flag=True, help="Print no line for each request.")
def command(
    workers: tuple[str, ...],
    file: Path | None,
    loop: str,
    quiet: bool,
    **options: Any,  # noqa: ANN401
) -> None:
    """Serve the OpenAI API in front of workers, choosing by energy.

    Without --worker and --config, engines are looked for on the usual local ports.
    """
    try:
        from .gateway_process import loop_factory, serve  # noqa: PLC0415 - slow to import

        config = _configuration(file, tuple(parse_worker(text) for text in workers), options)
        with asyncio.Runner(loop_factory=loop_factory(loop)) as runner:
            runner.run(
                serve(
                    config,
                    say=lambda line: click.echo(line, err=False),
                    show_requests=not quiet and sys.stderr.isatty(),
                )
            )
    except EOCError as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        sys.exit(130)


def _configuration(
    file: Path | None, workers: tuple[WorkerConfig, ...], options: dict[str, Any]
) -> GatewayConfig:
    """Return the file's configuration with the options laid over it."""
    config = load_config(file) if file is not None else GatewayConfig()
    given = {name: value for name, value in options.items() if value is not None}
    changes: dict[str, Any] = {
        name: given[name] for name in ("host", "port", "carbon_file") if name in given
    }
    if workers:
        changes["workers"] = (*config.workers, *workers)
    tree = {
        "router": {"name": "router", "ttft_objective_ms": "ttft_objective_ms"},
        "drain": {"timeout_s": "drain_timeout_s"},
        "limits": {"body_bytes": "body_limit"},
    }
    for branch, keys in tree.items():
        found = {key: given[option] for key, option in keys.items() if option in given}
        if found:
            changes[branch] = msgspec.structs.replace(getattr(config, branch), **found)
    config = msgspec.structs.replace(config, **changes)
    try:
        return msgspec.convert(msgspec.to_builtins(config), GatewayConfig)
    except msgspec.ValidationError as error:
        raise ConfigError("options", str(error)) from error
