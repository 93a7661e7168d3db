"""Command line `eoc`."""

from __future__ import annotations

import click

from . import __version__


@click.group()
@click.version_option(__version__, prog_name="eoc")
def main() -> None:
    """Energy- and carbon-aware scheduling of LLM inference behind an OpenAI-compatible gateway."""
