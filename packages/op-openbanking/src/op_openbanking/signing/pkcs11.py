"""Keys in a hardware security module, over PKCS#11 (extra `pkcs11`).

A session is not for two threads at once, so a lock orders the calls. ECDSA over a digest comes back
as r and s; PSS is asked for with SHA-256, MGF1-SHA-256 and a salt of 32 octets. Each answer is
verified with the public key object of the same label or id.

Source: PKCS#11 2.40, mechanisms CKM_SHA256_RSA_PKCS_PSS, CKM_SHA256_RSA_PKCS, CKM_SHA512_RSA_PKCS
and CKM_ECDSA.
"""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass, field
from typing import Any, Self

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_der_public_key

from op_openbanking.errors import ConfigError, SignerUnavailable, UnusableKey
from op_openbanking.jose.algorithms import Algorithm, PublicKey, as_public_key
from op_openbanking.jose.jwk import JWK

from .checks import checked, choose_algorithm
from .extras import load

_FEATURE = "signing with PKCS#11"
_SALT_BYTES = 32


@dataclass(frozen=True, slots=True)
class PKCS11Signer:
    """Signs with a private key object of a token.

    Use it as a context manager, or call `close`: the session to the device stays open until then.
    Several signers of one process share one login to a token: close the one opened first last.

    Attributes:
        session: Open session of python-pkcs11.
        private_key: Key object.
        alg: Algorithm.
        kid: Name of the key, as published.
        public_key: Every signature is verified under it.
    """

    session: Any = field(repr=False)
    private_key: Any = field(repr=False)
    alg: Algorithm
    kid: str
    public_key: PublicKey = field(repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @classmethod
    def open(
        cls,
        module: str,
        *,
        token_label: str,
        pin: str,
        label: str | None = None,
        key_id: bytes | None = None,
        alg: str | None = None,
        kid: str | None = None,
    ) -> Self:
        """Log in and find a key pair.

        Args:
            module: Path of the PKCS#11 library of the device.
            token_label: Label of the token.
            pin: User PIN; never shown.
            label: Label of the key pair (CKA_LABEL).
            key_id: Id of the key pair (CKA_ID); label or id, or both.
            alg: PS256 for RSA and ES256 for P-256 unless chosen.
            kid: RFC 7638 thumbprint unless chosen.

        Raises:
            ExtraMissing: python-pkcs11 is not installed.
            ConfigError: Neither label nor id.
            UnusableKey: No such pair, too short, wrong curve, or not for `alg`.
            SignerUnavailable: The library or the token cannot be opened.
        """
        if label is None and key_id is None:
            raise ConfigError("name the key pair by label or key_id")
        library = load("pkcs11", extra="pkcs11", feature=_FEATURE)
        try:
            token = library.lib(module).get_token(token_label=token_label)
            session = _open_session(library, token, pin)
        except (library.PKCS11Error, RuntimeError) as error:
            raise SignerUnavailable(
                f"the PKCS#11 token cannot be opened: {type(error).__name__}", retryable=False
            ) from error
        try:
            names = {"label": label, "id": key_id}
            wanted = {name: value for name, value in names.items() if value is not None}
            classes = library.ObjectClass
            private = _only(library, session, classes.PRIVATE_KEY, wanted)
            public = _only(library, session, classes.PUBLIC_KEY, wanted)
            public_key = _read_public_key(library, public)
            chosen = choose_algorithm(public_key, alg)
        except library.PKCS11Error as error:
            session.close()
            raise UnusableKey(f"no usable key pair: {type(error).__name__}") from error
        except UnusableKey:
            session.close()
            raise
        return cls(session, private, chosen, kid or JWK(public_key).thumbprint(), public_key)

    @property
    def jwk(self) -> JWK:
        """The public key, as it is published."""
        return JWK(self.public_key, kid=self.kid, use="sig", alg=self.alg)

    def sign(self, data: bytes) -> bytes:
        library = load("pkcs11", extra="pkcs11", feature=_FEATURE)
        mechanisms = library.Mechanism
        octets, options = data, {}
        match self.alg:
            case Algorithm.PS256:
                parameter = (mechanisms.SHA256, library.MGF.SHA256, _SALT_BYTES)
                options = {
                    "mechanism": mechanisms.SHA256_RSA_PKCS_PSS,
                    "mechanism_param": parameter,
                }
            case Algorithm.ES256:
                octets = hashlib.sha256(data).digest()
                options = {"mechanism": mechanisms.ECDSA}
            case Algorithm.RS256:
                options = {"mechanism": mechanisms.SHA256_RSA_PKCS}
            case Algorithm.RS512:
                options = {"mechanism": mechanisms.SHA512_RSA_PKCS}
        try:
            with self._lock:
                signature = self.private_key.sign(octets, **options)
        except library.PKCS11Error as error:
            raise SignerUnavailable(
                f"the PKCS#11 token refused: {type(error).__name__}", retryable=False
            ) from error
        return checked(signature, alg=self.alg, octets=data, public_key=self.public_key)

    def close(self) -> None:
        """Log out and close the session."""
        self.session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _open_session(library: Any, token: Any, pin: str) -> Any:  # noqa: ANN401
    try:
        return token.open(user_pin=pin)
    except library.UserAlreadyLoggedIn:
        # A login holds for the whole process: a second signer on the token shares it.
        return token.open()


def _only(library: Any, session: Any, kind: Any, names: dict[str, Any]) -> Any:  # noqa: ANN401
    attribute = library.Attribute
    template = {attribute[name.upper()]: value for name, value in names.items()}
    # The search is run to its end: one left open would disturb the session later.
    found = list(session.get_objects({attribute.CLASS: kind, **template}))
    if len(found) != 1:
        raise UnusableKey(f"{len(found)} objects of {kind.name} match instead of one")
    return found[0]


def _read_public_key(library: Any, key: Any) -> PublicKey:  # noqa: ANN401 (untyped library)
    attribute = library.Attribute
    try:
        if key.key_type == library.KeyType.RSA:
            numbers = rsa.RSAPublicNumbers(
                int.from_bytes(key[attribute.PUBLIC_EXPONENT], "big"),
                int.from_bytes(key[attribute.MODULUS], "big"),
            )
            return as_public_key(numbers.public_key())
        if key.key_type == library.KeyType.EC:
            encode = load("pkcs11.util.ec", extra="pkcs11", feature=_FEATURE).encode_ec_public_key
            return as_public_key(load_der_public_key(encode(key)))
    except ValueError as error:
        raise UnusableKey("the public key object is not a valid key") from error
    raise UnusableKey("the key pair is neither RSA nor EC")
