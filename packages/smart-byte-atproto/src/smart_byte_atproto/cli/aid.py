"""`smart-byte aid`: identifiers that certify themselves, and the logs of their keys."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from smart_byte_atproto.bridge.aid import (
    MAX_EVENT_BYTES,
    MAX_EVENTS,
    KeyState,
    SignedEvent,
    dump_log,
    incept,
    interact,
    load_log,
    replay,
    rotate,
)
from smart_byte_atproto.errors import InvalidEvent

from .key import read_key

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_keys = click.option(
    "--key", "key_files", required=True, multiple=True, type=_FILE, help="Key file that signs."
)
_next_keys = click.option(
    "--next",
    "next_files",
    multiple=True,
    type=_FILE,
    help="Key file committed to for the next rotation; none for no rotation ever.",
)
_threshold = click.option("--threshold", type=int, help="How many keys must sign; all by default.")
_next_threshold = click.option("--next-threshold", type=int, help="The same of the next keys.")
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


@click.group("aid")
def command() -> None:
    """Make identifiers that certify themselves, rotate their keys, verify their logs.

    A log is a file of JSON lines, one signed event each. --key and --next may be given more than
    once; key files are those of `key generate`.
    """


@command.command("incept")
@click.argument("log", type=click.Path(dir_okay=False, path_type=Path))
@_keys
@_next_keys
@_threshold
@_next_threshold
@click.option("--basic", is_flag=True, help="The key itself is the AID, not the event's digest.")
@_json
def incept_command(
    log: Path,
    key_files: tuple[Path, ...],
    next_files: tuple[Path, ...],
    threshold: int | None,
    next_threshold: int | None,
    *,
    basic: bool,
    as_json: bool,
) -> None:
    """Make an AID: write its inception to the new file LOG, and print the AID."""
    event = incept(
        [read_key(file) for file in key_files],
        next_keys=[read_key(file).public_key for file in next_files],
        threshold=threshold,
        next_threshold=next_threshold,
        basic=basic,
    )
    state = replay([event])
    _write(log, [event], new=True)
    _show(state, as_json=as_json)


@command.command("rotate")
@click.argument("log", type=_FILE)
@_keys
@_next_keys
@_threshold
@_next_threshold
@_json
def rotate_command(
    log: Path,
    key_files: tuple[Path, ...],
    next_files: tuple[Path, ...],
    threshold: int | None,
    next_threshold: int | None,
    *,
    as_json: bool,
) -> None:
    """Rotate to the keys that LOG has committed to (--key), and append the event to it."""
    events = read_log(log)
    event = rotate(
        replay(events),
        [read_key(file) for file in key_files],
        next_keys=[read_key(file).public_key for file in next_files],
        threshold=threshold,
        next_threshold=next_threshold,
    )
    state = replay([*events, event])
    _write(log, [event])
    _show(state, as_json=as_json)


@command.command()
@click.argument("log", type=_FILE)
@click.argument("saids", metavar="SAID...", nargs=-1, required=True)
@_keys
@_json
def anchor(
    log: Path, saids: tuple[str, ...], key_files: tuple[Path, ...], *, as_json: bool
) -> None:
    """Anchor SAIDs, such as that of a binding, and append the event to LOG.

    What is anchored holds also after the keys have been rotated.
    """
    events = read_log(log)
    event = interact(replay(events), [read_key(file) for file in key_files], anchors=saids)
    state = replay([*events, event])
    _write(log, [event])
    _show(state, as_json=as_json)


@command.command()
@click.argument("log", type=_FILE)
@_json
def verify(log: Path, *, as_json: bool) -> None:
    """Check every event of LOG and print the state of the keys."""
    _show(replay(read_log(log)), as_json=as_json)


def read_log(file: Path) -> list[SignedEvent]:
    """Read a log; nothing is verified yet.

    Raises:
        InvalidEvent: It is none.
    """
    with file.open("rb") as source:
        data = source.read(MAX_EVENTS * MAX_EVENT_BYTES + 1)
    try:
        return load_log(data.decode())
    except UnicodeDecodeError as bad:
        raise InvalidEvent("form", "not UTF-8") from bad


def _write(log: Path, events: list[SignedEvent], *, new: bool = False) -> None:
    """Append events to a log in one write; the file is closed on disk."""
    flags = os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_EXCL if new else 0)
    with os.fdopen(os.open(log, flags, 0o644), "w", encoding="utf-8") as sink:
        sink.write(dump_log(events))
        sink.flush()
        os.fsync(sink.fileno())


def _show(state: KeyState, *, as_json: bool) -> None:
    facts: dict[str, object] = {
        "aid": state.aid,
        "sequence": state.sequence,
        "said": state.said,
        "keys": list(state.keys),
        "threshold": state.threshold,
        "next_digests": list(state.next_digests),
        "next_threshold": state.next_threshold,
        "anchors": list(state.anchors),
    }
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        for text in value if isinstance(value, list) else [value]:
            click.echo(f"{name.replace('_', ' '):16}{text}")
