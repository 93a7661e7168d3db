"""`openpay jws`."""

from __future__ import annotations

import click


@click.group()
def group() -> None:
    """Sign and verify JSON Web Signatures, compact and detached."""
