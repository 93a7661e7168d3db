"""Commits: the signed object at the root of a repository.

`UnsignedCommit` is what is signed, `SignedCommit` what is stored and linked to. A commit that was
read keeps fields that we do not know: the signature covers them.

ECDSA signs the SHA-256 of the DAG-CBOR bytes without `sig`; Ed25519, for closed systems only,
signs the bytes themselves.

Source: AT Protocol, Repository, Commit Objects; reference sections 6.1 and 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from smart_byte_atproto.crypto import PrivateKey, PublicKey
from smart_byte_atproto.data import dag_cbor
from smart_byte_atproto.data.cid import CID
from smart_byte_atproto.errors import InvalidData, InvalidRepo, InvalidSyntax, WriteRefused
from smart_byte_atproto.mst.node import DAG_CBOR_PREFIX
from smart_byte_atproto.syntax.did import DID
from smart_byte_atproto.syntax.tid import TID

VERSION = 3
READABLE_VERSIONS = (2, 3)
_KNOWN = frozenset({"did", "version", "data", "rev", "prev", "sig"})


@dataclass(frozen=True, slots=True)
class UnsignedCommit:
    """A commit before it is signed.

    Attributes:
        did: Account.
        data: Root of the tree.
        rev: TID, increasing with every commit of the repository.
        prev: Practically always None in version 3.
        version: 3.
    """

    did: str
    data: CID
    rev: str
    prev: CID | None = None
    version: int = VERSION

    def __post_init__(self) -> None:
        object.__setattr__(self, "did", _did(self.did))
        object.__setattr__(self, "rev", _tid(self.rev))

    def encode(self) -> bytes:
        """Return the DAG-CBOR bytes that are signed."""
        return dag_cbor.encode(
            {
                "did": str(self.did),
                "rev": str(self.rev),
                "data": self.data,
                "prev": self.prev,
                "version": self.version,
            }
        )

    def sign(self, key: PrivateKey, *, network: bool = True) -> SignedCommit:
        """Sign with the account's key.

        Args:
            key: The key that the DID document lists as `#atproto`.
            network: Refuse what the network refuses; False allows Ed25519.

        Raises:
            WriteRefused: `key-type`: the network knows no commits signed with Ed25519.
        """
        if network and not key.public_key.is_network_valid:
            raise WriteRefused(
                "key-type", f"the network refuses commits signed with {key.key_type}"
            )
        return SignedCommit(
            did=_did(self.did),
            data=self.data,
            rev=_tid(self.rev),
            prev=self.prev,
            version=self.version,
            sig=key.sign(self.encode()),
        )


@dataclass(frozen=True, slots=True)
class SignedCommit:
    """A commit as stored.

    Attributes:
        did: Account.
        data: Root of the tree.
        rev: TID; None in very old commits of version 2.
        prev: Commit before; None in practice.
        version: 3, or 2 for reading.
        sig: 64 bytes.
        has_prev: Whether the field stands in the object; only version 2 leaves it out.
        extra: Fields that the specification does not know, in the signature all the same.
    """

    did: DID
    data: CID
    rev: TID | None
    prev: CID | None
    version: int
    sig: bytes
    has_prev: bool = True
    extra: tuple[tuple[str, dag_cbor.Value], ...] = field(default=())

    @classmethod
    def decode(cls, block: bytes) -> Self:
        """Decode the block of a commit.

        Raises:
            InvalidRepo: `commit` (not a commit object), `version`, `did` or `rev`.
        """
        try:
            value = dag_cbor.decode(block)
        except InvalidData as error:
            raise InvalidRepo("commit", f"not strict DAG-CBOR: {error}") from error
        if not isinstance(value, dict):
            raise InvalidRepo("commit", "not a map")
        did, data, sig = value.get("did"), value.get("data"), value.get("sig")
        rev, prev, version = value.get("rev"), value.get("prev"), value.get("version")
        if (
            not isinstance(did, str)
            or not isinstance(data, CID)
            or not isinstance(sig, bytes)
            or not (isinstance(rev, str) or (rev is None and "rev" not in value))
            or not (prev is None or isinstance(prev, CID))
        ):
            raise InvalidRepo("commit", "did, data, sig, rev or prev is absent or of another type")
        if type(version) is not int or version not in READABLE_VERSIONS:
            raise InvalidRepo("version", f"version {version!r:.40} is neither 3 nor 2")
        has_prev = "prev" in value
        if version == VERSION and (rev is None or not has_prev):
            raise InvalidRepo("commit", "version 3 without rev or prev")
        if data.raw[:4] != DAG_CBOR_PREFIX:  # decoded links are of the strict form
            raise InvalidRepo("commit", "data is not a dag-cbor CID")
        extra: tuple[tuple[str, dag_cbor.Value], ...] = ()
        if len(value) > len(_KNOWN) - (not has_prev) - (rev is None):
            extra = tuple((name, item) for name, item in value.items() if name not in _KNOWN)
        tid = None if rev is None else _tid(rev)
        return cls(_did(did), data, tid, prev, version, sig, has_prev, extra)

    @property
    def unsigned(self) -> bytes:
        """The DAG-CBOR bytes that the signature covers: every field but `sig`."""
        return dag_cbor.encode(self._fields())

    def encode(self) -> bytes:
        """Return the DAG-CBOR block."""
        return dag_cbor.encode({**self._fields(), "sig": self.sig})

    @property
    def cid(self) -> CID:
        """CID of the block."""
        return CID.of(self.encode())

    def verify(self, key: PublicKey, *, network: bool = True) -> None:
        """Check the signature.

        Args:
            key: The account's signing key.
            network: Refuse what the network refuses; False allows Ed25519.

        Raises:
            InvalidRepo: `key-type`: an Ed25519 key where network validity is asked for.
            BadSignature: Malformed, or made by another key.
        """
        if network and not key.is_network_valid:
            raise InvalidRepo("key-type", f"the network refuses commits signed with {key.key_type}")
        key.verify(self.unsigned, self.sig)

    def _fields(self) -> dict[str, dag_cbor.Value]:
        fields: dict[str, dag_cbor.Value] = {
            "did": str(self.did),
            "data": self.data,
            "version": self.version,
        }
        if self.rev is not None:
            fields["rev"] = str(self.rev)
        if self.has_prev:
            fields["prev"] = self.prev
        fields.update(self.extra)
        return fields


def _did(text: str) -> DID:
    try:
        return DID(text)
    except InvalidSyntax as error:
        raise InvalidRepo("did", str(error)) from error


def _tid(text: str) -> TID:
    try:
        return TID(text)
    except InvalidSyntax as error:
        raise InvalidRepo("rev", str(error)) from error
