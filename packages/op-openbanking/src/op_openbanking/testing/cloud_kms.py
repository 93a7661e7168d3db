"""Google Cloud KMS, as far as signing needs it, for tests: gRPC on loopback.

Source: google.cloud.kms.v1.KeyManagementService, GetPublicKey and AsymmetricSign. The messages are
those of the installed google-cloud-kms.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from op_openbanking.jose.algorithms import Algorithm, PrivateKey

from .key_service import SignDigest, is_rsa, public_pem, sign_digest

_SERVICE = "google.cloud.kms.v1.KeyManagementService"
_NAMES = {
    Algorithm.PS256: "RSA_SIGN_PSS_2048_SHA256",
    Algorithm.ES256: "EC_SIGN_P256_SHA256",
    Algorithm.RS256: "RSA_SIGN_PKCS1_2048_SHA256",
    Algorithm.RS512: "RSA_SIGN_PKCS1_4096_SHA512",
}


class CloudKMS:
    """A Cloud KMS on loopback.

    Args:
        keys: For each key version its private key and algorithm.
        sign: How a digest is signed.
    """

    def __init__(
        self,
        keys: Mapping[str, tuple[PrivateKey, Algorithm]],
        *,
        sign: SignDigest = sign_digest,
    ) -> None:
        self.keys = dict(keys)
        self.sign = sign
        self._grpc = importlib.import_module("grpc")
        self._types = importlib.import_module("google.cloud.kms_v1").types
        self._server = self._grpc.server(ThreadPoolExecutor(max_workers=2))
        self._server.add_generic_rpc_handlers((self._handlers(),))
        self.port: int = self._server.add_insecure_port("127.0.0.1:0")

    def client(self) -> Any:  # noqa: ANN401 (google's types)
        """A `KeyManagementServiceClient` that talks to this service without credentials."""
        kms = importlib.import_module("google.cloud.kms_v1")
        grpc_transport = importlib.import_module(
            "google.cloud.kms_v1.services.key_management_service.transports"
        ).KeyManagementServiceGrpcTransport
        channel = self._grpc.insecure_channel(f"127.0.0.1:{self.port}")
        return kms.KeyManagementServiceClient(transport=grpc_transport(channel=channel))

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.stop(None).wait()

    def _handlers(self) -> Any:  # noqa: ANN401 (grpc has no types)
        types = self._types
        methods = {
            "GetPublicKey": (self._get_public_key, types.GetPublicKeyRequest, types.PublicKey),
            "AsymmetricSign": (
                self._asymmetric_sign,
                types.AsymmetricSignRequest,
                types.AsymmetricSignResponse,
            ),
        }
        handlers = {
            name: self._grpc.unary_unary_rpc_method_handler(
                method,
                request_deserializer=request.deserialize,
                response_serializer=answer.serialize,
            )
            for name, (method, request, answer) in methods.items()
        }
        return self._grpc.method_handlers_generic_handler(_SERVICE, handlers)

    def _find(self, name: str, context: Any) -> tuple[PrivateKey, Algorithm]:  # noqa: ANN401
        found = self.keys.get(name)
        if found is None:
            context.abort(self._grpc.StatusCode.NOT_FOUND, "no such version")
            raise KeyError(name)
        return found

    def _get_public_key(self, request: Any, context: Any) -> Any:  # noqa: ANN401
        key, alg = self._find(request.name, context)
        algorithms = self._types.CryptoKeyVersion.CryptoKeyVersionAlgorithm
        return self._types.PublicKey(pem=public_pem(key), algorithm=algorithms[_NAMES[alg]])

    def _asymmetric_sign(self, request: Any, context: Any) -> Any:  # noqa: ANN401
        key, alg = self._find(request.name, context)
        long = alg is Algorithm.RS512
        digest = request.digest.sha512 if long else request.digest.sha256
        if not digest or (is_rsa(key) == (alg is Algorithm.ES256)):
            context.abort(self._grpc.StatusCode.INVALID_ARGUMENT, "no digest of the right kind")
        signature = self.sign(key, alg, digest)
        return self._types.AsymmetricSignResponse(signature=signature, name=request.name)
