"""Service authentication: short-lived JWTs by which one service calls another for an account.

Signed with the account's signing key, ES256K or ES256. No JOSE library fits: signatures are in the
compact low-S form of atproto over keys of this package, and nothing else of JOSE is used.

Source: reference section 14; vector 21.8.
"""

from __future__ import annotations

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from smart_byte_atproto.crypto import KeyType, PrivateKey, PublicKey
from smart_byte_atproto.errors import BadSignature, NotEncodable
from smart_byte_atproto.syntax import DID, NSID

LIFETIME_S: Final = 60
LEEWAY_S: Final = 10
MAX_LIFETIME_S: Final = 3600
_MAX_CHARACTERS: Final = 4096
_ALGORITHMS: Final = {KeyType.K256: "ES256K", KeyType.P256: "ES256"}
_PARTS: Final = 3


@dataclass(frozen=True, slots=True)
class ServiceClaims:
    """What a token says, once it holds.

    Attributes:
        iss: The account, or a service of it (`did#id`).
        aud: The service that is called.
        exp: When it ends, seconds since 1970.
        lxm: Method that it is for; None in older tokens.
        jti: Its name, once only; None in older tokens.
    """

    iss: str
    aud: str
    exp: int
    lxm: NSID | None
    jti: str | None

    @property
    def account(self) -> DID:
        """The account behind `iss`."""
        return DID(self.iss.partition("#")[0])


class SeenTokens:
    """Names of tokens that have been used, until they end; bounded.

    Args:
        most: Names that are remembered; the oldest goes first.
    """

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._ends: OrderedDict[tuple[str, str], int] = OrderedDict()

    def use(self, iss: str, jti: str, *, exp: int, now_s: float) -> bool:
        """Note a token; return whether this is its first use."""
        while self._ends:
            oldest = next(iter(self._ends))
            if self._ends[oldest] + LEEWAY_S >= now_s and len(self._ends) < self._most:
                break
            del self._ends[oldest]
        if (iss, jti) in self._ends:
            return False
        self._ends[iss, jti] = exp
        return True


def create_service_token(
    key: PrivateKey,
    *,
    iss: str,
    aud: str,
    lxm: str | None,
    now_s: float,
    lifetime_s: int = LIFETIME_S,
    jti: str | None = None,
) -> str:
    """Return a token for a call to another service.

    Args:
        key: Signing key of the account.
        iss: DID of the account.
        aud: DID of the service, with `#id` of the service.
        lxm: NSID of the method.
        now_s: Seconds since 1970.
        lifetime_s: How long it serves, at most an hour.
        jti: Its name; drawn by default.

    Raises:
        NotEncodable: A key that the network does not take, or a lifetime out of range.
    """
    algorithm = _ALGORITHMS.get(key.key_type)
    if algorithm is None:
        raise NotEncodable("service tokens are signed with K-256 or P-256")
    if not 0 < lifetime_s <= MAX_LIFETIME_S:
        raise NotEncodable(f"a lifetime of {lifetime_s} s; 1 to {MAX_LIFETIME_S} are taken")
    claims: dict[str, object] = {
        "iss": iss,
        "aud": aud,
        "exp": int(now_s) + lifetime_s,
        "iat": int(now_s),
    }
    if lxm is not None:
        claims["lxm"] = NSID(lxm)
    claims["jti"] = jti if jti is not None else secrets.token_hex(16)
    head = _encode(json.dumps({"typ": "JWT", "alg": algorithm}, separators=(",", ":")).encode())
    body = _encode(json.dumps(claims, separators=(",", ":")).encode())
    signed = head + b"." + body
    return (signed + b"." + _encode(key.sign(signed))).decode()


