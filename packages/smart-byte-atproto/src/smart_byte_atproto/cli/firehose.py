"""`smart-byte firehose`: recorded frames verified, and live ones followed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import click

from smart_byte_atproto.crypto import PublicKey
from smart_byte_atproto.errors import ATProtoError, InvalidDocument
from smart_byte_atproto.firehose.recording import read_frames
from smart_byte_atproto.firehose.verdict import StreamVerifier, Verdict
from smart_byte_atproto.identity.signing_key import signing_key

from .clock import latest_rev
from .firehose_tail import tail
from .progress import progress

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("firehose")
def command() -> None:
    """The event stream of repositories."""


command.add_command(tail)


@command.command("verify")
@click.argument("file", type=_FILE)
@click.option("--did-docs", required=True, type=_FILE, help="JSON object: DID to DID document.")
@click.option("--lenient", is_flag=True, help="Accept commits of old producers, not undone.")
@click.option("--quiet", is_flag=True, help="Print the bad frames and the summary only.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a frame.")
def verify(file: Path, did_docs: Path, lenient: bool, quiet: bool, as_json: bool) -> None:
    """Verify the frames recorded in FILE: hashes, signatures, operations undone to prevData.

    FILE holds for each frame its length (4 bytes, little-endian) and the frame, plain or zstd.
    One line for each frame; exit status 1 if any is bad.
    """
    stream = StreamVerifier(
        _keys(did_docs),
        lenient=lenient,
        latest_rev=latest_rev(),
    )
    good = bad = 0
    failure: ATProtoError | None = None
    with file.open("rb") as recording, progress("Verifying") as advance:
        try:
            for frame in read_frames(recording):
                verdict = stream.verify(frame)
                advance(1)
                good += verdict.good
                bad += not verdict.good
                if not (quiet and verdict.good):
                    _show(verdict, good + bad, as_json=as_json)
        except ATProtoError as error:
            failure = error
    if not as_json:
        click.echo(f"{good} good, {bad} bad")
    if failure is not None:
        raise failure
    if bad:
        raise click.exceptions.Exit(1)


def _show(verdict: Verdict, number: int, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"frame": number, **dataclasses.asdict(verdict)}))
        return
    fields = [str(number), "good" if verdict.good else f"BAD {verdict.code}", verdict.type or "?"]
    fields += [str(field) for field in (verdict.seq, verdict.account, verdict.rev) if field]
    if verdict.desynchronized:
        fields.append("desynchronized")
    if verdict.reason:
        fields.append(verdict.reason)
    click.echo("\t".join(fields))


def _keys(file: Path) -> Callable[[str], PublicKey | None]:
    """Return a look-up of signing keys that parses each document once."""
    try:
        documents = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InvalidDocument("form", f"{file} is not JSON: {error}") from error
    if not isinstance(documents, dict):
        raise InvalidDocument("form", f"{file} is not an object of DID documents")
    parsed: dict[str, PublicKey] = {}

    def key(did: str) -> PublicKey | None:
        if did not in parsed:
            document = documents.get(did)
            if document is None:
                return None
            if not isinstance(document, dict):
                raise InvalidDocument("form", "DID document is not an object")
            parsed[did] = signing_key(document, did=did)
        return parsed[did]

    return key
