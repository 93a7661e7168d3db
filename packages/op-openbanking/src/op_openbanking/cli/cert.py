"""`openpay cert`."""

from __future__ import annotations

import click


@click.group()
def group() -> None:
    """Show certificates: thumbprint, roles, organizationIdentifier."""