def verify_service_token(
    token: str,
    *,
    key_of: Callable[[DID, bool], PublicKey],
    audiences: Collection[str],
    lxm: str,
    now_s: float,
    seen: SeenTokens | None = None,
    needs_method: bool = True,
) -> ServiceClaims:
    """Check a token and return what it says.

    Args:
        token: As it came.
        key_of: Returns the signing key of an account; the flag asks for a fresh one, which is
            wanted once where the signature does not hold.
        audiences: DIDs of this service, with and without `#id`, as far as they are taken.
        lxm: The method that is called.
        now_s: Seconds since 1970.
        seen: Remembers tokens, so that each serves once.
        needs_method: Whether a token without `lxm` is refused.

    Raises:
        BadSignature: `code` says which check: `form`, `algorithm`, `mismatch`, `audience`,
            `expired`, `method` or `replay`.
        ATProtoError: The key cannot be had.
    """
    signed, header, claims, signature = _take_apart(token)
    found = _claims(claims)
    if not any(found.aud == one for one in audiences):
        raise BadSignature("the token is for another service", code="audience")
    issued = claims.get("iat")
    if found.exp + LEEWAY_S < now_s or found.exp > now_s + MAX_LIFETIME_S + LEEWAY_S:
        raise BadSignature("the token has ended, or serves too long", code="expired")
    if isinstance(issued, int) and issued > now_s + LEEWAY_S:
        raise BadSignature("the token is of the future", code="expired")
    if (found.lxm is None and needs_method) or (found.lxm is not None and found.lxm != lxm):
        raise BadSignature("the token is for another method", code="method")
    _check_signature(signed, signature, header, found.account, key_of)
    if seen is not None and (
        found.jti is None or not seen.use(found.iss, found.jti, exp=found.exp, now_s=now_s)
    ):
        raise BadSignature("the token has been used, or has no name", code="replay")
    return found


def _check_signature(
    signed: bytes,
    signature: bytes,
    header: dict[str, object],
    account: DID,
    key_of: Callable[[DID, bool], PublicKey],
) -> None:
    for fresh in (False, True):
        key = key_of(account, fresh)
        if _ALGORITHMS.get(key.key_type) != header.get("alg"):
            problem = BadSignature("the key is for another algorithm", code="algorithm")
        else:
            try:
                key.verify(signed, signature)
            except BadSignature as bad:
                problem = BadSignature(bad.reason, code="mismatch")
            else:
                return
        if fresh:
            raise problem


def _take_apart(token: str) -> tuple[bytes, dict[str, object], dict[str, object], bytes]:
    parts = token.split(".")
    if len(token) > _MAX_CHARACTERS or len(parts) != _PARTS or not token.isascii():
        raise BadSignature("not a token in three parts", code="form")
    header, claims = (_object(part) for part in parts[:2])
    if header.get("alg") not in _ALGORITHMS.values() or "crit" in header:
        raise BadSignature("an algorithm that is not taken", code="algorithm")
    signed = f"{parts[0]}.{parts[1]}".encode()
    return signed, header, claims, _decode(parts[2])


def _claims(claims: dict[str, object]) -> ServiceClaims:
    iss, aud, exp = claims.get("iss"), claims.get("aud"), claims.get("exp")
    lxm, jti = claims.get("lxm"), claims.get("jti")
    try:
        if (
            not isinstance(iss, str)
            or not isinstance(aud, str)
            or type(exp) is not int
            or not isinstance(lxm, str | None)
            or not isinstance(jti, str | None)
        ):
            raise BadSignature("claims are missing or of another type", code="form")
        DID(iss.partition("#")[0])
        return ServiceClaims(iss, aud, exp, None if lxm is None else NSID(lxm), jti)
    except ValueError as bad:
        raise BadSignature("iss or lxm is no identifier", code="form") from bad


def _object(part: str) -> dict[str, object]:
    try:
        value = json.loads(_decode(part))
    except (ValueError, RecursionError) as bad:
        raise BadSignature("a part that is no JSON", code="form") from bad
    if not isinstance(value, dict):
        raise BadSignature("a part that is no map", code="form")
    return value


def _encode(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def _decode(text: str) -> bytes:
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (Base64Error, ValueError) as bad:
        raise BadSignature("not base64url", code="form") from bad
    if _encode(data) != text.encode():
        raise BadSignature("not base64url in its one form", code="form")
    return data
