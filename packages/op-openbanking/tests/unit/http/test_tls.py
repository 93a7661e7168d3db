from __future__ import annotations

import datetime as dt
import ssl
import tempfile
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

from op_openbanking.errors import ConfigError, UnusableKey
from op_openbanking.http.settings import Timeouts, TransportSettings
from op_openbanking.http.tls import (
    ECDSA_CIPHERS,
    FAPI_CIPHERS,
    ClientCertificate,
    TrustAnchors,
    client_context,
)
from op_openbanking.jose.hashes import x5t_s256
from op_openbanking.testing.pki import IssuedCertificate, ThrowAwayCA

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@pytest.fixture(scope="module")
def authority() -> ThrowAwayCA:
    return ThrowAwayCA.create(now=NOW)


@pytest.fixture(scope="module")
def leaf(authority: ThrowAwayCA) -> IssuedCertificate:
    return authority.issue("tpp", now=NOW)


def encrypted(leaf: IssuedCertificate) -> bytes:
    return leaf.key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"password")
    )


def test_every_form_gives_the_same_certificate(leaf: IssuedCertificate, tmp_path: Path) -> None:
    wanted = x5t_s256(leaf.certificate)
    (tmp_path / "chain.pem").write_bytes(leaf.pem)
    (tmp_path / "key.pem").write_bytes(leaf.key_pem)
    packed = pkcs12.serialize_key_and_certificates(
        b"tpp", leaf.key, leaf.certificate, None, BestAvailableEncryption(b"password")
    )
    der = leaf.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    for certificate in (
        ClientCertificate.from_pem(leaf.pem, leaf.key_pem),
        ClientCertificate.from_pem(leaf.pem, encrypted(leaf), password=b"password"),
        ClientCertificate.from_files(tmp_path / "chain.pem", tmp_path / "key.pem"),
        ClientCertificate.from_pkcs12(packed, password=b"password"),
        ClientCertificate.from_der(leaf.der, der),
    ):
        assert certificate.thumbprint == wanted
        assert certificate.certificate == leaf.certificate
        certificate.load_into(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))


def test_a_key_in_memory_leaves_no_file_behind(
    leaf: IssuedCertificate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ClientCertificate.from_pem(leaf.pem, leaf.key_pem).load_into(
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    )
    assert list(tmp_path.iterdir()) == []


def test_the_file_is_private_and_encrypted_while_it_exists(
    leaf: IssuedCertificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int, bytes]] = []

    class Watching(ssl.SSLContext):
        def load_cert_chain(self, certfile: object, *args: object, **options: object) -> None:
            path = Path(str(certfile))
            modes = path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777
            seen.append((*modes, path.read_bytes()))

    ClientCertificate.from_pem(leaf.pem, leaf.key_pem).load_into(Watching(ssl.PROTOCOL_TLS_CLIENT))
    ((mode, folder_mode, octets),) = seen
    assert (mode, folder_mode) == (0o600, 0o700)
    assert b"BEGIN ENCRYPTED PRIVATE KEY" in octets


def test_a_certificate_hides_its_key(leaf: IssuedCertificate) -> None:
    certificate = ClientCertificate.from_pem(leaf.pem, leaf.key_pem)
    assert repr(certificate) == f"ClientCertificate(thumbprint={certificate.thumbprint!r})"


def test_refuses_what_is_unreadable_or_does_not_belong_together(
    authority: ThrowAwayCA, leaf: IssuedCertificate, tmp_path: Path
) -> None:
    other = authority.issue("other", now=NOW)
    for chain, key, password in [
        (b"", leaf.key_pem, None),
        (leaf.pem, b"", None),
        (leaf.pem, other.key_pem, None),
        (leaf.pem, encrypted(leaf), None),
        (leaf.pem, encrypted(leaf), b"wrong"),
        (leaf.pem, leaf.key_pem, b"not encrypted"),
    ]:
        with pytest.raises(UnusableKey):
            ClientCertificate.from_pem(chain, key, password=password)
    with pytest.raises(UnusableKey):
        ClientCertificate.from_pkcs12(b"junk", password=None)
    with pytest.raises(UnusableKey):
        ClientCertificate.from_der(b"junk", b"junk")
    with pytest.raises(ConfigError, match="cannot read"):
        ClientCertificate.from_files(tmp_path / "absent", tmp_path / "absent")


def test_a_context_asks_for_tls_1_2_and_the_four_suites_of_fapi() -> None:
    context = client_context(TrustAnchors())
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    suites = {each["name"] for each in context.get_ciphers() if each["protocol"] != "TLSv1.3"}
    assert suites == set(FAPI_CIPHERS)
    wider = client_context(TrustAnchors(ciphers=FAPI_CIPHERS + ECDSA_CIPHERS))
    suites = {each["name"] for each in wider.get_ciphers() if each["protocol"] != "TLSv1.3"}
    assert suites == {*FAPI_CIPHERS, *ECDSA_CIPHERS}


def test_only_the_named_authorities_are_trusted(authority: ThrowAwayCA, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    context = client_context(TrustAnchors.from_file(tmp_path / "ca.pem"))
    assert len(context.get_ca_certs()) == 1


@pytest.mark.parametrize("pem", [b"", b"junk", b"\xff"])
def test_unreadable_anchors_are_a_matter_of_configuration(pem: bytes) -> None:
    with pytest.raises(ConfigError):
        client_context(TrustAnchors(ca_pem=pem))


def test_unknown_suites_are_a_matter_of_configuration() -> None:
    with pytest.raises(ConfigError):
        client_context(TrustAnchors(ciphers=("NOTHING",)))


def test_settings_are_checked() -> None:
    for bad in (
        lambda: Timeouts(connect_s=0),
        lambda: TransportSettings(max_connections=0),
        lambda: TransportSettings(proxy="socks5://proxy.example"),
    ):
        with pytest.raises(ConfigError):
            bad()
    assert "secret" not in repr(TransportSettings(proxy="http://user:secret@proxy.example"))
