"""`openpay jwk`."""

from __future__ import annotations

import click


@click.group()
def group() -> None:
    """Make JSON Web Keys from PEM, and thumbprints."""
