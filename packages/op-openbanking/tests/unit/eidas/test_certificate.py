from __future__ import annotations

import contextlib
import random
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from op_openbanking.eidas.certificate import Certificate
from op_openbanking.eidas.distinguished_name import STYLES, format_name
from op_openbanking.eidas.organization_identifier import OrganizationIdentifier
from op_openbanking.eidas.qc_statements import (
    CertificateType,
    QCStatements,
    Role,
    parse_qc_statements,
)
from op_openbanking.errors import CertificateInvalid, ConfigError
from op_openbanking.signing.key_id import (
    CertificateHeaderForm,
    SerialForm,
    berlin_group_key_id,
    certificate_header,
    read_certificate_header,
    stet_key_id,
)
from op_openbanking.testing.pki import ThrowAwayCA, qc_statements

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PSD = OrganizationIdentifier("PSD", "DE", "BAFIN", "123456")


@lru_cache
def ca() -> ThrowAwayCA:
    return ThrowAwayCA.create(now=NOW)


@lru_cache
def seal() -> Certificate:
    issued = ca().issue(
        "seal",
        now=NOW,
        organization_identifier="PSDDE-BAFIN-123456",
        roles=(Role.PSP_PI, Role.PSP_AI),
        types=(CertificateType.SEAL,),
        authority=("Federal Authority", "DE-BAFIN"),
    )
    return Certificate.read(issued.der)


def test_reads_roles_authority_and_organisation() -> None:
    assert seal().roles == (Role.PSP_PI, Role.PSP_AI)
    assert seal().statements.qualified
    assert seal().statements.types == (CertificateType.SEAL,)
    assert seal().statements.authority_id == "DE-BAFIN"
    assert seal().statements.authority_name == "Federal Authority"
    assert seal().organization_identifier == PSD
    assert str(PSD) == "PSDDE-BAFIN-123456"
    assert Role.PSP_IC.meaning.startswith("issuing of card")


def test_pem_and_der_are_the_same_certificate() -> None:
    issued = ca().issue("x", now=NOW)
    assert Certificate.read(issued.pem).x5t_s256 == Certificate.read(issued.der).x5t_s256


def test_a_certificate_without_statements_has_no_roles() -> None:
    plain = Certificate.read(ca().issue("plain", now=NOW).der)
    assert plain.roles == ()
    assert plain.organization_identifier is None
    assert not plain.statements.qualified


@pytest.mark.parametrize(
    ("options", "check"),
    [
        ({"at": NOW - timedelta(days=2)}, "certificate-validity"),
        ({"at": NOW + timedelta(days=400)}, "certificate-validity"),
        ({"roles": [Role.PSP_PI, Role.PSP_AS]}, "certificate-role"),
        ({"type_": CertificateType.WEB}, "certificate-type"),
        (
            {"organization": OrganizationIdentifier("PSD", "DE", "BAFIN", "999")},
            "certificate-organization",
        ),
    ],
)
def test_refuses_what_the_certificate_does_not_say(options: dict[str, object], check: str) -> None:
    with pytest.raises(CertificateInvalid) as caught:
        seal().require(**{"at": NOW, **options})  # type: ignore[arg-type]
    assert caught.value.check == check


def test_accepts_what_the_certificate_says() -> None:
    seal().require(at=NOW, roles=[Role.PSP_AI], type_=CertificateType.SEAL, organization=PSD)


@pytest.mark.parametrize("octets", [b"", b"junk", b"\x30\x03\x02\x01\x01", b"x" * 40_000])
def test_refuses_what_is_no_certificate(octets: bytes) -> None:
    with pytest.raises(CertificateInvalid):
        Certificate.read(octets)


def test_a_short_key_makes_no_public_key() -> None:
    for key in (rsa.generate_private_key(65537, 1024), ec.generate_private_key(ec.SECP384R1())):
        issued = ca().issue("short", now=NOW, key=key)
        with pytest.raises(CertificateInvalid):
            _ = Certificate.read(issued.der).public_key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PSD",
        "PSDDE-BAFIN",
        "PSDDE-bafin-1",
        "PSDDE-B-1",
        "psdDE-BAFIN-1",
        "PSDDE-BAFIN-1 2",
        "X",
    ],
)
def test_refuses_an_organization_identifier_of_another_form(text: str) -> None:
    with pytest.raises(CertificateInvalid):
        OrganizationIdentifier.parse(text)


