"""Compact JSON Web Signatures.

Signing takes the algorithm and the kid from the signer; verifying takes the algorithms from the
caller and the key from a trusted set. The header of a message decides nothing but which of our
keys to try: `jku`, `jwk`, `x5u` and `x5c` in it are never followed.

`prepare` and `SigningInput.attach` are the two halves of signing for callers who await the
signature themselves.

Source: RFC 7515; RFC 8725; FAPI 1.0 Advanced section 8.6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import msgspec

from op_openbanking.errors import (
    ConfigError,
    OpenBankingError,
    ProtocolViolation,
    SignatureInvalid,
    quoted,
)
from op_openbanking.signing.base import AsyncSigner, Signer
from op_openbanking.signing.checks import checked

from . import base64url
from .algorithms import (
    FAPI_ALGORITHMS,
    JWS_ALGORITHMS,
    Algorithm,
    PublicKey,
    permitted,
    require,
)
from .jwk import JWK, JWKSet
from .strict_json import encode_object, parse_object

MAX_TOKEN_CHARS: Final = 128 * 1024
"""Ours: longest compact JWS read. Software statements inside registrations reach 10 KiB."""
MAX_HEADER_BYTES: Final = 8 * 1024
"""Ours: longest protected header read."""
_MAX_MEMO = 256  # ours: header parts remembered for one key set
_ES256_BYTES = 64


class VerifiedJWS(msgspec.Struct, frozen=True):
    """A signature that holds, and what it covers.

    Attributes:
        header: The protected header; read-only.
        payload: The octets signed.
        key: The key that verified it.
    """

    header: Mapping[str, object]
    payload: bytes
    key: JWK

    def __repr__(self) -> str:
        return f"VerifiedJWS(header={dict(self.header)!r}, payload=<{len(self.payload)} bytes>)"


class SigningInput(msgspec.Struct, frozen=True):
    """The octets to sign, and how the signature is attached.

    Attributes:
        octets: Hand these to a signer.
        alg: The algorithm the header names.
        detached: Whether the payload stays out of the result.
    """

    octets: bytes
    alg: Algorithm
    detached: bool = False

    def attach(self, signature: bytes, *, public_key: PublicKey | None = None) -> str:
        """The JWS, compact or with an empty middle part.

        ES256 signatures may come as DER. With `public_key` the signature is verified first.

        Raises:
            SignerMisbehaved: The octets are not a signature of this input.
        """
        form = checked(signature, self.alg, self.octets, public_key)
        if not self.detached:
            return (self.octets + b"." + base64url.encode(form)).decode("ascii")
        header = self.octets[: self.octets.index(b".")]
        return (header + b".." + base64url.encode(form)).decode("ascii")

    def __repr__(self) -> str:
        return f"SigningInput(alg={self.alg.value!r}, octets=<{len(self.octets)} bytes>)"


class ProtectedHeader(msgspec.Struct, frozen=True):
    """A protected header, parsed.

    Attributes:
        members: All of it; read-only.
        alg: What it says, whatever that is worth.
        kid: Name of the key, or None.
    """

    members: Mapping[str, object]
    alg: object
    kid: str | None


def prepare(
    payload: bytes,
    *,
    alg: str,
    kid: str | None,
    header: Mapping[str, object] | None = None,
) -> SigningInput:
    """Build the signing input of a compact JWS.

    Args:
        payload: The octets to sign.
        alg: Algorithm of the signer.
        kid: Name of its key, or None.
        header: Further protected members, for example `typ`.

    Raises:
        ConfigError: `alg` is not for JWS, or `header` tries to set alg, kid to another value, b64
            or crit without their meaning (see `detached`).
    """
    return SigningInput(_octets(payload, alg, kid, header), signing_algorithm(alg))


def sign_compact(
    payload: bytes, signer: Signer, *, header: Mapping[str, object] | None = None
) -> str:
    """Sign octets as a compact JWS.

    Args:
        payload: The octets to sign.
        signer: Holds the key; `alg` and `kid` of the header are its own.
        header: Further protected members, for example `typ`.

    Raises:
        ConfigError: See `prepare`.
        SignerMisbehaved: The signer returned something else.
        SignerUnavailable: A remote signer did not answer.
    """
    alg = signing_algorithm(signer.alg)
    octets = _octets(payload, alg, signer.kid, header)
    public_key = getattr(signer, "public_key", None)
    form = checked(signer.sign(octets), alg, octets, public_key)
    return (octets + b"." + base64url.encode(form)).decode("ascii")


async def asign_compact(
    payload: bytes, signer: AsyncSigner, *, header: Mapping[str, object] | None = None
) -> str:
    """`sign_compact` with a signer that is awaited."""
    ready = prepare(payload, alg=signer.alg, kid=signer.kid, header=header)
    return ready.attach(
        await signer.sign(ready.octets), public_key=getattr(signer, "public_key", None)
    )


def verify_compact(
    token: str | bytes,
    keys: JWK | JWKSet,
    *,
    algorithms: Collection[str] = FAPI_ALGORITHMS,
) -> VerifiedJWS:
    """Verify a compact JWS.

    Args:
        token: Three parts of base64url; at most 128 Ki letters.
        keys: The key or keys trusted for the expected sender.
        algorithms: What we accept: by default PS256 and ES256.

    Raises:
        SignatureInvalid: Form, algorithm, crit or signature; `check` says which.
        KeyNotFound: No trusted key fits.
        ConfigError: `algorithms` is empty or names what is never accepted.
    """
    accepted = FAPI_ALGORITHMS if algorithms is FAPI_ALGORITHMS else permitted(algorithms)
    octets, head, middle, end = split(token)
    trusted = keys if isinstance(keys, JWKSet) else JWKSet((keys,))
    chosen: _Selection = trusted.memo.get((head, accepted)) or _select(
        trusted, head, accepted, pinned=trusted is not keys
    )
    try:
        payload = base64url.decode(middle, "the payload")
        signature = base64url.decode(end, "the signature")
    except ProtocolViolation as error:
        raise malformed(error) from error
    key = chosen.keys[0]
    if not key.verifies(chosen.alg, signature, octets):
        key = verifying_key(chosen.keys[1:], chosen.alg, signature, octets)
    return VerifiedJWS(chosen.members, payload, key)


def peek(token: str | bytes) -> tuple[Mapping[str, object], bytes]:
    """Header and payload of a compact JWS that nobody has verified.

    Only to find which pending request, issuer or kid a message is about.

    Raises:
        SignatureInvalid: The form is wrong.
    """
    _, head, middle, _ = split(token)
    try:
        return parse_header(head).members, base64url.decode(middle, "the payload")
    except ProtocolViolation as error:
        raise malformed(error) from error


def protected_header(
    *,
    alg: str,
    kid: str | None,
    header: Mapping[str, object] | None,
    critical: tuple[str, ...] = (),
) -> bytes:
    """JSON of a protected header: alg, kid, the further members in their order, crit.

    Raises:
        ConfigError: See `prepare`; or a critical name is not a member.
    """
    members: dict[str, object] = {"alg": alg} if kid is None else {"alg": alg, "kid": kid}
    if header:
        for name in ("alg", "kid"):
            if name in header and header[name] != members.get(name):
                raise ConfigError(f"the header member {name} belongs to the signer")
        if "crit" in header or ("b64" in header and "b64" not in critical):
            raise ConfigError("crit and b64 are set by the detached functions alone")
        members.update(header)
    if critical:
        if not members.keys() >= set(critical):
            raise ConfigError("a critical name is not a member of the header")
        members["crit"] = critical
    return encode_object(members)


def _octets(
    payload: bytes, alg: str, kid: str | None, header: Mapping[str, object] | None
) -> bytes:
    if not header:
        return _plain_head(alg, kid) + base64url.encode(payload)
    head = base64url.encode(protected_header(alg=alg, kid=kid, header=header))
    return head + b"." + base64url.encode(payload)


@lru_cache(maxsize=64)
def _plain_head(alg: str, kid: str | None) -> bytes:
    """The header part of a signer without further members, and the dot behind it."""
    return base64url.encode(protected_header(alg=alg, kid=kid, header=None)) + b"."


def split(token: str | bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """What is signed in a compact JWS, then its three parts.

    A fourth part would end up inside the payload, whose base64url has no dot.

    Raises:
        SignatureInvalid: Too long, not ASCII, or fewer than three parts.
    """
    if len(token) > MAX_TOKEN_CHARS:
        raise malformed(f"longer than {MAX_TOKEN_CHARS} letters")
    try:
        text = token.encode("ascii") if isinstance(token, str) else token
    except UnicodeEncodeError as error:
        raise malformed("letters outside ASCII") from error
    octets, last_dot, signature = text.rpartition(b".")
    head, dot, payload = octets.partition(b".")
    if not last_dot or not dot:
        raise malformed("a compact JWS has three parts")
    return octets, head, payload, signature


@lru_cache(maxsize=256)
def parse_header(part: bytes) -> ProtectedHeader:
    """Parse a protected header; the last 256 are remembered.

    Raises:
        SignatureInvalid: Not base64url of one strict JSON object of at most 8 KiB, or a kid or typ
            that is not text.
    """
    try:
        octets = base64url.decode(part, "the header")
        header = parse_object(octets, what="the header", limit_bytes=MAX_HEADER_BYTES)
    except ProtocolViolation as error:
        raise malformed(error) from error
    for name in ("kid", "typ", "cty"):
        if name in header and not isinstance(header[name], str):
            raise malformed(f"header member {name} is not text")
    kid = header.get("kid")
    return ProtectedHeader(
        MappingProxyType(header), header.get("alg"), kid if isinstance(kid, str) else None
    )


def refuse_unknown_critical(header: Mapping[str, object], *, understood: frozenset[str]) -> None:
    """Check `crit`: a list of understood names, each once, each present, none of the base ones.

    Raises:
        SignatureInvalid: With check `jws-crit`.
    """
    if "crit" not in header:
        return
    names = header["crit"]
    problem = ""
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        problem = "crit is not a list of names"
    elif len(set(names)) != len(names):
        problem = "crit has a name twice"
    else:
        unknown = [name for name in names if name not in understood]
        absent = [name for name in names if name not in header]
        if unknown:
            problem = f"crit names {quoted(unknown[0])}, which is not understood here"
        elif absent:
            problem = f"crit names {quoted(absent[0])}, which the header lacks"
    if problem:
        raise SignatureInvalid(problem, check="jws-crit", section="RFC 7515 4.1.11")


class _Selection(msgspec.Struct, frozen=True):
    """What a header part comes to: its members, its algorithm, and the keys to try."""

    members: Mapping[str, object]
    alg: str
    keys: tuple[JWK, ...]


def _select(
    trusted: JWKSet, head: bytes, accepted: frozenset[Algorithm], *, pinned: bool
) -> _Selection:
    header = parse_header(head)
    alg = require(header.alg, accepted)
    refuse_unknown_critical(header.members, understood=frozenset())
    if header.members.get("b64", True) is not True:
        raise SignatureInvalid(
            "b64 has no place in a compact JWS", check="jws-b64", section="RFC 7797 5.2, 6"
        )
    chosen = _Selection(header.members, alg, fitting_keys(trusted, alg, header.kid, pinned=pinned))
    if len(trusted.memo) >= _MAX_MEMO:
        trusted.memo.clear()
    trusted.memo[head, accepted] = chosen
    return chosen


def fitting_keys(trusted: JWKSet, alg: str, kid: str | None, *, pinned: bool) -> tuple[JWK, ...]:
    """The keys to try. `pinned`: the caller handed in one key, which may have no name.

    Raises:
        KeyNotFound: No key fits alg and kid.
    """
    if pinned and trusted.keys[0].kid is None:
        kid = None
    return trusted.fitting(alg, kid)


def verifying_key(candidates: tuple[JWK, ...], alg: str, signature: bytes, octets: bytes) -> JWK:
    """The key under which the signature holds.

    Raises:
        SignatureInvalid: None; or the signature is not in its JOSE form.
    """
    if alg == "ES256" and len(signature) != _ES256_BYTES:
        raise SignatureInvalid(
            f"an ES256 signature has 64 octets, this one {len(signature)}",
            check="jws-signature-form",
            section="RFC 7518 3.4 (r and s, no DER)",
        )
    for key in candidates:
        if key.verifies(alg, signature, octets):
            return key
    raise SignatureInvalid(
        "the signature does not hold", check="jws-signature", section="RFC 7515 5.2"
    )


def malformed(problem: OpenBankingError | str) -> SignatureInvalid:
    """The error for a message that is no JWS in the required form."""
    return SignatureInvalid(
        f"not a compact JWS: {problem}", check="jws-form", section="RFC 7515 7.1"
    )


def signing_algorithm(alg: str) -> Algorithm:
    """The algorithm of a signer, if a JWS may be made with it.

    Raises:
        ConfigError: For example `RS512` or `HS256`.
    """
    if isinstance(alg, Algorithm) and alg is not Algorithm.RS512:
        return alg
    if alg not in JWS_ALGORITHMS:
        raise ConfigError(f"a signer with alg {quoted(alg)} cannot make a JWS")
    return Algorithm(alg)
