from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import gc
import gzip
import json
import socket
import ssl
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from op_openbanking.errors import ConfigError, ProtocolViolation, TransportError
from op_openbanking.flow import Request, Response
from op_openbanking.http.aiohttp import AiohttpTransport
from op_openbanking.http.httpx import AsyncHTTPXTransport, HTTPXTransport
from op_openbanking.http.httpx2 import AsyncHTTPX2Transport, HTTPX2Transport
from op_openbanking.http.settings import Timeouts, TransportSettings
from op_openbanking.http.tls import ClientCertificate, TrustAnchors
from op_openbanking.jose.hashes import x5t_s256
from op_openbanking.testing.pki import IssuedCertificate, ThrowAwayCA

pytestmark = pytest.mark.end_to_end

Send = Callable[[TransportSettings, Request], Response]


def _blocking(kind: type[HTTPX2Transport | HTTPXTransport]) -> Send:
    def send(settings: TransportSettings, request: Request) -> Response:
        with kind(settings) as transport:
            return transport.send(request)

    return send


def _awaited(
    kind: type[AsyncHTTPX2Transport | AsyncHTTPXTransport | AiohttpTransport],
) -> Send:
    async def exchange(settings: TransportSettings, request: Request) -> Response:
        async with kind(settings) as transport:
            return await transport.send(request)

    def send(settings: TransportSettings, request: Request) -> Response:
        try:
            return asyncio.run(exchange(settings, request))
        finally:
            # A TLS connection that is given up lingers until the peer agrees or asyncio's own
            # limit passes; here the loop ends first.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect()

    return send


TRANSPORTS = {
    "httpx2": _blocking(HTTPX2Transport),
    "httpx2-async": _awaited(AsyncHTTPX2Transport),
    "httpx": _blocking(HTTPXTransport),
    "httpx-async": _awaited(AsyncHTTPXTransport),
    "aiohttp": _awaited(AiohttpTransport),
}


@pytest.fixture(params=sorted(TRANSPORTS))
def send(request: pytest.FixtureRequest) -> Send:
    return TRANSPORTS[request.param]


BOMB = gzip.compress(bytes(20_000_000))


