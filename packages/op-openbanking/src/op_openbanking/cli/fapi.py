"""`openpay fapi`: talk to an authorization server.

Tokens go into a file that only its owner can read; nothing printed holds a token, code or key.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

from op_openbanking.errors import BankError
from op_openbanking.fapi.authorization import begin, finish
from op_openbanking.fapi.callback import MAX_CALLBACK_CHARS, Callback
from op_openbanking.fapi.client import Client
from op_openbanking.fapi.metadata import Document, discover as discover_flow
from op_openbanking.fapi.pending_memory import MemoryPendingStore
from op_openbanking.fapi.profile import AnswerForm, AuthMethod
from op_openbanking.fapi.registration import (
    Dialect,
    SignedRequest,
    client_metadata,
    register as register_flow,
)
from op_openbanking.fapi.software_statement import SoftwareStatement
from op_openbanking.fapi.token_status import introspect, revoke
from op_openbanking.fapi.tokens import TokenSet, client_credentials, exchange, refresh
from op_openbanking.flow import Transport, run
from op_openbanking.http.settings import TransportSettings
from op_openbanking.http.tls import TrustAnchors
from op_openbanking.jose.jwk import JWKSet

from .fapi_settings import ClientFile

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_NEW_FILE = click.Path(dir_okay=False, path_type=Path)
_CONFIG = click.option(
    "--config", type=_FILE, required=True, help="The client file (TOML); see `openpay fapi`."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")


class _Group(click.Group):
    """Adds the bank's own words to a refusal: they help a developer at a terminal."""

    def invoke(self, ctx: click.Context) -> object:
        as_json = "--json" in ctx.args  # invoking empties them
        try:
            return super().invoke(ctx)
        except BankError as error:
            if not error.description or as_json:
                raise
            raise click.ClickException(f"{error}: {error.description}") from error


@click.group(cls=_Group)
def group() -> None:
    """Discover a server, register a client, authorize, and get tokens.

    A client file in TOML says who we are: issuer, client_id, redirect_uri, profile, auth_method,
    binding, audience, scope, signing_key, signing_kid, tls_certificate, tls_key, ca, proxy. Paths
    in it are relative to it.
    """


@group.command()
@click.argument("issuer")
@click.option("--ca", type=_FILE, help="PEM certificates to trust instead of the system's.")
@click.option("--oauth", is_flag=True, help="Ask for the RFC 8414 document.")
@_JSON
def discover(issuer: str, ca: Path | None, *, oauth: bool, as_json: bool) -> None:
    """Fetch and check the metadata of ISSUER."""
    trust = TrustAnchors.from_file(ca) if ca else TrustAnchors()
    with _transport(TransportSettings(trust=trust)) as transport:
        document = Document.OAUTH if oauth else Document.OPENID
        server = run(discover_flow(issuer, document=document), transport)
    if as_json:
        click.echo(json.dumps(dict(server.members)))
        return
    _print_table(
        {
            "issuer": server.issuer,
            **{each.value: url for each, url in server.endpoints.items()},
            **{f"{each.value} (mTLS)": url for each, url in server.aliases.items()},
            "client authentication": ", ".join(server.auth_methods) or "not stated",
            "binds tokens to certificates": "yes" if server.binds_tokens else "not stated",
            "sends iss (RFC 9207)": "yes" if server.sends_issuer else "not stated",
            "requires pushed requests": "yes" if server.requires_par else "no",
        }
    )


