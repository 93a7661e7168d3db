"""Signers by name, for configuration files and tests.

A class is imported when it is asked for, so that one signer's optional library is no condition for
another.
"""

from __future__ import annotations

import importlib
from types import MappingProxyType
from typing import Any, Final

from op_openbanking.errors import UnknownPlugin

SIGNERS: Final = MappingProxyType(
    {
        "aws-kms": "aws_kms:AWSKMSSigner",
        "azure-key-vault": "azure:AzureKeyVaultSigner",
        "gcp-kms": "gcp_kms:GCPKMSSigner",
        "local": "local:LocalSigner",
        "pkcs11": "pkcs11:PKCS11Signer",
        "vault-transit": "vault:VaultTransitSigner",
    }
)


def signer_class(name: str) -> Any:  # noqa: ANN401 (each class has its own `open`)
    """The class registered under a name; remote ones are made by its `open`.

    Raises:
        UnknownPlugin: No signer has that name.
    """
    if name not in SIGNERS:
        raise UnknownPlugin("signer", name, known=tuple(sorted(SIGNERS)))
    module, _, class_name = SIGNERS[name].partition(":")
    return getattr(importlib.import_module(f"op_openbanking.signing.{module}"), class_name)
