"""The session that `smart-byte login` leaves for the commands after it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from smart_byte_atproto.errors import ATProtoError
from smart_byte_atproto.xrpc.client import Client
from smart_byte_atproto.xrpc.session import Tokens

_MAX_BYTES = 1 << 20


def default_file() -> Path:
    """Return where a session is kept: `smart-byte/session.json` among the user's settings."""
    return Path(click.get_app_dir("smart-byte")) / "session.json"


def load(file: Path) -> Tokens:
    """Read a session.

    Raises:
        ClickException: There is none, or it is malformed.
    """
    try:
        with file.open("rb") as source:
            fields = json.loads(source.read(_MAX_BYTES))
        return Tokens.from_fields(fields if isinstance(fields, dict) else {})
    except FileNotFoundError as error:
        raise click.ClickException("not logged in; see: smart-byte login --help") from error
    except (OSError, ValueError, ATProtoError) as error:
        raise click.ClickException(f"{file}: no session: {error}") from error


def save(file: Path, tokens: Tokens | None) -> None:
    """Write a session so that only the user reads it, at once and whole; None deletes it."""
    if tokens is None:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as target:
        json.dump(tokens.to_fields(), target)
    beside.replace(file)


def client(file: Path, *, local: bool) -> Client:
    """Return a client that goes on with a session and keeps its new tokens."""
    tokens = load(file)
    return Client(tokens.service, tokens=tokens, save=lambda new: save(file, new), local=local)
