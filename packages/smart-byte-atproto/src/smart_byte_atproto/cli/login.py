"""`smart-byte login`: begin a session with an app password."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from smart_byte_atproto.identity.resolver import Resolver
from smart_byte_atproto.xrpc.client import Client

from . import session_file
from .network_options import network_options
from .session_option import session_option


@click.command("login")
@click.argument("identifier", metavar="HANDLE_OR_DID")
@click.option("--service", metavar="URL", help="Server.  [default: what the identity names]")
@session_option
@network_options
def command(identifier: str, *, service: str | None, session: Path, plc: str, local: bool) -> None:
    """Begin a session as HANDLE_OR_DID with an app password.

    The password is asked for, or read as one line of standard input where that is no terminal.
    The tokens are kept in a file that only you can read.
    """
    if service is None:
        service = Resolver(directory=plc, local=local).identity(identifier).pds
    if sys.stdin.isatty():
        password = click.prompt("App password", hide_input=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    with Client(service, local=local, save=lambda new: session_file.save(session, new)) as client:
        tokens = client.login(identifier, password)
    click.echo(f"logged in as {tokens.handle} ({tokens.did}) at {tokens.service}")
