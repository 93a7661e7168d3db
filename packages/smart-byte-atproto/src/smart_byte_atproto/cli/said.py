"""`smart-byte said`: digests that stand inside what they are of."""

from __future__ import annotations

import json
from typing import BinaryIO, cast

import click

from smart_byte_atproto.bridge.cesr import BLAKE3_256, DIGEST_CODES
from smart_byte_atproto.bridge.said import (
    LABEL,
    Serialization,
    compute_said,
    load_fields,
    serialize,
    verify_said,
    with_said,
)
from smart_byte_atproto.data import json as data_json
from smart_byte_atproto.data.model import Value

MAX_BYTES = 4 * 1024 * 1024
_label = click.option("--label", default=LABEL, show_default=True, help="Field of the SAID.")
_kind = click.option(
    "--serialization",
    "kind",
    type=click.Choice([str(one) for one in Serialization]),
    default=str(Serialization.JSON),
    show_default=True,
    help="What is hashed: JSON in the order of the file, or canonical DAG-CBOR.",
)


@click.group("said")
def command() -> None:
    """Compute and verify SAIDs: digests that stand inside what they are of."""


@command.command()
@click.argument("source", metavar="FILE", type=click.File("rb"), default="-")
@_label
@_kind
@click.option(
    "--code",
    type=click.Choice(DIGEST_CODES),
    default=BLAKE3_256,
    show_default=True,
    help="CESR code of the digest.",
)
@click.option("--embed", is_flag=True, help="Print the map with its SAID in place.")
def compute(source: BinaryIO, label: str, kind: str, code: str, *, embed: bool) -> None:
    """Print the SAID of the JSON map in FILE (- for standard input).

    What stands in the label does not count; where there is no such field, it comes first.
    """
    how = Serialization(kind)
    fields = _read(source, how)
    if label not in fields:
        fields = {label: "", **fields}
    if not embed:
        click.echo(compute_said(fields, label=label, code=code, serialization=how))
        return
    whole = with_said(fields, label=label, code=code, serialization=how)
    if how is Serialization.JSON:
        click.echo(serialize(whole, how))
    else:
        click.echo(data_json.dumps(cast("dict[str, Value]", whole)))


@command.command()
@click.argument("source", metavar="FILE", type=click.File("rb"), default="-")
@_label
@_kind
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(source: BinaryIO, label: str, kind: str, *, as_json: bool) -> None:
    """Check the SAID in the JSON map in FILE (- for standard input)."""
    how = Serialization(kind)
    said = verify_said(_read(source, how), label=label, serialization=how)
    click.echo(json.dumps({"valid": True, "said": said}) if as_json else f"valid  {said}")


def _read(source: BinaryIO, how: Serialization) -> dict[str, object]:
    """Read the map that is hashed."""
    data = source.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise click.ClickException(f"longer than {MAX_BYTES} bytes")
    if how is Serialization.JSON:
        return load_fields(data)
    value = data_json.loads(data, max_bytes=MAX_BYTES)
    if not isinstance(value, dict):
        raise click.ClickException("not a map")
    return dict(value)
