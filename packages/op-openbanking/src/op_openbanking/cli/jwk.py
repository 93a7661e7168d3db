"""`openpay jwk`: JSON Web Keys from PEM, thumbprints, key sets."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import click

from op_openbanking.jose.jwk import JWKSet

from .key_files import read_public

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_USE = click.Choice(["sig", "enc"])


@click.group()
def group() -> None:
    """Make JSON Web Keys from PEM, and thumbprints."""


@group.command("from-pem")
@click.argument("file", type=_FILE)
@click.option("--kid", help="Default: the RFC 7638 thumbprint.")
@click.option("--use", type=_USE, default="sig", show_default=True)
@click.option("--alg", help="Bind the key to one algorithm, for example PS256.")
@click.option("--json", "as_json", is_flag=True, help="On one line, for programs.")
def from_pem(file: Path, kid: str | None, use: str, alg: str | None, *, as_json: bool) -> None:
    """Print the public JWK of FILE: a PEM key, private or public, or a certificate."""
    jwk = replace(read_public(file, kid=kid), use=use, alg=alg)
    click.echo(json.dumps(jwk.to_members(), indent=None if as_json else 2))


@group.command()
@click.argument("file", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def thumbprint(file: Path, *, as_json: bool) -> None:
    """Print the RFC 7638 thumbprint of the key in FILE: PEM or JWK."""
    value = read_public(file).thumbprint()
    click.echo(json.dumps({"thumbprint": value}) if as_json else value)


@group.command()
@click.argument("files", type=_FILE, nargs=-1, required=True)
@click.option("--use", type=_USE, default="sig", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="On one line, for programs.")
def jwks(files: tuple[Path, ...], use: str, *, as_json: bool) -> None:
    """Print the JWKS to publish, with the public keys of all FILES."""
    keys = JWKSet.of(replace(read_public(file), use=use) for file in files)
    click.echo(json.dumps(keys.to_members(), indent=None if as_json else 2))
