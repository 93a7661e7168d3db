"""Pages fetched from servers that misbehave, over real sockets."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio
import pytest

from smart_byte_atproto.errors import (
    ATProtoError,
    NetworkFailed,
    RequestRefused,
    ResponseInvalid,
)
from smart_byte_atproto.net.fetch import Fetch, Fetched
from smart_byte_atproto.net.http import afetch, fetch

pytestmark = pytest.mark.end_to_end

Answer = Callable[[socket.socket, threading.Event], None]


@contextmanager
def server(answer: Answer) -> Iterator[str]:
    """Serve connections, each with one answer; return where."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)

        def serve() -> None:
            while not stop.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.settimeout(5)
                    try:
                        connection.recv(65536)
                        answer(connection, stop)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            stop.set()
            thread.join(10)


def both(wanted: Fetch, *, local: bool = True) -> list[Fetched | ATProtoError]:
    """Fetch blocking and awaited; return what came or was raised."""

    async def awaited() -> Fetched:
        return await afetch(wanted, local=local)

    came: list[Fetched | ATProtoError] = []
    ways: list[Callable[[], Fetched]] = [
        lambda: fetch(wanted, local=local),
        lambda: anyio.run(awaited),
    ]
    for get in ways:
        try:
            came.append(get())
        except ATProtoError as error:
            came.append(error)
    return came


def reply(head: str, body: bytes = b"") -> Answer:
    def answer(connection: socket.socket, _: threading.Event) -> None:
        connection.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)

    return answer


def test_a_page_comes() -> None:
    with server(reply("HTTP/1.1 200 OK\nContent-Length: 2\nX-Y: z", b"ok")) as url:
        for came in both(Fetch(url + "/x")):
            assert isinstance(came, Fetched)
            assert (came.status, came.body, came.headers["x-y"]) == (200, b"ok", "z")


def test_a_server_that_hangs_is_left_in_time() -> None:
    def hang(_: socket.socket, stop: threading.Event) -> None:
        stop.wait(10)

    with server(hang) as url:
        for came in both(Fetch(url, timeout_s=0.3)):
            assert isinstance(came, NetworkFailed)
            assert came.retryable


def test_a_server_that_drips_is_left_in_time() -> None:
    def drip(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while not stop.wait(0.05):
            connection.sendall(b"x")

    def drip_head(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while not stop.wait(0.05):
            connection.sendall(b"x")

    for answer in (drip, drip_head):
        with server(answer) as url:
            for came in both(Fetch(url, timeout_s=0.5)):
                assert isinstance(came, NetworkFailed)


def test_an_answer_that_is_cut_off_is_none() -> None:
    with server(reply("HTTP/1.1 200 OK\nContent-Length: 100", b"half")) as url:
        for came in both(Fetch(url)):
            assert isinstance(came, NetworkFailed)


def test_a_body_without_end_is_not_read_to_the_end() -> None:
    def endless(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
        while not stop.is_set():
            connection.sendall(b"x" * 65536)

    with server(endless) as url:
        for came in both(Fetch(url, max_bytes=100_000)):
            assert isinstance(came, ResponseInvalid)
            assert came.code == "size"


def test_a_body_that_swells_when_unpacked_is_bounded() -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    head = f"HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: {len(bomb)}"
    with server(reply(head, bomb)) as url:
        for came in both(Fetch(url, max_bytes=1_000_000)):
            assert isinstance(came, ResponseInvalid)


def test_a_redirect_inside_is_refused() -> None:
    for where in ("http://10.0.0.1/", "http://169.254.169.254/latest", "https://[fd00::1]/"):
        with server(reply(f"HTTP/1.1 302 Found\nLocation: {where}\nContent-Length: 0")) as url:
            for came in both(Fetch(url, redirects=3)):
                assert isinstance(came, RequestRefused)


def test_redirects_end() -> None:
    with server(reply("HTTP/1.1 302 Found\nLocation: /again\nContent-Length: 0")) as url:
        for came in both(Fetch(url, redirects=3)):
            assert isinstance(came, RequestRefused)
            assert came.code == "redirects"


def test_something_other_than_http_is_told() -> None:
    with server(lambda connection, _: connection.sendall(b"SSH-2.0-OpenSSH_9\r\n")) as url:
        for came in both(Fetch(url)):
            assert isinstance(came, NetworkFailed)


def test_a_name_that_leads_to_this_machine_is_refused_when_connecting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def rebound(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 443))]

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    with pytest.raises(RequestRefused):
        fetch(Fetch("https://rebound.example.com/"))


def test_nobody_there_is_a_failure_that_may_pass() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for came in both(Fetch(f"http://127.0.0.1:{port}/")):
        assert isinstance(came, NetworkFailed)
