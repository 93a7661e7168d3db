"""Edges that talk HTTP: one file for each client library.

| file       | class                                     | extra       |
|------------|-------------------------------------------|-------------|
| `httpx2`   | `HTTPX2Transport`, `AsyncHTTPX2Transport` | `[http]`    |
| `httpx`    | `HTTPXTransport`, `AsyncHTTPXTransport`   | `[httpx]`   |
| `aiohttp`  | `AiohttpTransport`                        | `[aiohttp]` |

Each satisfies `flow.Transport` or `flow.AsyncTransport`, takes `settings.TransportSettings`, and
passes the same contract test. To add one: write the file, send `settings.outgoing_headers` and the
body untouched, hand the raw chunks to `content.Body`, translate the library's exceptions by
`settings.failure`, and add the class to the contract test. `tls` makes the contexts, `retry`
decides and `retrying` repeats.
"""

from __future__ import annotations
