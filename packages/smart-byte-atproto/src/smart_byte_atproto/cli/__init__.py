"""Command line `smart-byte`: one file for each family of commands.

A family is loaded when it is called, so `--help` and `--version` stay fast. To add one: write its
file here and its line in `FAMILIES`.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import NamedTuple

import click

from smart_byte_atproto import __version__
from smart_byte_atproto.errors import ATProtoError


class Family(NamedTuple):
    """Where a command lives and what `--help` says of it."""

    module: str
    summary: str


FAMILIES = {
    "aid": Family("aid", "Make identifiers that certify themselves, rotate, verify."),
    "blob": Family("blob", "Upload files that records refer to."),
    "bridge": Family("bridge", "Bind an AT URI and an AID to each other."),
    "car": Family("car", "List and verify CAR files."),
    "cbor": Family("cbor", "Decode and encode DAG-CBOR."),
    "cid": Family("cid", "Print the CID of a file."),
    "firehose": Family("firehose", "Follow the event stream, and verify recorded frames."),
    "key": Family("key", "Make keys, look at them, sign and verify."),
    "lexicon": Family("lexicon", "Check schemas and records, and make typed Python."),
    "login": Family("login", "Begin a session with an app password."),
    "mst": Family("mst", "Roots and validation of Merkle Search Trees."),
    "plc": Family("plc", "Get, audit and derive from operation logs of did:plc."),
    "record": Family("record", "Read records with a proof, write and delete them."),
    "repo": Family("repo", "Make, read and verify repositories."),
    "resolve": Family("resolve", "Resolve a handle or DID to an identity."),
    "said": Family("said", "Compute and verify digests that stand in what they are of."),
    "syntax": Family("syntax", "Check identifiers, one a line."),
}
"""Command name to the module of this package whose `command` it is."""


class _Families(click.Group):
    """A group that knows its commands by name and loads them on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(FAMILIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        family = FAMILIES.get(cmd_name)
        if family is None:
            return None
        command: click.Command = import_module(f"{__name__}.{family.module}").command
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Turn our errors into exit status 1 and one line on standard error."""
        if sys.stdin is None:  # it was closed: then nothing comes from it
            sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # whoever read our output has seen enough; click ends quietly
        except (ATProtoError, OSError) as bad:
            raise click.ClickException(str(bad)) from bad

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, FAMILIES[name].summary) for name in self.list_commands(ctx)])


@click.group(cls=_Families)
@click.version_option(__version__, prog_name="smart-byte")
def main() -> None:
    """AT Protocol identity, repositories and firehose, strict and fast.

    Exit status: 0 good, 1 bad input or verdict, 2 wrong usage.
    """
