"""What every registered actuator must do, and what each does on its own."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from eoc_distributed.autoscaling.actuators import REGISTRY, Actuator, Command, HTTPHook, create
from eoc_distributed.errors import ActuatorFailed, ConfigError, UnknownPlugin


class Hook(ThreadingHTTPServer):
    """Answers every POST with a status, and keeps the bodies."""

    daemon_threads = True

    def __init__(self) -> None:
        self.status = 200
        self.bodies: list[object] = []
        super().__init__(("127.0.0.1", 0), Answer)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/scale"


class Answer(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Hook)
        length = int(self.headers["Content-Length"])
        self.server.bodies.append(json.loads(self.rfile.read(length)))
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        if self.server.status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def hook() -> Iterator[Hook]:
    with Hook() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def python(code: str, *arguments: str, timeout_s: float = 60.0) -> Command:
    return Command([sys.executable, "-c", code, *arguments], timeout_s=timeout_s)


@pytest.fixture(params=sorted(REGISTRY))
def failing(request: pytest.FixtureRequest, hook: Hook) -> Actuator:
    hook.status = 500
    arguments = {
        "command": f"{sys.executable} -c 'import sys; sys.exit(3)' {{workers}}",
        "http-hook": hook.url,
    }
    return create(request.param, arguments[request.param])


async def test_a_refusal_is_told(failing: Actuator) -> None:
    with pytest.raises(ActuatorFailed) as failed:
        await failing.scale_to(2)
    assert failed.value.actuator == failing.name
    assert failed.value.retryable


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_nonsense_is_refused_when_it_is_configured(name: str) -> None:
    with pytest.raises(ConfigError):
        create(name, "")


def test_unknown_actuators_are_refused_with_the_known_names() -> None:
    with pytest.raises(UnknownPlugin, match="http-hook"):
        create("wish", "x")


async def test_a_command_is_run_with_the_number_and_without_a_shell(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    code = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(' '.join(sys.argv[2:]))"
    await python(code, str(seen), "--replicas={workers}", "$HOME; rm").scale_to(7)
    assert seen.read_text() == "--replicas=7 $HOME; rm"


async def test_a_failed_command_tells_its_last_words_and_not_all_of_them() -> None:
    code = "import sys; sys.stderr.write('x' * 200_000 + ' no such deployment'); sys.exit(4)"
    with pytest.raises(ActuatorFailed, match=r"exit status 4: x+ no such deployment") as failed:
        await python(code, "{workers}").scale_to(1)
    assert len(str(failed.value)) < 1000


async def test_a_command_that_does_not_end_is_killed() -> None:
    code = "import time; time.sleep(600)"
    with pytest.raises(ActuatorFailed, match=r"not done after 0\.2 s"):
        await python(code, "{workers}", timeout_s=0.2).scale_to(1)


async def test_a_missing_program_is_told() -> None:
    with pytest.raises(ActuatorFailed, match="no-such-program"):
        await Command(["no-such-program", "{workers}"]).scale_to(1)


@pytest.mark.parametrize("line", ["scale it", "'no end {workers}", "{workers}"])
def test_commands_without_a_place_for_the_number_are_refused(line: str) -> None:
    with pytest.raises(ConfigError, match="actuator command"):
        Command.parse(line)


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_a_hook_is_posted_the_number(hook: Hook, status: int) -> None:
    hook.status = status
    await HTTPHook(hook.url).scale_to(3)
    assert hook.bodies == [{"workers": 3}]


async def test_a_redirect_is_a_refusal(hook: Hook) -> None:
    hook.status = 302
    with pytest.raises(ActuatorFailed, match="answered 302"):
        await HTTPHook(hook.url).scale_to(3)
    assert len(hook.bodies) == 1


async def test_what_is_told_of_a_url_has_no_secrets(hook: Hook) -> None:
    hook.status = 403
    with pytest.raises(ActuatorFailed, match="answered 403") as failed:
        await HTTPHook(hook.url + "?key=secret").scale_to(3)
    assert "secret" not in str(failed.value)
    with pytest.raises(ConfigError, match="with a password") as refused:
        HTTPHook("https://user:secret@127.0.0.1/")
    assert "secret" not in str(refused.value)


async def test_a_hook_that_nobody_serves_is_told(hook: Hook) -> None:
    url = hook.url
    hook.socket.close()
    hook.shutdown()
    with pytest.raises(ActuatorFailed, match=r"127\.0\.0\.1"):
        await HTTPHook(url).scale_to(3)


@pytest.mark.parametrize("url", ["ftp://x/", "http://", "x", "http://a:99999/", "file:///etc"])
def test_urls_that_are_not_http_are_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="http-hook"):
        HTTPHook(url)