@group.command()
@_CONFIG
@click.option("--initial-access-token-file", type=_FILE, help="Token for the endpoint.")
@click.option(
    "--dialect",
    type=click.Choice([each.value for each in Dialect]),
    default=Dialect.JSON.value,
    show_default=True,
)
@click.option("--statement", type=_FILE, help="File with the software statement.")
@click.option("--audience", help="aud of a signed registration; default: the issuer.")
@click.option("--subject-dn", help="Subject of the TLS certificate, for tls_client_auth.")
@click.option("--jwks-uri", help="Where our keys are published; default: sent along.")
@click.option("--save", type=_NEW_FILE, help="Keep the whole answer here (mode 0600).")
@_JSON
def register(
    config: Path,
    initial_access_token_file: Path | None,
    dialect: str,
    statement: Path | None,
    audience: str | None,
    subject_dn: str | None,
    jwks_uri: str | None,
    save: Path | None,
    *,
    as_json: bool,
) -> None:
    """Register the client of the client file, and print its client_id."""
    file = ClientFile.read(config)
    certificate = file.certificate()
    chosen = Dialect(dialect)
    vouched = SoftwareStatement.parse(_text(statement)) if statement else None
    needs_keys = (
        file.rules.requires_request_object or file.auth_method is AuthMethod.PRIVATE_KEY_JWT
    )
    sends_keys = needs_keys and jwks_uri is None and chosen is Dialect.JSON
    metadata = client_metadata(
        file.rules,
        redirect_uris=(file.redirect_uri,),
        auth_method=file.auth_method,
        scope=file.scope,
        algorithm=file.signer().alg if needs_keys else "PS256",
        jwks=JWKSet.of([file.signer().jwk]) if sends_keys else None,
        jwks_uri=jwks_uri,
        subject_dn=subject_dn,
        constraint=file.binding,
    )
    token = _secret(initial_access_token_file)
    keeping = _private(save) if save is not None else nullcontext(None)
    with keeping as keep, _transport(file.transport_settings()) as transport:
        server = run(discover_flow(file.issuer), transport)
        signing = (
            SignedRequest(file.signer(), vouched, audience or file.issuer) if vouched else None
        )
        made = run(
            register_flow(
                server,
                metadata,
                clock=time.time,
                entropy=secrets.token_bytes,
                dialect=chosen,
                signing=signing,
                initial_access_token=token,
                client_certificate=certificate.thumbprint if certificate else None,
            ),
            transport,
        )
        if keep is not None:
            kept = {**made.members, "registration_access_token": made.management_token}
            keep(json.dumps(kept).encode())
    click.echo(json.dumps(made.members) if as_json else f'client_id = "{made.client_id}"')


@group.command()
@_CONFIG
@click.option("--tokens", type=_NEW_FILE, required=True, help="Where to keep them (mode 0600).")
@click.option(
    "--answer", type=click.Choice([each.value for each in AnswerForm]), help="Default: jarm."
)
@click.option("--scope", help="Default: that of the client file.")
@click.option("--intent-id", help="openbanking_intent_id, asked for and checked.")
@click.option("--acr", multiple=True, help="Authentication context, asked for and checked.")
@click.option("--parameter", multiple=True, help="NAME=VALUE, a further parameter.")
@click.option("--paste", is_flag=True, help="Read the URL that the browser ended at from stdin.")
@click.option("--catcher-pem", type=_FILE, help="Certificate and key for an https redirect URI.")
@click.option("--open", "opens", is_flag=True, help="Open the browser.")
@click.option("--timeout-s", type=click.FloatRange(min=1), default=300.0, show_default=True)
@_JSON
def authorize(
    config: Path,
    tokens: Path,
    answer: str | None,
    scope: str | None,
    intent_id: str | None,
    acr: tuple[str, ...],
    parameter: tuple[str, ...],
    *,
    catcher_pem: Path | None,
    timeout_s: float,
    paste: bool,
    opens: bool,
    as_json: bool,
) -> None:
    """Send a person to the bank, catch the answer on loopback, verify it, and get tokens.

    The URL to open goes to the standard error. With --paste the redirect URI may be anywhere.
    """
    file = ClientFile.read(config)
    parameters = _parameters(parameter)
    claims = None
    expected = None
    if intent_id is not None:
        wanted = {"openbanking_intent_id": {"value": intent_id, "essential": True}}
        claims, expected = (
            {"id_token": wanted, "userinfo": wanted},
            {"openbanking_intent_id": intent_id},
        )
    # One process is one browser session here: a fresh name binds the answer to it.
    session = secrets.token_urlsafe(16)
    with _private(tokens) as keep, _transport(file.transport_settings()) as transport:
        client = _client(file, transport)
        store = MemoryPendingStore(clock=time.time, limit=1)
        redirect = run(
            begin(
                client,
                scope=scope or file.scope,
                store=store,
                user_agent=session,
                answer=AnswerForm(answer) if answer else None,
                acr_values=acr,
                claims=claims,
                expected_claims=expected,
                parameters=parameters,
            ),
            transport,
        )
        callback = _wait(
            redirect.url, file, paste=paste, opens=opens, pem=catcher_pem, timeout_s=timeout_s
        )
        verified = run(finish(client, callback, store=store, user_agent=session), transport)
        made = run(exchange(client, verified, parameters=_resource(parameters)), transport)
        keep(made.to_bytes())
    _report(tokens, made, as_json=as_json)


