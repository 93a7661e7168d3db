"""`openpay jws`: sign and verify, compact and detached."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, BinaryIO

import click

from op_openbanking.errors import SecurityError
from op_openbanking.jose.detached import sign_detached, verify_detached
from op_openbanking.jose.jws import VerifiedJWS, sign_compact, verify_compact
from op_openbanking.signing.obie_signature import DIRECTORY_ANCHOR, OBIESignatures, OBIEVerifier

from .key_files import read_signer, read_trusted

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_ALGORITHMS = click.Choice(["PS256", "ES256"])


@click.group()
def group() -> None:
    """Sign and verify JSON Web Signatures, compact and detached."""


@group.command()
@click.argument("payload", type=click.File("rb"), default="-")
@click.option("--key", type=_FILE, required=True, help="Private key: PEM, PKCS#12 or JWK.")
@click.option("--password-file", type=_FILE, help="File with the password of the key.")
@click.option("--alg", type=_ALGORITHMS, help="Default: PS256 for RSA, ES256 for P-256.")
@click.option("--kid", help="Default: the kid of a JWK, else the RFC 7638 thumbprint.")
@click.option("--typ", help="Header member typ.")
@click.option("--detached", is_flag=True, help="Leave the payload out of the result.")
@click.option("--raw", is_flag=True, help="Detached over the raw octets (b64 false, RFC 7797).")
@click.option("--obie-iss", help="Make an OBIE x-jws-signature with this issuer.")
@click.option("--obie-tan", default=DIRECTORY_ANCHOR, show_default=True, help="Its trust anchor.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def sign(
    payload: BinaryIO,
    key: Path,
    password_file: Path | None,
    alg: str | None,
    kid: str | None,
    typ: str | None,
    *,
    detached: bool,
    raw: bool,
    obie_iss: str | None,
    obie_tan: str,
    as_json: bool,
) -> None:
    """Sign the octets of PAYLOAD, a file or - for the standard input."""
    if raw and not (detached or obie_iss):
        raise click.UsageError("--raw needs --detached or --obie-iss")
    signer = read_signer(key, password_file=password_file, alg=alg, kid=kid)
    octets = payload.read()
    header = None if typ is None else {"typ": typ}
    if obie_iss is not None:
        signatures = OBIESignatures(obie_iss, trust_anchor=obie_tan, b64=not raw)
        token = signatures.sign(octets, signer, now_s=int(time.time()))
    elif detached:
        token = sign_detached(octets, signer, header=header, b64=not raw)
    else:
        token = sign_compact(octets, signer, header=header)
    if as_json:
        click.echo(json.dumps({"jws": token, "alg": signer.alg, "kid": signer.kid}))
    else:
        click.echo(token)


@group.command()
@click.argument("token", type=click.File("rb"), default="-")
@click.option("--jwks", type=_FILE, help="Trusted keys: a JWKS file.")
@click.option("--key", type=_FILE, help="Trusted key: PEM key or certificate, or JWK.")
@click.option("--kid", help="Name of --key. Default: its own, else the RFC 7638 thumbprint.")
@click.option(
    "--alg", "algorithms", type=_ALGORITHMS, multiple=True, help="Accepted. Default: both."
)
@click.option("--payload", type=_FILE, help="The payload of a detached signature.")
@click.option("--understood", multiple=True, help="A crit name that you check yourself.")
@click.option("--obie-iss", help="Verify an OBIE x-jws-signature of this issuer (PS256 alone).")
@click.option("--obie-tan", default=DIRECTORY_ANCHOR, show_default=True, help="Its trust anchor.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def verify(
    token: BinaryIO,
    jwks: Path | None,
    key: Path | None,
    kid: str | None,
    algorithms: tuple[str, ...],
    payload: Path | None,
    *,
    understood: tuple[str, ...],
    obie_iss: str | None,
    obie_tan: str,
    as_json: bool,
) -> None:
    """Verify the JWS in TOKEN, a file or - for the standard input.

    The status is 1 where it does not hold.
    """
    if obie_iss is not None and (payload is None or understood or set(algorithms) - {"PS256"}):
        raise click.UsageError("--obie-iss needs --payload, PS256, and no --understood")
    trusted = read_trusted(jwks, key, kid=kid)
    text = token.read().strip()
    accepted = algorithms or ("PS256", "ES256")
    try:
        if obie_iss is not None and payload is not None:
            verifier = OBIEVerifier(trusted, obie_iss, trust_anchors=frozenset({obie_tan}))
            signature = text.decode("ascii", errors="replace")
            verified = verifier.verify(signature, payload.read_bytes(), now_s=time.time())
        elif payload is None:
            verified = verify_compact(text, trusted, algorithms=accepted)
        else:
            verified = verify_detached(
                text, payload.read_bytes(), trusted, algorithms=accepted, understood=understood
            )
    except SecurityError as error:
        if not as_json:
            raise
        verdict = {"valid": False, "check": error.check, "section": error.section}
        click.echo(json.dumps({**verdict, "error": str(error)}))
        raise SystemExit(1) from error
    if as_json:
        click.echo(json.dumps(_report(verified)))
    else:
        _print(verified, detached=payload is not None)


def _report(verified: VerifiedJWS) -> dict[str, Any]:
    try:
        payload: object = json.loads(verified.payload)
    except (ValueError, RecursionError):
        payload = None
    return {
        "valid": True,
        "header": dict(verified.header),
        "thumbprint": verified.key.thumbprint(),
        "payload_bytes": len(verified.payload),
        "payload": payload,
    }


def _print(verified: VerifiedJWS, *, detached: bool) -> None:
    click.echo("The signature holds.", err=True)
    for name, value in verified.header.items():
        shown = value if isinstance(value, str) else json.dumps(value)
        click.echo(f"  {name}: {shown}", err=True)
    if not detached:
        click.echo(verified.payload)
