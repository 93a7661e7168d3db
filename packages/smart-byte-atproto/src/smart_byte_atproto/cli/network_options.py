"""Options of every command that asks the network."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

F = TypeVar("F", bound=Callable[..., object])
_DIRECTORY = "https://plc.directory"


def network_options(command: F) -> F:
    """Add `--plc` and `--local` to a command."""
    command = click.option(
        "--local",
        is_flag=True,
        help="Let services on this machine be asked, also without TLS: for development.",
    )(command)
    return click.option(
        "--plc",
        metavar="URL",
        default=_DIRECTORY,
        show_default=True,
        help="Directory of did:plc.",
    )(command)
