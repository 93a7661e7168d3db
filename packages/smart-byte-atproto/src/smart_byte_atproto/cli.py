"""Command line `smart-byte`."""

from __future__ import annotations

import click

from . import __version__


@click.group()
@click.version_option(__version__, prog_name="smart-byte")
def main() -> None:
    """AT Protocol identity, repositories and firehose, strict and fast."""
