from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import boto3  # type: ignore[import-untyped]
import pytest
from azure.core.credentials import AccessToken
from botocore.config import Config  # type: ignore[import-untyped]
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from moto.server import ThreadedMotoServer

from op_openbanking.errors import (
    ConfigError,
    SignerMisbehaved,
    SignerUnavailable,
    UnusableKey,
)
from op_openbanking.jose.algorithms import Algorithm, PrivateKey
from op_openbanking.signing.aws_kms import AWSKMSSigner
from op_openbanking.signing.azure import AzureKeyVaultSigner
from op_openbanking.signing.gcp_kms import GCPKMSSigner
from op_openbanking.signing.local import LocalSigner
from op_openbanking.signing.pkcs11 import PKCS11Signer
from op_openbanking.signing.registry import SIGNERS
from op_openbanking.signing.vault import VaultTransitSigner
from op_openbanking.testing.cloud_kms import CloudKMS
from op_openbanking.testing.key_service import SignDigest, sign_digest
from op_openbanking.testing.key_vault import KeyVault
from op_openbanking.testing.signer_contract import check_signer
from op_openbanking.testing.vault_transit import VaultTransit

pytestmark = pytest.mark.end_to_end

ALGORITHMS = [Algorithm.PS256, Algorithm.ES256, Algorithm.RS256, Algorithm.RS512]
MODULES = ("/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so")


@lru_cache
def key_for(alg: Algorithm) -> PrivateKey:
    if alg is Algorithm.ES256:
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(65537, 2048)


def keys() -> dict[str, PrivateKey]:
    return {alg.lower(): key_for(alg) for alg in ALGORITHMS}


class Credential:
    def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        return AccessToken("azure-token", 4_000_000_000)


# --- one opener for each registered signer ------------------------------------------------------


