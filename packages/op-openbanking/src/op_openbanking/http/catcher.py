"""Catches one authorization answer at a redirect URI on loopback, for people at a terminal.

Answers in the query arrive as they are. A fragment never reaches a server: the page served at the
redirect URI posts it on, with a script that the content security policy names by its hash.

Under an https redirect URI the catcher needs a certificate; without one it makes a throw-away, and
the browser warns.

Source: RFC 8252 section 7.3 (loopback redirects); OAuth 2.0 Form Post Response Mode.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import ipaddress
import socket
import ssl
import tempfile
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from op_openbanking.errors import ConfigError, ProtocolViolation, TransportError
from op_openbanking.fapi.callback import MAX_CALLBACK_CHARS, Callback
from op_openbanking.flow import split_url

_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost"})
_CONNECTION_LIMIT_S: Final = 5.0
_SCRIPT: Final = (
    "const f=document.forms[0];"
    "for(const [n,v] of new URLSearchParams(location.hash.slice(1))){"
    "const i=document.createElement('input');i.type='hidden';i.name=n;i.value=v;f.append(i)}"
    "history.replaceState(null,'',location.pathname);if(f.elements.length)f.submit()"
)
_POLICY: Final = (
    "default-src 'none'; form-action 'self'; script-src 'sha256-"
    + base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    + "'"
)
_FORWARD: Final = (
    "<!doctype html><title>One moment</title><form method=post></form>"
    f"<script>{_SCRIPT}</script><noscript>This page needs JavaScript.</noscript>"
)
_DONE: Final = "<!doctype html><title>Done</title><p>You may close this window."


class Catcher:
    """A server on loopback that waits for one visit; a context manager.

    Args:
        redirect_uri: The registered redirect URI, on 127.0.0.1 or localhost with a port.
        certificate_pem: Certificate chain and key in PEM for https, or None for a throw-away.

    Raises:
        ConfigError: The redirect URI is not on loopback, or its port is taken.
    """

    def __init__(self, redirect_uri: str, *, certificate_pem: bytes | None = None) -> None:
        parts = split_url(redirect_uri, what="redirect_uri")
        if parts.hostname not in _LOOPBACK or not parts.port:
            raise ConfigError(
                "only a redirect URI on 127.0.0.1 or localhost, with a port, is caught"
            )
        self._uri = redirect_uri
        self._caught: Callback | None = None
        self._context = _context(certificate_pem) if parts.scheme == "https" else None
        try:
            self._server = _Server(
                ("127.0.0.1", parts.port),
                location=f"{parts.scheme}://{parts.netloc}{parts.path}",
                context=self._context,
                deliver=self._deliver,
            )
        except OSError as error:
            raise ConfigError(f"port {parts.port} is taken: {error.strerror}") from error

    def wait(self, *, timeout_s: float) -> Callback:
        """Wait for the answer.

        Raises:
            TransportError: None came in time.
        """
        ends_s = time.monotonic() + timeout_s
        while self._caught is None:
            left_s = ends_s - time.monotonic()
            if left_s <= 0:
                raise TransportError("nobody came back from the bank in time", retryable=False)
            self._server.timeout = left_s
            self._server.handle_request()
        return self._caught

    def close(self) -> None:
        """Stop listening."""
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _deliver(self, callback: Callback) -> None:
        self._caught = callback


class _Server(HTTPServer):
    def __init__(
        self,
        address: tuple[str, int],
        *,
        location: str,
        context: ssl.SSLContext | None,
        deliver: Callable[[Callback], None],
    ) -> None:
        self.location = location
        self.context = context
        self.deliver = deliver
        super().__init__(address, _Visit)

    def get_request(self) -> tuple[socket.socket, object]:
        connection, address = super().get_request()
        # Set before the handshake: a browser that opens a spare connection must not block us.
        connection.settimeout(_CONNECTION_LIMIT_S)
        if self.context is None:
            return connection, address
        try:
            return self.context.wrap_socket(connection, server_side=True), address
        except OSError:
            connection.close()
            raise

    def handle_error(self, request: object, client_address: object) -> None:
        """A visitor that breaks off is no event."""


class _Visit(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        self._handle(None)

    def do_POST(self) -> None:
        length = self.headers.get("content-length", "")
        if not (length.isascii() and length.isdigit() and int(length) <= MAX_CALLBACK_CHARS):
            self._send(413, "")
            return
        self._handle(self.rfile.read(int(length)))

    def _handle(self, form: bytes | None) -> None:
        path, _, query = self.path.partition("?")
        wanted = urlsplit(self.server.location).path or "/"
        if path != wanted:
            self._send(404, "")
            return
        url = self.server.location + (f"?{query}" if query else "")
        try:
            callback = Callback.from_url(url) if form is None else Callback.from_form(url, form)
        except ProtocolViolation:
            self._send(400, "")
            return
        names = {name for name, _ in (*callback.query, *callback.body)}
        if names.isdisjoint({"code", "error", "response"}):
            self._send(200, _FORWARD)
            return
        self.server.deliver(callback)
        self._send(200, _DONE)

    def _send(self, status: int, page: str) -> None:
        body = page.encode()
        self.send_response(status)
        for name, value in (
            ("content-type", "text/html; charset=utf-8"),
            ("content-length", str(len(body))),
            ("content-security-policy", _POLICY),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the library's name)
        """A request line may hold a code: it is not logged."""


def _context(certificate_pem: bytes | None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    with tempfile.TemporaryDirectory(prefix="openpay-") as folder:
        path = Path(folder) / "catcher.pem"
        path.touch(mode=0o600)
        path.write_bytes(certificate_pem or _throw_away())
        try:
            context.load_cert_chain(path)
        except ssl.SSLError as error:
            raise ConfigError("the certificate of the catcher is not usable PEM") from error
    return context


def _throw_away() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "openpay redirect catcher")])
    now = dt.datetime.now(dt.UTC)
    names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return private + certificate.public_bytes(Encoding.PEM)
