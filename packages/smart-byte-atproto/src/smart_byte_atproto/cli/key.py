"""`smart-byte key`: make keys, look at them, sign and verify."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import BinaryIO

import click

from smart_byte_atproto.crypto import KeyType, PrivateKey, PublicKey
from smart_byte_atproto.errors import InvalidKey

_TYPES = [str(kind) for kind in KeyType]


@click.group("key")
def command() -> None:
    """Make keys, look at them, sign and verify.

    A key file holds one line: the secret as a multikey (z...), which `key generate` writes.
    """


@command.command("generate")
@click.option("--type", "kind", type=click.Choice(_TYPES), default="K-256", show_default=True)
@click.option(
    "--output", type=click.Path(path_type=Path), help="Key file to create, readable by you only."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def generate(kind: str, output: Path | None, as_json: bool) -> None:
    """Make a key. Prints the secret unless --output is given. Existing files stay as they are."""
    key = PrivateKey.generate(KeyType(kind))
    facts = _facts(key.public_key)
    if output is None:
        facts |= {"secret_multikey": key.export_multikey(), "secret_hex": key.export_hex()}
    else:
        try:
            file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise click.ClickException(f"cannot create {output}: {error.strerror}") from error
        with os.fdopen(file, "w", encoding="ascii") as stream:
            stream.write(key.export_multikey() + "\n")
    _show(facts, as_json=as_json)


@command.command("inspect")
@click.argument("text")
@click.option("--type", "suite", default="Multikey", help="Type of the verificationMethod.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def inspect(text: str, suite: str, as_json: bool) -> None:
    """Tell what a public key is: did:key, multikey, or publicKeyMultibase of a legacy --type."""
    if text.startswith("did:key:"):
        key = PublicKey.from_did_key(text)
    else:
        key = PublicKey.from_verification_method(suite, text)
    _show(_facts(key), as_json=as_json)


@command.command("sign")
@click.option(
    "--key", "key_file", required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.argument("message", type=click.File("rb"), default="-")
def sign(key_file: Path, message: BinaryIO) -> None:
    """Sign the bytes of MESSAGE (- for standard input); print 64 bytes as hex.

    K-256 and P-256 sign the SHA-256 of the bytes, Ed25519 the bytes themselves.
    """
    click.echo(read_key(key_file).sign(message.read()).hex())


@command.command("verify")
@click.option("--key", "text", required=True, help="Public key as did:key or multikey.")
@click.option("--signature", required=True, help="64 bytes as hex.")
@click.argument("message", type=click.File("rb"), default="-")
def verify(text: str, signature: str, message: BinaryIO) -> None:
    """Check a signature over the bytes of MESSAGE (- for standard input)."""
    try:
        raw = bytes.fromhex(signature)
    except ValueError as error:
        raise click.BadParameter("not hexadecimal", param_hint="--signature") from error
    parse_public(text).verify(message.read(), raw)
    click.echo("valid")


def parse_public(text: str) -> PublicKey:
    """Read a public key as did:key or multikey. Raises InvalidKey."""
    parse = PublicKey.from_did_key if text.startswith("did:") else PublicKey.from_multikey
    return parse(text)


def read_key(file: Path) -> PrivateKey:
    """Read a key file.

    Raises:
        InvalidKey: It holds no secret multikey.
    """
    try:
        text = file.read_text("ascii").strip()
    except UnicodeDecodeError as error:
        raise InvalidKey("the key file is not text") from error
    return PrivateKey.from_multikey(text)


def _facts(key: PublicKey) -> dict[str, object]:
    return {
        "type": str(key.key_type),
        "did_key": key.did_key,
        "multikey": key.multikey,
        "public_hex": key.public.hex(),
        "network_valid": key.is_network_valid,
    }


def _show(facts: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        text = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        click.echo(f"{name.replace('_', ' '):16}{text}")
