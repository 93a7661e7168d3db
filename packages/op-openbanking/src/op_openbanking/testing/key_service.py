"""What the key services for tests have in common: keys, and how a digest is signed.

A service is started with named private keys and a `SignDigest`. The honest one does what the real
service does; tests hand in others, to see a signature of the wrong kind refused.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from op_openbanking.jose.algorithms import Algorithm, PrivateKey

SignDigest: TypeAlias = Callable[[PrivateKey, Algorithm, bytes], bytes]
"""Signs a digest; ECDSA comes out as DER."""
Answer: TypeAlias = tuple[int, dict[str, str], dict[str, Any]]
"""Status, header lines, JSON body."""
Handle: TypeAlias = Callable[[str, str, dict[str, str], dict[str, Any]], Answer]
"""Method, path, header lines with names in lower case, JSON body."""

_MAX_BODY_BYTES = 1 << 20


def sign_digest(key: PrivateKey, alg: Algorithm, digest: bytes, *, salt_bytes: int = 32) -> bytes:
    """Sign a digest as a key service does."""
    hashed = Prehashed(hashes.SHA512() if alg is Algorithm.RS512 else hashes.SHA256())
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return key.sign(digest, ec.ECDSA(hashed))
    if alg is Algorithm.PS256:
        pss = padding.PSS(padding.MGF1(hashes.SHA256()), salt_bytes)
        return key.sign(digest, pss, hashed)
    return key.sign(digest, padding.PKCS1v15(), hashed)


def public_pem(key: PrivateKey) -> str:
    """The public key as PEM text."""
    form = PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(Encoding.PEM, form).decode("ascii")


def is_rsa(key: PrivateKey) -> bool:
    """Whether a key is RSA."""
    return isinstance(key, rsa.RSAPrivateKey)


class JSONServer:
    """A server of JSON over HTTP on a port of loopback that the system chooses.

    Args:
        handle: Makes the answer to each request; called in the thread of the request.
    """

    def __init__(self, handle: Handle) -> None:
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(handle))
        self._thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        """The port chosen."""
        return self.http.server_port

    def start(self) -> None:
        """Begin to serve."""
        self._thread.start()

    def close(self) -> None:
        """Stop serving, and wait until that is done."""
        self.http.shutdown()
        self._thread.join()
        self.http.server_close()


def _handler(handle: Handle) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            size = min(int(self.headers.get("Content-Length") or 0), _MAX_BODY_BYTES)
            body = json.loads(self.rfile.read(size)) if size else {}
            lines = {name.lower(): value for name, value in self.headers.items()}
            status, headers, answer = handle(self.command, self.path, lines, body)
            octets = json.dumps(answer).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(octets)))
            self.end_headers()
            self.wfile.write(octets)

        do_GET = do_POST = do_PUT = _serve  # noqa: N815 (names of http.server)

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    return Handler
