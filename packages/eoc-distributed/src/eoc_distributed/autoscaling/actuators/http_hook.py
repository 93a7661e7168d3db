"""Posts the number of workers to a URL, as JSON: `{"workers": 3}`.

Any 2xx answer means that it was taken. Redirects are not followed: a POST that is redirected
arrives as something else.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import ClassVar

from eoc_distributed.errors import ActuatorFailed, ConfigError

TIMEOUT_S = 10.0
_SUCCESS = range(200, 300)


class HTTPHook:
    """Posts to a URL.

    Args:
        url: http or https, with a host and without a password.
        timeout_s: Longest wait for each part of the answer, s.

    Raises:
        ConfigError: It is no such URL.
    """

    name: ClassVar[str] = "http-hook"

    def __init__(self, url: str, *, timeout_s: float = TIMEOUT_S) -> None:
        parts = _parse(url)
        if parts is None:
            raise ConfigError("actuator http-hook", f"{url!r} is not an http or https URL")
        if "@" in parts.netloc:
            raise ConfigError("actuator http-hook", f"a URL of {parts.hostname} with a password")
        self._url = url
        # What is told to others carries no key that may be in the query.
        self._shown = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self._timeout_s = timeout_s
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(),
            urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
        ):
            self._opener.add_handler(handler)

    async def scale_to(self, workers: int) -> None:
        await asyncio.to_thread(self._post, json.dumps({"workers": workers}).encode())

    def _post(self, body: bytes) -> None:
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            self._url, data=body, headers={"Content-Type": "application/json"}, method="POST"
        )
        try:
            with self._opener.open(request, timeout=self._timeout_s) as response:
                status = response.status
        except urllib.error.HTTPError as error:
            status = error.code
            error.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ActuatorFailed(self.name, f"{self._shown}: {error}") from error
        if status not in _SUCCESS:
            raise ActuatorFailed(self.name, f"{self._shown}: answered {status}")


def _parse(url: str) -> urllib.parse.SplitResult | None:
    """Return the parts of an http or https URL with a host; None if it is none."""
    try:
        parts = urllib.parse.urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None
