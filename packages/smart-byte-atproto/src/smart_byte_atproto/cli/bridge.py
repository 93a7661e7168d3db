"""`smart-byte bridge`: an AT URI and an AID that vouch for each other."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import click

from smart_byte_atproto.bridge.aid import replay
from smart_byte_atproto.bridge.binding import (
    COLLECTION,
    Bound,
    bind,
    naming_record,
    read_naming,
    verify_binding,
)
from smart_byte_atproto.bridge.repository import verify_in_repository
from smart_byte_atproto.car import CAR
from smart_byte_atproto.data import json as data_json
from smart_byte_atproto.errors import BindingRefused

from .aid import read_log
from .car_file import load_car
from .key import parse_public, read_key

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_MAX_BYTES = 1024 * 1024


@click.group("bridge")
def command() -> None:
    """Bind an AT URI and an AID to each other, and verify such a binding."""


@command.command("bind")
@click.argument("at_uri")
@click.option("--aid", required=True, help="The AID that vouches for the record.")
@click.option("--log", required=True, type=_FILE, help="Log of the AID, of `aid incept`.")
@click.option(
    "--key", "key_files", required=True, multiple=True, type=_FILE, help="Its current key file."
)
@click.option("--cid", help="Bind one version of the record only: the one with this CID.")
@click.option("--date", help="When it is made, UTC with milliseconds; now by default.")
def bind_command(
    at_uri: str, aid: str, log: Path, key_files: tuple[Path, ...], cid: str | None, date: str | None
) -> None:
    """Print the record that names the binding of AT_URI, to be written to the account.

    Write it with `smart-byte record put at://DID/org.smartbyte.binding/SAID FILE`: the key of the
    record is the SAID, which is printed on standard error. Then either side vouches for the other.
    """
    events = read_log(log)
    state = replay(events)
    if state.aid != aid:
        raise BindingRefused("aid", f"the log is that of {state.aid}")
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    binding = bind(at_uri, state, [read_key(file) for file in key_files], date=date or now, cid=cid)
    bound = verify_binding(binding, events)
    click.echo(data_json.dumps(naming_record(binding, events), indent=2))
    click.echo(f"at://{bound.uri.authority}/{COLLECTION}/{bound.said}", err=True)


@command.command()
@click.argument("source", metavar="FILE", type=click.File("rb"), default="-")
@click.option("--repo", type=_FILE, help="Export of the account's repository (CAR).")
@click.option("--key", "text", help="Signing key of the account, as did:key or multikey.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify(source: BinaryIO, repo: Path | None, text: str | None, *, as_json: bool) -> None:
    """Check the binding in FILE (- for standard input), a record as `bridge bind` prints it.

    By itself it shows that the AID vouches for the AT URI. With --repo and --key it shows also that
    the account vouches for the AID, and that the record stands there; nothing is fetched.
    """
    if (repo is None) != (text is None):
        raise click.UsageError("--repo and --key go together")
    naming = data_json.loads_record(source.read(_MAX_BYTES + 1), max_bytes=_MAX_BYTES)
    bound = verify_binding(*read_naming(naming))
    if repo is not None and text is not None:
        root, blocks = load_car(repo)
        bound = verify_in_repository(
            CAR((root,), list(blocks.items())),
            key=parse_public(text),
            did=bound.uri.authority,
            said=bound.said,
        )
    _show(bound, both=repo is not None, as_json=as_json)


def _show(bound: Bound, *, both: bool, as_json: bool) -> None:
    facts = {
        "valid": True,
        "uri": str(bound.uri),
        "cid": bound.cid,
        "aid": bound.aid,
        "said": bound.said,
        "date": str(bound.date),
        "anchored": bound.anchored,
        "account_vouches": both,
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    back = ", and the account for the AID" if both else ""
    click.echo(f"valid: the AID vouches for the record{back}")
    if not both:
        click.echo("not checked: whether the account vouches for the AID (--repo and --key)")
    for name in ("uri", "cid", "aid", "said", "date"):
        if facts[name] is not None:
            click.echo(f"{name:6}{facts[name]}")
