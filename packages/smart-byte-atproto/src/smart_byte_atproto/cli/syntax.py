"""`smart-byte syntax`: one verdict a line."""

from __future__ import annotations

from typing import BinaryIO

import click

from smart_byte_atproto.errors import InvalidSyntax
from smart_byte_atproto.syntax import FORMATS


@click.command("syntax")
@click.argument("kind", metavar="TYPE", type=click.Choice(sorted(FORMATS)))
@click.argument("lines", metavar="FILE", type=click.File("rb"), default="-")
def command(kind: str, lines: BinaryIO) -> None:
    """Read one value a line from FILE (- for standard input) and judge each.

    Prints `valid`, or `invalid` and a reason after a tab. Only the newline is cut off: spaces
    count. Exit status 1 if any value is invalid. TYPE is a string format of Lexicon: at-identifier,
    at-uri, cid, datetime, did, handle, language, nsid, record-key, tid or uri.
    """
    check = FORMATS[kind]
    bad = False
    for line in lines:
        try:
            check(line.removesuffix(b"\n").decode())
        except InvalidSyntax as invalid:
            click.echo(f"invalid\t{invalid.reason}")
            bad = True
        except UnicodeDecodeError:
            click.echo("invalid\tnot UTF-8")
            bad = True
        else:
            click.echo("valid")
    if bad:
        raise click.exceptions.Exit(1)