@group.command()
@_CONFIG
@click.option("--tokens", type=_NEW_FILE, required=True, help="The file with tokens.")
@click.option("--client-credentials", "own", is_flag=True, help="Get a token for the client.")
@click.option("--refresh", "refreshes", is_flag=True, help="Replace the tokens in the file.")
@click.option("--introspect", "asks", is_flag=True, help="Ask the server about the access token.")
@click.option("--revoke", "revokes", is_flag=True, help="Revoke the tokens, delete the file.")
@click.option("--scope", help="Default: that of the client file.")
@_JSON
def token(
    config: Path,
    tokens: Path,
    scope: str | None,
    *,
    own: bool,
    refreshes: bool,
    asks: bool,
    revokes: bool,
    as_json: bool,
) -> None:
    """Get, refresh, introspect or revoke tokens."""
    if [own, refreshes, asks, revokes].count(True) != 1:
        raise click.UsageError(
            "name one of --client-credentials, --refresh, --introspect and --revoke"
        )
    file = ClientFile.read(config)
    held = None if own else _held(tokens)
    if held is None or refreshes:
        asked = scope or " ".join(s for s in file.scope.split() if s != "openid")
        with _private(tokens) as keep, _transport(file.transport_settings()) as transport:
            client = _client(file, transport)
            made = run(
                client_credentials(client, scope=asked)
                if held is None
                else refresh(client, held, scope=scope),
                transport,
            )
            keep(made.to_bytes())
        _report(tokens, made, as_json=as_json)
        return
    with _transport(file.transport_settings()) as transport:
        client = _client(file, transport)
        if asks:
            status = run(introspect(client, held.access_token), transport)
            _print({"active": status.active, **status.members}, as_json=as_json)
        else:
            if held.refresh_token is not None:
                run(revoke(client, held.refresh_token), transport)
            run(revoke(client, held.access_token, hint="access_token"), transport)
            tokens.unlink()
            _print({"revoked": True}, as_json=as_json)


def _transport(settings: TransportSettings) -> Any:  # noqa: ANN401 (imported late)
    from op_openbanking.http.httpx2 import HTTPX2Transport  # noqa: PLC0415 (optional library)

    return HTTPX2Transport(settings)


def _client(file: ClientFile, transport: Transport) -> Client:
    return file.client(run(discover_flow(file.issuer), transport))


def _wait(
    url: str, file: ClientFile, *, paste: bool, opens: bool, pem: Path | None, timeout_s: float
) -> Callback:
    from op_openbanking.http.catcher import Catcher  # noqa: PLC0415

    if paste:
        _show(url, opens=opens)
        return Callback.from_url(sys.stdin.readline(MAX_CALLBACK_CHARS + 1).strip())
    certificate = pem.read_bytes() if pem else None
    with Catcher(file.redirect_uri, certificate_pem=certificate) as catcher:
        _show(url, opens=opens)
        return catcher.wait(timeout_s=timeout_s)


def _show(url: str, *, opens: bool) -> None:
    click.echo(f"Open: {url}", err=True)
    if opens:
        click.launch(url)


def _parameters(pairs: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise click.UsageError(f"--parameter {pair!r} is not NAME=VALUE")
        found[name] = value
    return found


def _resource(parameters: dict[str, str]) -> dict[str, str]:
    """RFC 8707: the resource is named at the token endpoint again."""
    return {name: value for name, value in parameters.items() if name == "resource"}


def _held(path: Path) -> TokenSet:
    try:
        return TokenSet.from_bytes(path.read_bytes())
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from error


def _report(path: Path, tokens: TokenSet, *, as_json: bool) -> None:
    facts: dict[str, object] = {
        "scope": tokens.scope,
        "expires_at_s": tokens.expires_at_s,
        "refreshable": tokens.refresh_token is not None,
        "bound_to": tokens.bound_to,
        "evidence": tokens.evidence.value,
        "subject": tokens.id_token.subject if tokens.id_token else None,
        "tokens": str(path),
    }
    _print(facts, as_json=as_json)


@contextmanager
def _private(path: Path) -> Iterator[Callable[[bytes], None]]:
    """Replaces a file in one step, readable by its owner alone from the first octet on.

    The new file is made at once, before anything is asked of a bank: an answer that cannot be
    kept would be lost.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from error

    def keep(octets: bytes) -> None:
        try:
            stream.write(octets)
            stream.flush()
            beside.replace(path)
        except OSError as error:
            raise _unwritable(path, error) from error

    with os.fdopen(handle, "wb") as stream:
        try:
            yield keep
        finally:
            beside.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> click.ClickException:
    return click.ClickException(f"cannot write {path}: {error.strerror}")


def _secret(path: Path | None) -> str | None:
    return None if path is None else _text(path)


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"cannot read {path}: it is no ASCII text") from error


def _print(facts: dict[str, object], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(facts))
    else:
        _print_table(facts)


def _print_table(facts: dict[str, object]) -> None:
    from rich.console import Console  # noqa: PLC0415 (slow to import)
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, Text("none" if value is None else str(value)))
    Console(soft_wrap=False).print(table)
