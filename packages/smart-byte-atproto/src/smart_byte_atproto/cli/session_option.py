"""The option of commands that act as an account."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

from .session_file import default_file

F = TypeVar("F", bound=Callable[..., object])


def session_option(command: F) -> F:
    """Add `--session` to a command."""
    return click.option(
        "--session",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        default=default_file,
        help="Where the session is kept.  [default: in your settings]",
    )(command)
