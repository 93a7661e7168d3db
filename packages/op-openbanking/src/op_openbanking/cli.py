"""Command line `openpay`."""

from __future__ import annotations

import click

from . import __version__


@click.group()
@click.version_option(__version__, prog_name="openpay")
def main() -> None:
    """Open-banking client over six standards, with FAPI security."""
