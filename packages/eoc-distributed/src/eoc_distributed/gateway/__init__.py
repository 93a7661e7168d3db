"""The HTTP data plane and the OpenAI API in front of a cluster.

`handler.Gateway` is free of transport: an `HTTPRequest` in, an `HTTPResponse` out. `server`
holds it over TCP, `asgi` inside any ASGI server.
"""

from __future__ import annotations

from .handler import Gateway
from .server import Server

__all__ = ["Gateway", "Server"]
