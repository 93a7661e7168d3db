"""HTTP message signatures as Berlin Group and STET profile them.

The signature covers chosen header lines, one of them the digest of the body. An `HTTPProfile` says
which lines must be covered; signing adds what is missing, verifying refuses a signature that covers
less. The algorithm comes from the signer and from the caller, never from the `algorithm` parameter.

Source: draft-cavage-http-signatures-10 sections 2 and 4; NextGenPSD2 XS2A section 12;
STET PSD2 API part 1, section on message signing.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64encode
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

from op_openbanking.errors import ConfigError, SignatureInvalid, quoted
from op_openbanking.jose.algorithms import Algorithm, PublicKey, is_signature

from .base import AsyncSigner, Signer
from .checks import checked
from .digest import DigestAlgorithm, digest, verify_digest

Headers = Sequence[tuple[str, str]]
"""Header lines in order; names in any case, a name may occur several times."""

REQUEST_TARGET: Final = "(request-target)"
_DRAFT: Final = "draft-cavage-http-signatures-10"
_MAX_CHARS: Final = 8 * 1024
_MAX_NAMES: Final = 64
_NAMES = {
    Algorithm.RS256: ("rsa-sha256",),
    Algorithm.RS512: ("rsa-sha512",),
    Algorithm.PS256: ("hs2019", "rsa-pss-sha256"),
    Algorithm.ES256: ("ecdsa-sha256", "hs2019"),
}
_PARAMETER = re.compile(
    r'\s*([A-Za-z][A-Za-z0-9_-]{0,31})=(?:"((?:[^"\\]|\\.)*)"|([0-9]{1,20}))\s*'
)
_HEADER_NAME = re.compile(r"[a-z0-9!#$%&'*+.^_`|~-]{1,64}")
_TARGET = re.compile(r"/[\x21-\x7e]*")


@dataclass(frozen=True, slots=True)
class HTTPProfile:
    """Which lines a signature must cover, in signing order.

    Attributes:
        name: Of the standard.
        section: Where it says so.
        always: Covered always; must be there.
        with_body: Covered where there is a body; must be there then.
        if_present: Covered where the message has them.
        digest_without_body: Whether `Digest` is sent, and covered, for an empty body too.
        digest_algorithm: Hash of the body.
    """

    name: str
    section: str
    always: tuple[str, ...]
    with_body: tuple[str, ...] = ()
    if_present: tuple[str, ...] = ()
    digest_without_body: bool = False
    digest_algorithm: DigestAlgorithm = DigestAlgorithm.SHA_256

    def covered(self, headers: Headers, *, has_body: bool) -> tuple[str, ...]:
        """Names to cover for a message with these header lines."""
        present = {name.lower() for name, _ in headers}
        names = self.always + (self.with_body if has_body else ())
        return names + tuple(
            name for name in self.if_present if name in present and name not in names
        )


BERLIN_GROUP: Final = HTTPProfile(
    name="berlin-group",
    section="NextGenPSD2 12.2",
    always=("digest", "x-request-id"),
    if_present=("psu-id", "psu-corporate-id", "tpp-redirect-uri", "date"),
    digest_without_body=True,
)
STET: Final = HTTPProfile(
    name="stet",
    section="STET PSD2 API, message signing",
    always=(REQUEST_TARGET, "x-request-id"),
    with_body=("digest", "content-type"),
    if_present=(
        "psu-ip-address",
        "psu-ip-port",
        "psu-http-method",
        "psu-date",
        "psu-user-agent",
        "psu-referer",
        "psu-accept",
        "psu-accept-charset",
        "psu-accept-encoding",
        "psu-accept-language",
        "psu-geo-location",
        "psu-device-id",
    ),
)


@dataclass(frozen=True, slots=True)
class SignatureParameters:
    """The `Signature` header, parsed.

    Attributes:
        key_id: Names the key; see `key_id.py` for the forms.
        algorithm: What the sender says; never used to choose.
        names: Covered lines, lower-case, in signing order.
        signature: Octets.
    """

    key_id: str
    algorithm: str
    names: tuple[str, ...]
    signature: bytes = field(repr=False)

    @classmethod
    def parse(cls, value: str) -> SignatureParameters:
        """Read the header, at most 8 KiB and 64 covered lines.

        Raises:
            SignatureInvalid: With check `http-signature-form`.
        """
        found = _parameters(value)
        try:
            signature = binascii.a2b_base64(found["signature"].encode("ascii"), strict_mode=True)
            key_id, listed = found["keyId"], found.get("headers", "date")
        except KeyError as error:
            raise _form(f"parameter {error.args[0]} is missing") from error
        except ValueError as error:
            raise _form("the signature is not standard base64") from error
        names = tuple(listed.split(" "))
        if len(names) > _MAX_NAMES or len(set(names)) != len(names):
            raise _form("a covered line is listed twice, or too many are")
        for name in names:
            if name != REQUEST_TARGET and not _HEADER_NAME.fullmatch(name):
                raise _form(f"{quoted(name)} is no lower-case header name")
        return cls(key_id, found.get("algorithm", ""), names, signature)

    def __str__(self) -> str:
        key_id = self.key_id.replace("\\", "\\\\").replace('"', '\\"')
        return (
            f'keyId="{key_id}",algorithm="{self.algorithm}",headers="{" ".join(self.names)}",'
            f'signature="{b64encode(self.signature).decode("ascii")}"'
        )


@dataclass(frozen=True, slots=True)
class UnsignedMessage:
    """What has to be signed, and the header lines that come with it.

    Attributes:
        octets: The signing string; hand it to a signer.
        key_id: Goes into the parameter `keyId`.
        names: Covered lines in order.
        digest: Value of the `Digest` header to send, or None.
        alg: Algorithm of the signer.
    """

    octets: bytes = field(repr=False)
    key_id: str
    names: tuple[str, ...]
    digest: str | None
    alg: Algorithm

    def attach(
        self, signature: bytes, *, public_key: PublicKey | None = None
    ) -> tuple[tuple[str, str], ...]:
        """The header lines to add to the message: `Digest` where it is needed, and `Signature`.

        Raises:
            SignerMisbehaved: The octets are not a signature of this message.
        """
        form = checked(signature, alg=self.alg, octets=self.octets, public_key=public_key)
        parameters = SignatureParameters(self.key_id, _NAMES[self.alg][0], self.names, form)
        lines = () if self.digest is None else (("Digest", self.digest),)
        return (*lines, ("Signature", str(parameters)))


def prepare_message(
    profile: HTTPProfile,
    *,
    method: str,
    target: str,
    headers: Headers,
    body: bytes,
    alg: str,
    key_id: str,
) -> UnsignedMessage:
    """Build the signing string of a message.

    Args:
        profile: Which lines must be covered.
        method: HTTP method.
        target: Path with query, as it will be sent.
        headers: The lines that will be sent, without `Digest` and `Signature`.
        body: Exactly the octets that will be sent; empty for none.
        alg: Algorithm of the signer: RS256 for `rsa-sha256`.
        key_id: See `key_id.py`.

    Raises:
        ConfigError: A line that must be covered is missing, a line is not one line, or `alg` is
            not known.
    """
    if alg not in frozenset(Algorithm):
        raise ConfigError(f"a signer with alg {quoted(alg)} cannot sign HTTP messages")
    if any(name.lower() in ("digest", "signature") for name, _ in headers):
        raise ConfigError("Digest and Signature are made here: leave them out")
    value = None
    if body or profile.digest_without_body:
        value = digest(body, algorithm=profile.digest_algorithm)
        headers = [("digest", value), *headers]
    names = profile.covered(headers, has_body=bool(body))
    try:
        octets = signing_string(names, method=method, target=target, headers=headers)
    except SignatureInvalid as error:
        raise ConfigError(f"cannot sign the message: {error}") from error
    return UnsignedMessage(octets, key_id, names, value, Algorithm(alg))


def sign_message(
    profile: HTTPProfile,
    signer: Signer,
    *,
    method: str,
    target: str,
    headers: Headers,
    body: bytes,
    key_id: str,
) -> tuple[tuple[str, str], ...]:
    """The header lines to add to a message; see `prepare_message` and `UnsignedMessage.attach`."""
    ready = prepare_message(
        profile,
        method=method,
        target=target,
        headers=headers,
        body=body,
        alg=signer.alg,
        key_id=key_id,
    )
    return ready.attach(signer.sign(ready.octets), public_key=getattr(signer, "public_key", None))


async def asign_message(
    profile: HTTPProfile,
    signer: AsyncSigner,
    *,
    method: str,
    target: str,
    headers: Headers,
    body: bytes,
    key_id: str,
) -> tuple[tuple[str, str], ...]:
    """`sign_message` with a signer that is awaited."""
    ready = prepare_message(
        profile,
        method=method,
        target=target,
        headers=headers,
        body=body,
        alg=signer.alg,
        key_id=key_id,
    )
    signature = await signer.sign(ready.octets)
    return ready.attach(signature, public_key=getattr(signer, "public_key", None))


def verify_message(
    profile: HTTPProfile,
    public_key: PublicKey,
    *,
    method: str,
    target: str,
    headers: Headers,
    body: bytes,
    algorithms: Collection[Algorithm] = (Algorithm.RS256,),
) -> SignatureParameters:
    """Verify a message against a key that the caller trusts for its sender.

    Args:
        profile: Which lines must be covered.
        public_key: Key of the sender's sealing certificate. A certificate that came with the
            message proves nothing by itself.
        method: HTTP method; of a response, that of its request.
        target: Path with query as received.
        headers: The lines received, `Digest` and `Signature` among them.
        body: The octets received.
        algorithms: What we accept.

    Raises:
        SignatureInvalid: `check` is `http-signature-form`, `http-signature-covers`,
            `http-signature-alg`, `http-signature` or `digest`.
    """
    parameters = SignatureParameters.parse(_single(headers, "signature"))
    _require_covered(profile, parameters.names, headers, has_body=bool(body))
    accepted = [alg for alg in algorithms if parameters.algorithm.lower() in (*_NAMES[alg], "")]
    if not accepted:
        raise SignatureInvalid(
            f"algorithm {quoted(parameters.algorithm)} is not accepted",
            check="http-signature-alg",
            section=profile.section,
        )
    if body or "digest" in parameters.names:
        verify_digest(_single(headers, "digest"), body)
    octets = signing_string(parameters.names, method=method, target=target, headers=headers)
    if not any(is_signature(public_key, alg, parameters.signature, octets) for alg in accepted):
        raise SignatureInvalid(
            "the signature does not hold", check="http-signature", section=f"{_DRAFT} 2.5"
        )
    return parameters


def signing_string(names: Sequence[str], *, method: str, target: str, headers: Headers) -> bytes:
    """The text that is signed: one line for each name, joined by LF, no LF at the end.

    Raises:
        SignatureInvalid: A covered line is missing, or carries a line break.
    """
    lines = []
    for name in names:
        if name == REQUEST_TARGET:
            if not _TARGET.fullmatch(target):
                raise _form("the target is not a path")
            value = f"{method.lower()} {target}"
        else:
            values = [each.strip(" \t") for key, each in headers if key.lower() == name]
            if not values:
                raise _form(f"the covered line {quoted(name)} is missing")
            value = ", ".join(values)
        if any(letter in value for letter in "\r\n\0"):
            raise _form(f"the line {quoted(name)} carries a line break")
        lines.append(f"{name}: {value}")
    try:
        return "\n".join(lines).encode("latin-1")
    except UnicodeEncodeError as error:
        raise _form("a covered line is not Latin-1") from error


def _require_covered(
    profile: HTTPProfile, names: Sequence[str], headers: Headers, *, has_body: bool
) -> None:
    missing = [each for each in profile.covered(headers, has_body=has_body) if each not in names]
    if missing:
        raise SignatureInvalid(
            f"the signature does not cover {missing[0]}",
            check="http-signature-covers",
            section=profile.section,
        )


def _parameters(value: str) -> dict[str, str]:
    if len(value) > _MAX_CHARS:
        raise _form(f"longer than {_MAX_CHARS} letters")
    found: dict[str, str] = {}
    position = 0
    while True:
        match = _PARAMETER.match(value, position)
        if match is None:
            raise _form('not a list of name="value"')
        name, text, number = match.groups()
        if name in found:
            raise _form(f"parameter {name} is there twice")
        found[name] = number if text is None else re.sub(r'\\(["\\])', r"\1", text)
        position = match.end()
        if position == len(value):
            return found
        if value[position] != ",":
            raise _form('not a list of name="value"')
        position += 1


def _single(headers: Headers, name: str) -> str:
    values = [value for key, value in headers if key.lower() == name]
    if len(values) != 1:
        raise _form(f"{len(values)} {name} headers instead of one")
    return values[0]


def _form(problem: str) -> SignatureInvalid:
    return SignatureInvalid(
        f"HTTP signature: {problem}", check="http-signature-form", section=f"{_DRAFT} 2"
    )