@pytest.fixture(scope="module")
def kms() -> Iterator[Any]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client(
        "kms",
        endpoint_url=f"http://{host}:{port}",
        region_name="eu-west-2",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    yield client
    client.close()
    server.stop()


def open_aws(request: pytest.FixtureRequest, alg: Algorithm) -> AWSKMSSigner:
    client = request.getfixturevalue("kms")
    spec = "ECC_NIST_P256" if alg is Algorithm.ES256 else "RSA_2048"
    made = client.create_key(KeyUsage="SIGN_VERIFY", KeySpec=spec)
    # moto signs messages only: it takes a digest for a message, as its documentation says.
    key_id = made["KeyMetadata"]["KeyId"]
    return AWSKMSSigner.open(key_id, alg=alg, client=client, sends_message=True)


@pytest.fixture(scope="module")
def vault() -> Iterator[VaultTransit]:
    with VaultTransit(keys()) as service:
        yield service


def open_vault(request: pytest.FixtureRequest, alg: Algorithm) -> VaultTransitSigner:
    service: VaultTransit = request.getfixturevalue("vault")
    return VaultTransitSigner.open(alg.lower(), alg=alg, url=service.url, token=service.token)


@pytest.fixture(scope="module")
def cloud_kms() -> Iterator[CloudKMS]:
    with CloudKMS({alg.lower(): (key_for(alg), alg) for alg in ALGORITHMS}) as service:
        yield service


def open_gcp(request: pytest.FixtureRequest, alg: Algorithm) -> GCPKMSSigner:
    client = request.getfixturevalue("cloud_kms").client()
    request.addfinalizer(client.transport.close)
    return GCPKMSSigner.open(alg.lower(), alg=alg, client=client)


@pytest.fixture(scope="module")
def key_vault() -> Iterator[KeyVault]:
    with KeyVault(keys()) as service:
        yield service


def azure_signer(service: KeyVault, name: str, **options: Any) -> AzureKeyVaultSigner:
    return AzureKeyVaultSigner.open(
        service.url,
        name,
        credential=Credential(),
        connection_verify=service.ca_file,
        verify_challenge_resource=False,
        retry_total=0,
        **options,
    )


def open_azure(request: pytest.FixtureRequest, alg: Algorithm) -> AzureKeyVaultSigner:
    signer = azure_signer(request.getfixturevalue("key_vault"), alg.lower(), alg=alg)
    request.addfinalizer(signer.close)
    return signer


class Token(NamedTuple):
    module: str
    label: str
    pin: str


@pytest.fixture(scope="module")
def softhsm(tmp_path_factory: pytest.TempPathFactory) -> Token:
    module = next((path for path in MODULES if Path(path).exists()), None)
    tool = shutil.which("softhsm2-util")
    if module is None or tool is None:
        pytest.skip("no SoftHSM2 on this machine (Debian: apt-get install softhsm2)")
    folder = tmp_path_factory.mktemp("softhsm")
    (folder / "tokens").mkdir()
    configuration = folder / "softhsm2.conf"
    configuration.write_text(f"directories.tokendir = {folder / 'tokens'}\nlog.level = ERROR\n")
    os.environ["SOFTHSM2_CONF"] = str(configuration)
    token = Token(module, "tpp", "pin-of-the-token")
    initialise = ["--init-token", "--free", "--label", token.label, "--pin", token.pin]
    subprocess.run(
        [tool, *initialise, "--so-pin", "4321"], check=True, capture_output=True, timeout=30
    )
    for alg in ALGORITHMS:
        generate_key_pair(token, alg)
    return token


def open_pkcs11(request: pytest.FixtureRequest, alg: Algorithm) -> PKCS11Signer:
    token: Token = request.getfixturevalue("softhsm")
    signer = PKCS11Signer.open(
        token.module, token_label=token.label, pin=token.pin, label=alg, alg=alg
    )
    request.addfinalizer(signer.close)
    return signer


def generate_key_pair(token: Token, alg: Algorithm) -> None:
    import pkcs11  # noqa: PLC0415 (needs the configuration of the fixture)
    from pkcs11.util.ec import encode_named_curve_parameters  # noqa: PLC0415

    library: Any = pkcs11.lib(token.module)
    with library.get_token(token_label=token.label).open(user_pin=token.pin, rw=True) as session:
        if alg is Algorithm.ES256:
            parameters = session.create_domain_parameters(
                pkcs11.KeyType.EC,
                {pkcs11.Attribute.EC_PARAMS: encode_named_curve_parameters("secp256r1")},
                local=True,
            )
            parameters.generate_keypair(label=alg, store=True)
        else:
            session.generate_keypair(pkcs11.KeyType.RSA, 2048, label=alg, store=True)


def open_local(request: pytest.FixtureRequest, alg: Algorithm) -> LocalSigner:
    return LocalSigner.from_key(key_for(alg), alg=alg)


OPENERS: dict[str, Callable[[pytest.FixtureRequest, Algorithm], Any]] = {
    "aws-kms": open_aws,
    "azure-key-vault": open_azure,
    "gcp-kms": open_gcp,
    "local": open_local,
    "pkcs11": open_pkcs11,
    "vault-transit": open_vault,
}


# --- the contract -------------------------------------------------------------------------------


@pytest.mark.parametrize("alg", ALGORITHMS)
@pytest.mark.parametrize("name", sorted(SIGNERS))
def test_every_registered_signer_fulfils_the_contract(
    request: pytest.FixtureRequest, name: str, alg: Algorithm
) -> None:
    signer = OPENERS[name](request, alg)
    if (name, alg) == ("aws-kms", Algorithm.PS256):
        # moto salts with as much as fits, where AWS takes 32 octets: just what has to be refused.
        # PS256 as AWS makes it is tested at the seam below.
        with pytest.raises(SignerMisbehaved, match="salt"):
            signer.sign(b"data")
        return
    assert signer.alg == alg
    assert signer.kid == signer.jwk.thumbprint()
    check_signer(signer, largest_bytes=4096 if name == "aws-kms" else 100_000)


@pytest.mark.parametrize("name", sorted(SIGNERS))
def test_no_signer_takes_an_algorithm_that_its_key_cannot_make(
    request: pytest.FixtureRequest, name: str
) -> None:
    signer = OPENERS[name](request, Algorithm.PS256)
    if name == "local":
        with pytest.raises(UnusableKey):
            LocalSigner.from_key(signer.key, alg="ES256")
        return
    token: Any = request.getfixturevalue("softhsm") if name == "pkcs11" else None
    vault: Any = request.getfixturevalue("key_vault") if name == "azure-key-vault" else None

    def open_again() -> object:
        match name:
            case "aws-kms":
                return AWSKMSSigner.open(signer.key_id, alg="ES256", client=signer.client)
            case "azure-key-vault":
                return azure_signer(vault, "ps256", alg="ES256")
            case "gcp-kms":
                return GCPKMSSigner.open("ps256", alg="ES256", client=signer.client)
            case "pkcs11":
                named: dict[str, Any] = {"token_label": token.label, "pin": token.pin}
                return PKCS11Signer.open(token.module, **named, label="PS256", alg="ES256")
            case _:
                return VaultTransitSigner.open("ps256", alg="ES256", client=signer.client)

    with pytest.raises(UnusableKey, match="ES256"):
        open_again()


@pytest.mark.parametrize("name", sorted(SIGNERS))
def test_no_signer_shows_a_secret(request: pytest.FixtureRequest, name: str) -> None:
    shown = repr(OPENERS[name](request, Algorithm.ES256))
    for secret in ("root", "azure-token", "pin-of-the-token", "PRIVATE", "client="):
        assert secret not in shown


# --- services that do not do what they were asked -----------------------------------------------


def with_salt(salt_bytes: int) -> Callable[[PrivateKey, Algorithm, bytes], bytes]:
    return lambda key, alg, digest: sign_digest(key, alg, digest, salt_bytes=salt_bytes)


def as_pkcs1(key: PrivateKey, alg: Algorithm, digest: bytes) -> bytes:
    return sign_digest(key, Algorithm.RS256, digest)


def of_other_digest(key: PrivateKey, alg: Algorithm, digest: bytes) -> bytes:
    return sign_digest(key, alg, bytes(len(digest)))


def of_other_key(key: PrivateKey, alg: Algorithm, digest: bytes) -> bytes:
    return sign_digest(key_for(Algorithm.RS256), alg, digest)


LIES = [with_salt(20), with_salt(222), as_pkcs1, of_other_digest, of_other_key]


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", ["azure-key-vault", "gcp-kms", "vault-transit"])
def test_a_service_that_signs_otherwise_is_refused(
    request: pytest.FixtureRequest,
    name: str,
    lie: Callable[[PrivateKey, Algorithm, bytes], bytes],
) -> None:
    with ExitStack() as stack:
        signer: Any
        if name == "azure-key-vault":
            vault = stack.enter_context(KeyVault(keys(), sign=lie))
            signer = azure_signer(vault, "ps256")
            stack.callback(signer.close)
        elif name == "gcp-kms":
            named = {"ps256": (key_for(Algorithm.PS256), Algorithm.PS256)}
            client = stack.enter_context(CloudKMS(named, sign=lie)).client()
            stack.callback(client.transport.close)
            signer = GCPKMSSigner.open("ps256", client=client)
        else:
            transit = stack.enter_context(VaultTransit(keys(), sign=lie))
            signer = VaultTransitSigner.open("ps256", url=transit.url, token=transit.token)
        with pytest.raises(SignerMisbehaved) as caught:
            signer.sign(b"data")
    assert caught.value.check == "signer-signature"


def test_vault_must_sign_with_the_version_that_was_published() -> None:
    with VaultTransit(keys(), version=2) as service:
        signer = VaultTransitSigner.open("es256", url=service.url, token=service.token)
        with pytest.raises(SignerMisbehaved, match="version 2, not 1"):
            signer.sign(b"data")


def test_cloud_kms_version_for_another_algorithm_is_refused(cloud_kms: CloudKMS) -> None:
    client = cloud_kms.client()
    with pytest.raises(UnusableKey, match="PKCS1"):
        GCPKMSSigner.open("rs256", client=client)
    client.transport.close()


AWS_NAMES = {
    Algorithm.PS256: "RSASSA_PSS_SHA_256",
    Algorithm.ES256: "ECDSA_SHA_256",
    Algorithm.RS256: "RSASSA_PKCS1_V1_5_SHA_256",
    Algorithm.RS512: "RSASSA_PKCS1_V1_5_SHA_512",
}


class DigestKMS:
    """AWS KMS at the seam of its client: it signs digests, and nothing else."""

    def __init__(self, alg: Algorithm, lie: SignDigest = sign_digest) -> None:
        self.key, self.alg, self.lie = key_for(alg), alg, lie

    def get_public_key(self, *, KeyId: str) -> dict[str, Any]:  # noqa: N803 (AWS's name)
        form = PublicFormat.SubjectPublicKeyInfo
        return {
            "KeyUsage": "SIGN_VERIFY",
            "PublicKey": self.key.public_key().public_bytes(Encoding.DER, form),
            "SigningAlgorithms": [AWS_NAMES[self.alg]],
        }

    def sign(
        self,
        *,
        KeyId: str,  # noqa: N803
        Message: bytes,  # noqa: N803
        MessageType: str,  # noqa: N803
        SigningAlgorithm: str,  # noqa: N803
    ) -> dict[str, Any]:
        assert (MessageType, SigningAlgorithm) == ("DIGEST", AWS_NAMES[self.alg])
        assert len(Message) == (64 if self.alg is Algorithm.RS512 else 32)
        return {"Signature": self.lie(self.key, self.alg, Message)}


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_kms_signs_digests_of_messages_of_any_size(alg: Algorithm) -> None:
    check_signer(AWSKMSSigner.open("k", alg=alg, client=DigestKMS(alg)))


@pytest.mark.parametrize("lie", LIES)
def test_kms_that_signs_otherwise_is_refused(lie: SignDigest) -> None:
    signer = AWSKMSSigner.open("k", client=DigestKMS(Algorithm.PS256, lie))
    with pytest.raises(SignerMisbehaved):
        signer.sign(b"data")


def test_kms_is_not_sent_a_message_that_is_too_long() -> None:
    signer = AWSKMSSigner.open("k", client=DigestKMS(Algorithm.ES256), sends_message=True)
    with pytest.raises(ConfigError, match="4096 octets at most"):
        signer.sign(bytes(4097))


def test_kms_key_for_encryption_is_refused(kms: Any) -> None:
    made = kms.create_key(KeyUsage="ENCRYPT_DECRYPT", KeySpec="RSA_2048")
    with pytest.raises(UnusableKey, match="SIGN_VERIFY"):
        AWSKMSSigner.open(made["KeyMetadata"]["KeyId"], client=kms)


def test_key_vault_key_that_may_not_sign_is_refused() -> None:
    with KeyVault(keys(), operations=("wrapKey",)) as service, pytest.raises(UnusableKey):
        azure_signer(service, "ps256")


# --- services that are away, or refuse ----------------------------------------------------------


def unavailable(open_signer: Callable[[], object], *, retryable: bool) -> None:
    with pytest.raises(SignerUnavailable) as caught:
        open_signer()
    assert caught.value.retryable is retryable
    assert "secret-token" not in str(caught.value)


def test_an_unknown_key_is_not_worth_a_retry(
    kms: Any, vault: VaultTransit, cloud_kms: CloudKMS, key_vault: KeyVault
) -> None:
    client = cloud_kms.client()
    unavailable(lambda: AWSKMSSigner.open("alias/absent", client=kms), retryable=False)
    unavailable(
        lambda: VaultTransitSigner.open("absent", url=vault.url, token="root"), retryable=False
    )
    unavailable(
        lambda: VaultTransitSigner.open("ps256", url=vault.url, token="secret-token"),
        retryable=False,
    )
    unavailable(lambda: GCPKMSSigner.open("absent", client=client), retryable=False)
    unavailable(lambda: azure_signer(key_vault, "absent"), retryable=False)
    client.transport.close()


def test_a_service_that_is_gone_may_be_tried_again() -> None:
    with VaultTransit(keys()) as vault, CloudKMS({}) as cloud:
        pass
    client = cloud.client()
    unavailable(
        lambda: VaultTransitSigner.open("ps256", url=vault.url, token="secret-token"),
        retryable=True,
    )
    unavailable(lambda: GCPKMSSigner.open("x", client=client, timeout_s=5.0), retryable=True)
    client.transport.close()
    gone = boto3.client(
        "kms",
        endpoint_url=vault.url,
        region_name="eu-west-2",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )
    unavailable(lambda: AWSKMSSigner.open("x", client=gone), retryable=True)
    gone.close()
    with KeyVault(keys()) as key_vault:
        signer = azure_signer(key_vault, "ps256")
        key_vault.stop()
        signer.close()
        unavailable(lambda: azure_signer(key_vault, "ps256"), retryable=True)
    with pytest.raises(ConfigError):  # its CA file is gone with it
        azure_signer(key_vault, "ps256")


def test_a_throttled_service_may_be_tried_again(key_vault: KeyVault) -> None:
    signer = azure_signer(key_vault, "es256")
    key_vault.throttled = True
    try:
        unavailable(lambda: signer.sign(b"x"), retryable=True)
    finally:
        key_vault.throttled = False
        signer.close()


def test_two_pkcs11_signers_share_one_token(softhsm: Token) -> None:
    names: dict[str, Any] = {"token_label": softhsm.label, "pin": softhsm.pin}
    with PKCS11Signer.open(softhsm.module, **names, label="PS256") as first:
        with PKCS11Signer.open(softhsm.module, **names, label="ES256") as second:
            check_signer(second)
            check_signer(first)
        check_signer(first)


def test_pkcs11_says_what_is_wrong(softhsm: Token) -> None:
    names: dict[str, Any] = {"token_label": softhsm.label, "pin": softhsm.pin}
    with pytest.raises(ConfigError, match="label or key_id"):
        PKCS11Signer.open(softhsm.module, **names)
    with pytest.raises(UnusableKey, match="0 objects"):
        PKCS11Signer.open(softhsm.module, **names, label="absent")
    for changes in ({"token_label": "other"}, {"pin": "9999"}):
        with pytest.raises(SignerUnavailable) as caught:
            PKCS11Signer.open(softhsm.module, **{**names, **changes}, label="x")
        assert "9999" not in str(caught.value)
    with pytest.raises(SignerUnavailable):
        PKCS11Signer.open("/no/such/module.so", **names, label="x")


def test_vault_needs_an_address_and_an_existing_version(vault: VaultTransit) -> None:
    with pytest.raises(ConfigError, match="url"):
        VaultTransitSigner.open("ps256")
    with pytest.raises(ConfigError, match="no version 7"):
        VaultTransitSigner.open("ps256", version=7, url=vault.url, token="root")


@pytest.mark.parametrize(
    ("extra", "module", "call"),
    [
        ("aws", "aws_kms", "AWSKMSSigner.open('x')"),
        ("gcp", "gcp_kms", "GCPKMSSigner.open('x')"),
        ("azure", "azure", "AzureKeyVaultSigner.open('https://x', 'x')"),
        ("vault", "vault", "VaultTransitSigner.open('x', url='http://x')"),
        ("pkcs11", "pkcs11", "PKCS11Signer.open('x', token_label='x', pin='x', label='x')"),
    ],
)
def test_an_absent_library_names_the_extra(extra: str, module: str, call: str) -> None:
    program = f"""
import sys
for name in ("boto3", "botocore", "google.cloud.kms_v1", "azure.keyvault.keys", "hvac", "pkcs11"):
    sys.modules[name] = None
from op_openbanking.errors import ExtraMissing
from op_openbanking.signing.{module} import {call.partition(".")[0]}
try:
    {call}
except ExtraMissing as error:
    print(error.extra)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.strip() == extra
