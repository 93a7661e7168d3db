"""Command line `eoc`.

Each command is a file beside this one and is imported when it is called, so that `eoc
--version` does not wait for what a gateway needs. To add a command: write its file with a
click command named `command`, and give it a line in `COMMANDS`.
"""

from __future__ import annotations

import importlib
from types import MappingProxyType

import click

from eoc_distributed import __version__

COMMANDS = MappingProxyType(
    {
        "demo": ("demo", "Replay a trace through simulated workers and print what it cost."),
        "serve": ("serve", "Serve the OpenAI API in front of workers, choosing by energy."),
        "simulate": ("simulate", "Compare routing policies on a trace in simulated time."),
    }
)
"""Module and one sentence for each command."""


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        found = COMMANDS.get(cmd_name)
        if found is None:
            return None
        command: click.Command = importlib.import_module(f".{found[0]}", __name__).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])


@click.group(cls=LazyGroup)
@click.version_option(__version__, prog_name="eoc")
def main() -> None:
    """Energy- and carbon-aware scheduling of LLM inference behind an OpenAI-compatible gateway."""
