from __future__ import annotations

import contextlib
import datetime as dt
import socket
import ssl
import threading
from collections.abc import Iterator

import httpx2
import pytest

from op_openbanking.errors import ConfigError, TransportError
from op_openbanking.fapi.callback import Callback
from op_openbanking.http.catcher import Catcher
from op_openbanking.http.tls import TrustAnchors, client_context
from op_openbanking.testing.pki import ThrowAwayCA

pytestmark = pytest.mark.end_to_end
FORM = {"content-type": "application/x-www-form-urlencoded"}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def waiting(uri: str, *, pem: bytes | None = None) -> Iterator[list[Callback]]:
    caught: list[Callback] = []
    with Catcher(uri, certificate_pem=pem) as catcher:
        thread = threading.Thread(target=lambda: caught.append(catcher.wait(timeout_s=20)))
        thread.start()
        yield caught
        thread.join(20)
        assert not thread.is_alive()


def test_an_answer_in_the_query_is_caught() -> None:
    uri = f"http://127.0.0.1:{free_port()}/callback"
    with waiting(uri) as caught, httpx2.Client(trust_env=False) as browser:
        for path in ("/favicon.ico", "/callback/x"):
            assert browser.get(uri.replace("/callback", path)).status_code == 404
        assert browser.post(uri, content=b"code", headers=FORM).status_code == 400
        assert browser.post(uri, content=b"x" * 70_000, headers=FORM).status_code == 413
        page = browser.get(f"{uri}?response=a.b.c")
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert caught[0].location == uri
    assert dict(caught[0].query) == {"response": "a.b.c"}


def test_a_fragment_is_posted_on_by_the_page_over_tls() -> None:
    authority = ThrowAwayCA.create(now=dt.datetime.now(dt.UTC))
    leaf = authority.issue("catcher", now=dt.datetime.now(dt.UTC), hosts=("127.0.0.1",))
    uri = f"https://127.0.0.1:{free_port()}/callback"
    trust = client_context(TrustAnchors(ca_pem=authority.pem))
    with (
        waiting(uri, pem=leaf.key_pem + leaf.pem) as caught,
        httpx2.Client(verify=trust, trust_env=False) as browser,
    ):
        page = browser.get(f"{uri}#code=c&state=s")
        script = page.text.split("<script>")[1].split("</script>")[0]
        assert "location.hash" in script
        assert "unsafe-inline" not in page.headers["content-security-policy"]
        browser.post(uri, content=b"code=c&state=s", headers=FORM)
    assert dict(caught[0].body) == {"code": "c", "state": "s"}


def test_a_throw_away_certificate_serves_where_none_is_given() -> None:
    uri = f"https://localhost:{free_port()}/callback"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with waiting(uri) as caught, httpx2.Client(verify=context, trust_env=False) as browser:
        browser.get(f"{uri}?error=access_denied")
    assert dict(caught[0].query) == {"error": "access_denied"}


def test_a_visitor_that_says_nothing_is_no_answer() -> None:
    port = free_port()
    with Catcher(f"http://127.0.0.1:{port}/callback") as catcher:
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
        with pytest.raises(TransportError, match="nobody came back"):
            catcher.wait(timeout_s=0.2)


@pytest.mark.parametrize(
    "uri", ["https://tpp.example/callback", "https://127.0.0.1/callback", "http://10.0.0.1:80/"]
)
def test_only_loopback_with_a_port_is_caught(uri: str) -> None:
    with pytest.raises(ConfigError, match="127"):
        Catcher(uri)


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        uri = f"http://127.0.0.1:{listener.getsockname()[1]}/callback"
        with pytest.raises(ConfigError, match="taken"):
            Catcher(uri)


def test_an_unusable_certificate_is_a_matter_of_configuration() -> None:
    with pytest.raises(ConfigError, match="not usable PEM"):
        Catcher(f"https://127.0.0.1:{free_port()}/callback", certificate_pem=b"junk")
