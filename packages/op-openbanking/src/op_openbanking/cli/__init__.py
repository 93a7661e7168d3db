"""Command line `openpay`.

Each group lives in a file of its own and is imported when it is called. To add one: write
`cli/NAME.py` with a click command or group called `group`, and add its line to `_COMMANDS`.
Exit status: 0 good, 1 bad input or a bad verdict, 2 wrong usage.
"""

from __future__ import annotations

import importlib
import json

import click

from op_openbanking import __version__
from op_openbanking.errors import OpenBankingError

_COMMANDS = {
    "fapi": "Discover a server, register a client, authorize, and get tokens.",
    "cert": "Show certificates: thumbprint, roles, organizationIdentifier.",
    "jwk": "Make JSON Web Keys from PEM, and thumbprints.",
    "jws": "Sign and verify JSON Web Signatures, compact and detached.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called.

    An `OpenBankingError` from below is printed in one line and ends with status 1; under `--json`
    it is a JSON object on the standard output.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"op_openbanking.cli.{cmd_name}")
        command: click.Command = module.group
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        as_json = "--json" in ctx.args  # invoking empties them
        try:
            return super().invoke(ctx)
        except OpenBankingError as error:
            if not as_json:
                raise click.ClickException(str(error)) from error
            click.echo(json.dumps(_facts(error)))
            raise SystemExit(1) from error


def _facts(error: OpenBankingError) -> dict[str, object]:
    return {
        "error": str(error),
        "type": type(error).__name__,
        "check": getattr(error, "check", None),
        "section": getattr(error, "section", None) or None,
        "retryable": error.retryable,
    }


@click.group(cls=LazyGroup)
@click.version_option(__version__, prog_name="openpay")
def main() -> None:
    """Open-banking client over six standards, with FAPI security."""
