"""DPoP: proof of possession of a key, at the level of the application.

Each request carries a fresh proof over its method and URL; a server may ask for a nonce of its own,
which is remembered for each origin and sent along from then on.

Source: RFC 9449.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from op_openbanking.errors import ConfigError, ProtocolViolation
from op_openbanking.flow import Clock, Entropy, Flow, Request, Response, fetch
from op_openbanking.jose.hashes import sha256_base64url
from op_openbanking.jose.jwk import JWK
from op_openbanking.signing.base import AsyncSigner, Signer

from .answers import error_members
from .pkce import fresh_text
from .signed import require_fapi_signer, signed_jwt

_MAX_NONCES: Final = 64
_MAX_NONCE_CHARS: Final = 1024
_ASKS_FOR_NONCE: Final = frozenset({400, 401})


@dataclass(frozen=True, slots=True)
class DPoPKey:
    """A key that tokens are bound to.

    Attributes:
        signer: Holds the private part. PS256 or ES256.
        jwk: The public part, sent inside each proof.
    """

    signer: Signer | AsyncSigner
    jwk: JWK
    _nonces: OrderedDict[str, str] = field(default_factory=OrderedDict, repr=False, compare=False)

    def __post_init__(self) -> None:
        require_fapi_signer(self.signer)
        if not self.jwk.fits(self.signer.alg):
            raise ConfigError(f"the DPoP key is not for {self.signer.alg}")

    @property
    def thumbprint(self) -> str:
        """RFC 7638 thumbprint of the key: the `jkt` of a bound token."""
        return self.jwk.thumbprint()

    def proof(
        self,
        *,
        method: str,
        url: str,
        now_s: float,
        entropy: Entropy,
        access_token: str | None = None,
    ) -> Flow[str]:
        """A fresh proof for one request.

        Args:
            method: Its method.
            url: Its URL; query and fragment are left out.
            now_s: Seconds since 1970.
            entropy: For `jti`.
            access_token: The token it carries, bound in by `ath`.
        """
        claims: dict[str, object] = {
            "jti": fresh_text(entropy),
            "htm": method,
            "htu": urlunsplit((*urlsplit(url)[:3], "", "")),
            "iat": int(now_s),
        }
        if access_token is not None:
            claims["ath"] = sha256_base64url(access_token.encode("ascii"))
        nonce = self._nonces.get(_origin(url))
        if nonce is not None:
            claims["nonce"] = nonce
        header = {"typ": "dpop+jwt", "jwk": self.jwk.required_members()}
        return (yield from signed_jwt(claims, self.signer, header=header, names_key=False))

    def remember_nonce(self, url: str, response: Response) -> bool:
        """Keep the nonce of an answer; whether there was one.

        Raises:
            ProtocolViolation: It is not a short printable text.
        """
        nonce = response.header("dpop-nonce")
        if nonce is None:
            return False
        if len(nonce) > _MAX_NONCE_CHARS or not nonce.isascii() or not nonce.isprintable():
            raise ProtocolViolation("DPoP-Nonce is not a short text", section="RFC 9449 8.1")
        self._nonces[_origin(url)] = nonce
        self._nonces.move_to_end(_origin(url))
        while len(self._nonces) > _MAX_NONCES:
            self._nonces.popitem(last=False)
        return True


def with_proof(
    key: DPoPKey,
    make: Callable[[], Flow[Request]],
    *,
    clock: Clock,
    entropy: Entropy,
    access_token: str | None = None,
) -> Flow[Response]:
    """Send a request with a proof; once more, made anew, if the server asks for a nonce.

    A server that asks for a nonce has not acted on the request (RFC 9449 section 8), so the second
    attempt repeats nothing.

    Args:
        key: The key.
        make: Makes the request without proof; a client assertion inside must be fresh each time.
        clock: Seconds since 1970.
        entropy: For `jti`.
        access_token: The token that the request carries.
    """
    asked_again = False
    while True:
        request = yield from make()
        proof = yield from key.proof(
            method=request.method,
            url=request.url,
            now_s=clock(),
            entropy=entropy,
            access_token=access_token,
        )
        response = yield from fetch(with_header(request, "dpop", proof))
        fresh = key.remember_nonce(request.url, response)
        if asked_again or not fresh or not _wants_nonce(response):
            return response
        asked_again = True


def with_header(request: Request, name: str, value: str) -> Request:
    """The same request with one more header."""
    return replace(request, headers=(*request.headers, (name, value)))


def _wants_nonce(response: Response) -> bool:
    if response.status not in _ASKS_FOR_NONCE:
        return False
    challenge = response.header("www-authenticate") or ""
    return error_members(response)[0] == "use_dpop_nonce" or 'error="use_dpop_nonce"' in challenge


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
