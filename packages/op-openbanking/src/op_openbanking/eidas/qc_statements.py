"""The qualified-certificate statements extension, with the PSD2 roles inside.

Source: RFC 3739 section 3.2.6 (the extension); ETSI EN 319 412-5 section 4 (compliance, device,
type); ETSI TS 119 495 section 5.1 and annex A (PSD2 statement: roles, NCA name, NCA id).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Final

from asn1crypto import core  # type: ignore[import-untyped]

from op_openbanking.errors import CertificateInvalid

QC_STATEMENTS_OID: Final = "1.3.6.1.5.5.7.1.3"
_COMPLIANCE = "0.4.0.1862.1.1"
_SECURE_DEVICE = "0.4.0.1862.1.4"
_TYPE = "0.4.0.1862.1.6"
_PSD2 = "0.4.0.19495.2"
_MAX_BYTES = 16 * 1024
_MAX_STATEMENTS = 64


class Role(StrEnum):
    """What a payment service provider may do."""

    PSP_AS = "PSP_AS"
    PSP_PI = "PSP_PI"
    PSP_AI = "PSP_AI"
    PSP_IC = "PSP_IC"

    @property
    def meaning(self) -> str:
        """In words."""
        return _MEANINGS[self]


_MEANINGS = {
    Role.PSP_AS: "account servicing",
    Role.PSP_PI: "payment initiation",
    Role.PSP_AI: "account information",
    Role.PSP_IC: "issuing of card-based payment instruments",
}
_ROLES = {
    "0.4.0.19495.1.1": Role.PSP_AS,
    "0.4.0.19495.1.2": Role.PSP_PI,
    "0.4.0.19495.1.3": Role.PSP_AI,
    "0.4.0.19495.1.4": Role.PSP_IC,
}


class CertificateType(StrEnum):
    """What a qualified certificate is for."""

    SIGNATURE = "esign"
    SEAL = "eseal"
    WEB = "web"


_TYPES = {
    "0.4.0.1862.1.6.1": CertificateType.SIGNATURE,
    "0.4.0.1862.1.6.2": CertificateType.SEAL,
    "0.4.0.1862.1.6.3": CertificateType.WEB,
}


@dataclass(frozen=True, slots=True)
class QCStatements:
    """The statements of one certificate.

    Attributes:
        qualified: The issuer states that the certificate is qualified.
        secure_device: The private key is in a qualified device.
        types: What the certificate is for; empty where not said.
        roles: PSD2 roles in the order of the certificate, each once.
        authority_name: National competent authority in words, or "".
        authority_id: Its id, for example `DE-BAFIN`, or "".
    """

    qualified: bool = False
    secure_device: bool = False
    types: tuple[CertificateType, ...] = ()
    roles: tuple[Role, ...] = ()
    authority_name: str = ""
    authority_id: str = ""


class _Statement(core.Sequence):  # type: ignore[misc] # asn1crypto has no types
    _fields: ClassVar[list[Any]] = [
        ("statement_id", core.ObjectIdentifier),
        ("statement_info", core.Any, {"optional": True}),
    ]


class _Statements(core.SequenceOf):  # type: ignore[misc]
    _child_spec = _Statement


class _Types(core.SequenceOf):  # type: ignore[misc]
    _child_spec = core.ObjectIdentifier


class _Role(core.Sequence):  # type: ignore[misc]
    _fields: ClassVar[list[Any]] = [
        ("role_oid", core.ObjectIdentifier),
        ("role_name", core.UTF8String),
    ]


class _Roles(core.SequenceOf):  # type: ignore[misc]
    _child_spec = _Role


class _PSD2Type(core.Sequence):  # type: ignore[misc]
    _fields: ClassVar[list[Any]] = [
        ("roles", _Roles),
        ("authority_name", core.UTF8String),
        ("authority_id", core.UTF8String),
    ]


def parse_qc_statements(der: bytes) -> QCStatements:
    """Read the value of the extension, at most 16 KiB and 64 statements.

    Statements and role OIDs that are not known here are passed over.

    Raises:
        CertificateInvalid: Not the DER form of QCStatements, or a PSD2 statement whose role names
            contradict its role OIDs.
    """
    if len(der) > _MAX_BYTES:
        raise _invalid(f"more than {_MAX_BYTES} bytes")
    try:
        return _read(der)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        # asn1crypto parses lazily and reports broken DER by any of these.
        raise _invalid("not DER of the expected form") from error


def _read(der: bytes) -> QCStatements:
    statements = _Statements.load(der, strict=True)
    if len(statements) > _MAX_STATEMENTS:
        raise _invalid(f"more than {_MAX_STATEMENTS} statements")
    infos = {each["statement_id"].dotted: each["statement_info"] for each in statements}
    types: tuple[CertificateType, ...] = ()
    if _TYPE in infos:
        listed = [each.dotted for each in infos[_TYPE].parse(_Types)]
        types = tuple(_TYPES[oid] for oid in listed if oid in _TYPES)
    roles: tuple[Role, ...] = ()
    name = authority = ""
    if _PSD2 in infos:
        psd2 = infos[_PSD2].parse(_PSD2Type)
        roles = _read_roles(psd2["roles"])
        name, authority = psd2["authority_name"].native, psd2["authority_id"].native
    return QCStatements(
        qualified=_COMPLIANCE in infos,
        secure_device=_SECURE_DEVICE in infos,
        types=types,
        roles=roles,
        authority_name=name,
        authority_id=authority,
    )


def _read_roles(listed: Any) -> tuple[Role, ...]:  # noqa: ANN401 (asn1crypto has no types)
    roles: dict[Role, None] = {}
    for each in listed:
        role = _ROLES.get(each["role_oid"].dotted)
        if role is None:
            continue
        if each["role_name"].native != role.value:
            raise _invalid(f"role {role.value} under another name")
        roles[role] = None
    return tuple(roles)


def _invalid(problem: str) -> CertificateInvalid:
    return CertificateInvalid(
        f"QCStatements: {problem}",
        check="certificate-qc-statements",
        section="ETSI TS 119 495 5.1",
    )