class Echo(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    # The socket of a silent client must not hold the thread for ever.
    timeout = 20

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        connection = self.connection
        assert isinstance(connection, ssl.SSLSocket)
        der = connection.getpeercert(binary_form=True)
        seen = {
            "method": self.command,
            "path": self.path,
            "headers": [[name.lower(), value] for name, value in self.headers.items()],
            "body": body.hex(),
            "certificate": x5t_s256(der) if der else None,
            "tls": connection.version(),
        }
        packed = [("content-encoding", "gzip")]
        fixed: dict[str, tuple[int, bytes, list[tuple[str, str]]]] = {
            "/redirect": (302, b"", [("location", "/elsewhere"), ("set-cookie", "a=b")]),
            "/gzip": (200, gzip.compress(json.dumps(seen).encode()), packed),
            "/bomb": (200, BOMB, packed),
            "/broken-gzip": (200, gzip.compress(b"hello" * 100)[:20], packed),
            "/brotli": (200, b"hello", [("content-encoding", "br")]),
            "/long": (200, bytes(100_000), []),
            "/no-content": (204, b"", []),
        }
        broken = {"/cut": self._cut, "/drip": self._drip, "/silent": self._silent}
        action = self.path.split("?")[0]
        if action in broken:
            broken[action]()
            self.close_connection = True
        else:
            echoed = [("set-cookie", "a=b"), ("X-Twice", "1"), ("X-Twice", "2")]
            self._send(*fixed.get(action, (200, json.dumps(seen).encode(), echoed)))

    def _cut(self) -> None:
        self._begin(100)
        self.wfile.write(b"short")

    def _drip(self) -> None:
        # One octet at a time, so that no phase alone is too slow.
        self._begin(1000)
        for _ in range(1000):
            if self.server.released.wait(0.05):
                break
            self.wfile.write(b"x")

    def _silent(self) -> None:
        self.server.released.wait(15)

    def _begin(self, length: int) -> None:
        self.send_response(200)
        self.send_header("content-length", str(length))
        self.end_headers()

    def _send(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(("127.0.0.1", 0), Echo)
        self.context = context
        self.released = threading.Event()

    def finish_request(self, request: object, client_address: object) -> None:
        # The handshake happens in the worker thread, so a silent client cannot block accept.
        try:
            wrapped = self.context.wrap_socket(request, server_side=True)  # type: ignore[arg-type]
        except (ssl.SSLError, OSError):
            return
        try:
            Echo(wrapped, client_address, self)
        finally:
            wrapped.close()

    def handle_error(self, request: object, client_address: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Loopback:
    url: str
    trust: TrustAnchors
    client: IssuedCertificate

    @property
    def certificate(self) -> ClientCertificate:
        return ClientCertificate.from_pem(self.client.pem, self.client.key_pem)


@pytest.fixture(scope="session")
def loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loopback]:
    now = dt.datetime.now(dt.UTC)
    authority = ThrowAwayCA.create(now=now)
    leaf = authority.issue("server", now=now, hosts=("127.0.0.1",))
    folder: Path = tmp_path_factory.mktemp("server")
    path = folder / "server.pem"
    path.write_bytes(leaf.key_pem + leaf.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    context.load_verify_locations(cadata=authority.pem.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    server = Server(context)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Loopback(
            url=f"https://127.0.0.1:{server.server_address[1]}",
            trust=TrustAnchors(ca_pem=authority.pem),
            client=authority.issue("tpp", now=now),
        )
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


def _seen(response: Response) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(response.body)
    return seen


def test_sends_the_final_octets_and_nothing_of_its_own(send: Send, loopback: Loopback) -> None:
    body = b'{ "b" : 1,\r\n"a":1}'
    url = f"{loopback.url}/v1/x%20y/%7Ez?b=2&a=%C3%BC&a=1"
    response = send(
        TransportSettings(trust=loopback.trust),
        Request("POST", url, headers=(("Content-Type", "application/json"),), body=body),
    )
    seen = _seen(response)
    assert seen["method"] == "POST"
    assert seen["path"] == "/v1/x%20y/%7Ez?b=2&a=%C3%BC&a=1"
    assert bytes.fromhex(seen["body"]) == body
    names = {name for name, _ in seen["headers"]}
    assert names == {
        "host",
        "content-type",
        "content-length",
        "accept-encoding",
        "user-agent",
    } | (names & {"connection", "accept"})
    assert ["content-type", "application/json"] in seen["headers"]


def test_answers_with_status_headers_and_body(send: Send, loopback: Loopback) -> None:
    settings = TransportSettings(trust=loopback.trust)
    response = send(settings, Request("GET", f"{loopback.url}/"))
    assert response.status == 200
    assert [value for name, value in response.headers if name == "x-twice"] == ["1", "2"]
    assert _seen(response)["tls"] == "TLSv1.3"
    assert send(settings, Request("DELETE", f"{loopback.url}/no-content")).body == b""


def test_follows_no_redirect(send: Send, loopback: Loopback) -> None:
    response = send(
        TransportSettings(trust=loopback.trust), Request("GET", f"{loopback.url}/redirect")
    )
    assert response.status == 302
    assert response.header("Location") == "/elsewhere"


def test_presents_the_client_certificate_only_where_asked(send: Send, loopback: Loopback) -> None:
    certificate = loopback.certificate
    settings = TransportSettings(trust=loopback.trust, certificate=certificate)
    plain = send(settings, Request("GET", loopback.url))
    mutual = send(settings, Request("GET", loopback.url, client_certificate=certificate.thumbprint))
    assert _seen(plain)["certificate"] is None
    assert _seen(mutual)["certificate"] == certificate.thumbprint


def test_refuses_another_certificate_than_the_request_names(send: Send, loopback: Loopback) -> None:
    settings = TransportSettings(trust=loopback.trust, certificate=loopback.certificate)
    with pytest.raises(ConfigError, match="RFC 8705"):
        send(settings, Request("GET", loopback.url, client_certificate="A" * 43))
    with pytest.raises(ConfigError, match="none is configured"):
        send(
            TransportSettings(trust=loopback.trust),
            Request("GET", loopback.url, needs_client_certificate=True),
        )


def test_refuses_a_server_that_no_anchor_vouches_for(send: Send, loopback: Loopback) -> None:
    stranger = ThrowAwayCA.create(now=dt.datetime.now(dt.UTC))
    settings = TransportSettings(trust=TrustAnchors(ca_pem=stranger.pem))
    with pytest.raises(TransportError) as caught:
        send(settings, Request("GET", loopback.url))
    assert caught.value.retryable


def test_undoes_gzip(send: Send, loopback: Loopback) -> None:
    response = send(TransportSettings(trust=loopback.trust), Request("GET", f"{loopback.url}/gzip"))
    assert ["accept-encoding", "gzip"] in _seen(response)["headers"]


@pytest.mark.parametrize("path", ["bomb", "long"])
def test_stops_reading_a_body_beyond_the_limit(send: Send, loopback: Loopback, path: str) -> None:
    with pytest.raises(ProtocolViolation, match="longer than 50000 bytes"):
        send(
            TransportSettings(trust=loopback.trust),
            Request("GET", f"{loopback.url}/{path}", max_response_bytes=50_000),
        )


@pytest.mark.parametrize(
    ("path", "problem"), [("broken-gzip", "stops in the middle"), ("brotli", "was not asked for")]
)
def test_refuses_a_body_it_cannot_decode(
    send: Send, loopback: Loopback, path: str, problem: str
) -> None:
    with pytest.raises(ProtocolViolation, match=problem):
        send(TransportSettings(trust=loopback.trust), Request("GET", f"{loopback.url}/{path}"))


@pytest.mark.parametrize("path", ["cut", "silent", "drip"])
def test_a_lost_answer_may_be_asked_again_only_if_idempotent(
    send: Send, loopback: Loopback, path: str
) -> None:
    settings = TransportSettings(trust=loopback.trust)
    url = f"{loopback.url}/{path}"
    with pytest.raises(TransportError, match="must not be sent again") as payment:
        send(settings, Request("POST", url, body=b"{}", timeout_s=0.4))
    assert not payment.value.retryable
    key = (("x-idempotency-key", "fixed"),)
    with pytest.raises(TransportError) as keyed:
        send(
            settings,
            Request("POST", url, headers=key, body=b"{}", timeout_s=0.4, idempotent=True),
        )
    assert keyed.value.retryable


def test_a_request_that_was_never_sent_may_be_sent_again(send: Send) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(TransportError, match="no connection") as caught:
        send(TransportSettings(), Request("POST", f"http://127.0.0.1:{port}/", body=b"{}"))
    assert caught.value.retryable


def test_no_exception_behind_an_error_holds_the_token(send: Send) -> None:
    headers = (("authorization", "Bearer kept-to-ourselves"),)
    with _gibberish() as url, pytest.raises(TransportError) as caught:
        send(TransportSettings(), Request("GET", url, headers=headers))
    waiting: list[BaseException | None] = [caught.value]
    while waiting:
        error = waiting.pop()
        if error is not None:
            assert "kept-to-ourselves" not in f"{error!r} {error} {error.args!r}"
            assert "kept-to-ourselves" not in repr(getattr(error, "request_info", ""))
            waiting += [error.__cause__, error.__context__]


def test_a_silent_handshake_ends_in_time(send: Send) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(TransportError):
            send(
                TransportSettings(timeouts=Timeouts(connect_s=0.3)),
                Request("GET", url, timeout_s=5),
            )


def test_goes_through_the_proxy(send: Send, loopback: Loopback) -> None:
    asked: list[str] = []
    with _tunnel(asked) as proxy:
        response = send(
            TransportSettings(trust=loopback.trust, proxy=proxy), Request("GET", loopback.url)
        )
    assert response.status == 200
    assert asked == [f"CONNECT {loopback.url.removeprefix('https://')} HTTP/1.1"]


def test_a_status_that_is_none_is_refused(send: Send) -> None:
    answer = b"HTTP/1.1 099 x\r\ncontent-length: 0\r\n\r\n"
    with _gibberish(answer) as url, pytest.raises((ProtocolViolation, TransportError)):
        send(TransportSettings(), Request("GET", url))


@contextlib.contextmanager
def _gibberish(octets: bytes = b"garbage\r\n\r\n") -> Iterator[str]:
    """A server that answers one request with what is no HTTP."""

    def answer() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(octets)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        thread.join()


@contextlib.contextmanager
def _tunnel(asked: list[str]) -> Iterator[str]:
    """A proxy that accepts one CONNECT."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(10)

    def serve() -> None:
        inner, _ = listener.accept()
        head = b""
        while b"\r\n\r\n" not in head:
            head += inner.recv(4096)
        asked.append(head.split(b"\r\n")[0].decode())
        host, port = head.split()[1].decode().split(":")
        with inner, socket.create_connection((host, int(port)), timeout=10) as outer:
            inner.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=_pump, args=(outer, inner), daemon=True)
            back.start()
            _pump(inner, outer)
            back.join(10)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        thread.join(10)
        listener.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    source.settimeout(10)
    with contextlib.suppress(OSError):
        while octets := source.recv(65536):
            sink.sendall(octets)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