def test_other_schemes_have_no_authority() -> None:
    parsed = OrganizationIdentifier.parse("VATDE-123456789")
    assert (parsed.scheme, parsed.country, parsed.authority) == ("VAT", "DE", "")
    assert str(parsed) == "VATDE-123456789"


def test_statements_with_a_role_under_another_name_are_refused() -> None:
    der = qc_statements(roles=[Role.PSP_AI], types=[], authority=("A", "B"))
    with pytest.raises(CertificateInvalid) as caught:
        parse_qc_statements(der.replace(b"PSP_AI", b"PSP_PI"))
    assert caught.value.check == "certificate-qc-statements"


def test_damaged_statements_never_leak_another_error() -> None:
    der = qc_statements(
        roles=list(Role), types=list(CertificateType), authority=("Authority", "DE-BAFIN")
    )
    for place in range(len(der)):
        for value in (0x00, 0x30, 0x7F, 0x80, 0xFF):
            damaged = der[:place] + bytes([value]) + der[place + 1 :]
            for octets in (damaged, der[:place]):
                with contextlib.suppress(CertificateInvalid):
                    assert isinstance(parse_qc_statements(octets), QCStatements)


def test_statements_are_bounded() -> None:
    with pytest.raises(CertificateInvalid):
        parse_qc_statements(bytes(20_000))


def test_names_in_every_style() -> None:
    subject = seal().x509.subject
    oid_hex = "2.5.4.97=#0c12" + b"PSDDE-BAFIN-123456".hex()
    assert {name: format_name(subject, style=style) for name, style in STYLES.items()} == {
        "rfc4514": "CN=seal,2.5.4.97=PSDDE-BAFIN-123456,O=Example\\, Ltd,C=DE",
        "rfc4514-names": "CN=seal,organizationIdentifier=PSDDE-BAFIN-123456,O=Example\\, Ltd,C=DE",
        "rfc4514-hex": f"CN=seal,{oid_hex},O=Example\\, Ltd,C=DE",
        "certificate-order": (
            "C=DE, O=Example\\, Ltd, organizationIdentifier=PSDDE-BAFIN-123456, CN=seal"
        ),
    }


@pytest.mark.parametrize("value", [" a", "a ", "#a", 'a"b', "a+b", "a\\b", "a;b<c>", "ü"])
def test_escaped_values_are_read_back_by_another_parser(value: str) -> None:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, value)])
    assert x509.Name.from_rfc4514_string(format_name(name)) == name


def test_key_ids_of_both_standards() -> None:
    serial = seal().serial
    issuer = "CN=Throw-away CA,O=Throw-away Trust,C=DE"
    assert berlin_group_key_id(seal()) == f"SN={serial:X},CA={issuer}"
    assert (
        berlin_group_key_id(seal(), serial=SerialForm.DECIMAL, escape_blanks=True)
        == f"SN={serial},CA={issuer.replace(' ', '%20')}"
    )
    url = stet_key_id(seal(), base_url="https://tpp.example/cert_")
    assert url.startswith("https://tpp.example/cert_")
    assert len(url) == len("https://tpp.example/cert_") + 64 + len(".pem")
    for base_url in ("http://tpp.example/", "https://tpp.example/?a=b", "https://tpp.example/ü"):
        with pytest.raises(ConfigError):
            stet_key_id(seal(), base_url=base_url)


@pytest.mark.parametrize("form", list(CertificateHeaderForm))
def test_certificate_header_is_one_line_and_read_back(form: CertificateHeaderForm) -> None:
    name, value = certificate_header(seal(), form=form)
    assert name == "TPP-Signature-Certificate"
    assert "\n" not in value
    assert read_certificate_header(value).der == seal().der


@pytest.mark.parametrize("value", ["", "AAAA", "é", "-----BEGIN CERTIFICATE-----", "A" * 70_000])
def test_refuses_a_certificate_header_of_another_form(value: str) -> None:
    with pytest.raises(CertificateInvalid):
        read_certificate_header(value)


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_damaged_certificates_never_leak_another_error() -> None:
    rng = random.Random(7)
    for _ in range(3000):
        octets = bytearray(seal().der)
        for _ in range(rng.choice((1, 1, 2, 4))):
            octets[rng.randrange(len(octets))] = rng.randrange(256)
        with contextlib.suppress(CertificateInvalid):
            read = Certificate.read(bytes(octets))
            assert read.subject() is not None
            assert read.issuer() is not None
            assert read.not_before.tzinfo is read.not_after.tzinfo
            _ = read.serial, read.organization_identifier
