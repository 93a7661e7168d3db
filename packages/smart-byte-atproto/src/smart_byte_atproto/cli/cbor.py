"""`smart-byte cbor`: between DAG-CBOR and the JSON form of the data model."""

from __future__ import annotations

import sys
from typing import BinaryIO

import click

from smart_byte_atproto.data import dag_cbor, json
from smart_byte_atproto.errors import InvalidData

_HEX = frozenset(b"0123456789abcdefABCDEF \t\r\n")


@click.group("cbor")
def command() -> None:
    """Decode and encode DAG-CBOR."""


@command.command()
@click.option("--lenient", is_flag=True, help="Take any CIDv1 as a link, and 64-bit floats.")
@click.argument("source", metavar="FILE", type=click.File("rb"), default="-")
def decode(source: BinaryIO, *, lenient: bool) -> None:
    """Print the JSON of one DAG-CBOR item from FILE (- for standard input).

    The input is hex, or the bytes themselves. Input of nothing but hex digits and blanks is hex.
    """
    data = source.read(2 * dag_cbor.MAX_BYTES + 2)
    if data and _HEX.issuperset(data):
        try:
            data = bytes.fromhex(data.decode("ascii"))
        except ValueError as bad:
            raise InvalidData(f"not hex: {bad}") from bad
    click.echo(json.dumps(dag_cbor.decode_lenient(data) if lenient else dag_cbor.decode(data)))


@command.command()
@click.option("--raw", is_flag=True, help="Write the bytes themselves.")
@click.argument("source", metavar="FILE", type=click.File("rb"), default="-")
def encode(source: BinaryIO, *, raw: bool) -> None:
    """Print the DAG-CBOR of one JSON value from FILE (- for standard input) as hex."""
    data = dag_cbor.encode(json.loads(source.read(json.MAX_BYTES + 1)))
    if raw:
        sys.stdout.buffer.write(data)
    else:
        click.echo(data.hex())
