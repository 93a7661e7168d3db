"""`openpay cert`: what a certificate says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from op_openbanking.eidas.certificate import Certificate
from op_openbanking.eidas.distinguished_name import STYLES
from op_openbanking.eidas.qc_statements import Role

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_STYLE = click.Choice(sorted(STYLES))


@click.group()
def group() -> None:
    """Show certificates: thumbprint, roles, organizationIdentifier."""


@group.command()
@click.argument("file", type=_FILE)
@click.option("--dn", "style", type=_STYLE, default="rfc4514", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def show(file: Path, style: str, *, as_json: bool) -> None:
    """Print what the certificate in FILE (PEM or DER) says."""
    facts = _facts(Certificate.read(file.read_bytes()), style)
    if as_json:
        click.echo(json.dumps(facts))
    else:
        _print_table(facts)


@group.command()
@click.argument("file", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def thumbprint(file: Path, *, as_json: bool) -> None:
    """Print x5t#S256 of the certificate in FILE (PEM or DER)."""
    value = Certificate.read(file.read_bytes()).x5t_s256
    click.echo(json.dumps({"x5t#S256": value}) if as_json else value)


def _facts(certificate: Certificate, style: str) -> dict[str, Any]:
    statements = certificate.statements
    organization = certificate.organization_identifier
    return {
        "subject": certificate.subject(style=STYLES[style]),
        "issuer": certificate.issuer(style=STYLES[style]),
        "serial": f"{certificate.serial:X}",
        "not_before": certificate.not_before.isoformat(),
        "not_after": certificate.not_after.isoformat(),
        "x5t#S256": certificate.x5t_s256,
        "organizationIdentifier": None if organization is None else str(organization),
        "qualified": statements.qualified,
        "types": [str(each) for each in statements.types],
        "roles": [str(each) for each in statements.roles],
        "authority": statements.authority_id,
        "authority_name": statements.authority_name,
    }


def _print_table(facts: dict[str, Any]) -> None:
    from rich.console import Console  # noqa: PLC0415 (slow to import)
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, Text(_shown(name, value)))
    Console(soft_wrap=False).print(table)


def _shown(name: str, value: object) -> str:
    if name == "roles" and isinstance(value, list):
        return ", ".join(f"{role} ({Role(role).meaning})" for role in value) or "none stated"
    if isinstance(value, list):
        return ", ".join(value) or "none stated"
    if isinstance(value, bool):
        return "yes" if value else "not stated"
    return "none" if value in (None, "") else str(value)
