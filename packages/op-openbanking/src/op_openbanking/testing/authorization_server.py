"""A small authorization server in memory: real signatures, real checks, no sockets.

It is a `flow.Transport`: `send` answers the requests of the flows, and `visit` plays the browser
and the account owner, who always agrees. It judges request objects, client assertions, PKCE, DPoP
proofs and certificate handles as a bank would, so that a client that skips a step is refused. The
client certificate is what the request names; there is no TLS here.

Everything it hands out can be changed on its way by `testing.middle`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from op_openbanking.errors import BankError, OpenBankingError
from op_openbanking.fapi.profile import AuthMethod
from op_openbanking.flow import Clock, Request, Response
from op_openbanking.jose.hashes import half_hash, sha256_base64url
from op_openbanking.jose.jwk import JWK, JWKSet
from op_openbanking.jose.jws import peek
from op_openbanking.jose.jwt import ClaimRules, sign_jwt, verify_jwt
from op_openbanking.jose.strict_json import encode_object, parse_object
from op_openbanking.signing.local import LocalSigner

ISSUER: Final = "https://auth.bank.example"
MUTUAL: Final = "https://mtls.bank.example"
RESOURCE: Final = "https://api.bank.example/accounts"
_LIMIT: Final = 1 << 20
_HOUR_S: Final = 3600


@dataclass(slots=True)
class _Grant:
    """What one account owner agreed to."""

    client_id: str
    parameters: Mapping[str, str]
    scope: str
    bound_to: str = ""
    active: bool = True
    claims: dict[str, object] = field(default_factory=dict)


class AuthorizationServer:
    """One server with registered clients.

    Args:
        clock: Seconds since 1970.
        signer: Signs its tokens; PS256 or ES256.
        jwt_access_tokens: Whether access tokens are JWTs with `cnf`; else they are opaque.
        asks_for_dpop_nonce: Whether DPoP proofs must carry a nonce of the server.

    Attributes:
        clients: Metadata by client id.
        requests: Every request received, in order.
        user_claims: Claims of the account owner, beside `sub`.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        signer: LocalSigner,
        jwt_access_tokens: bool = False,
        asks_for_dpop_nonce: bool = False,
    ) -> None:
        self.clients: dict[str, dict[str, object]] = {}
        self.requests: list[Request] = []
        self.user_claims: dict[str, object] = {"acr": "urn:openbanking:psd2:sca"}
        self._clock = clock
        self._signer = signer
        self._jwt_access_tokens = jwt_access_tokens
        self._nonce = "server-nonce-1" if asks_for_dpop_nonce else None
        self._pushed: dict[str, dict[str, str]] = {}
        self._codes: dict[str, _Grant] = {}
        self._access: dict[str, _Grant] = {}
        self._refresh: dict[str, _Grant] = {}
        self._seen_jti: set[str] = set()

    @property
    def metadata(self) -> dict[str, object]:
        """Its metadata document."""
        names = {
            "token_endpoint": "/token",
            "pushed_authorization_request_endpoint": "/par",
            "introspection_endpoint": "/introspect",
            "revocation_endpoint": "/revoke",
            "registration_endpoint": "/register",
        }
        return {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "jwks_uri": f"{ISSUER}/jwks",
            **{name: ISSUER + path for name, path in names.items()},
            "mtls_endpoint_aliases": {name: MUTUAL + path for name, path in names.items()},
            "tls_client_certificate_bound_access_tokens": True,
            "authorization_response_iss_parameter_supported": True,
            "token_endpoint_auth_methods_supported": [
                "private_key_jwt",
                "tls_client_auth",
                "self_signed_tls_client_auth",
            ],
        }

    def send(self, request: Request) -> Response:
        """Answer one request."""
        self.requests.append(request)
        path = urlsplit(request.url).path
        routes: dict[str, Callable[[Request], Response]] = {
            "/.well-known/openid-configuration": lambda _: _json(200, self.metadata),
            "/.well-known/oauth-authorization-server": lambda _: _json(200, self.metadata),
            "/jwks": lambda _: _json(200, JWKSet.of([self._signer.jwk]).to_members()),
            "/par": self._par,
            "/token": self._token,
            "/introspect": self._introspect,
            "/revoke": self._revoke,
            "/register": self._register,
            "/accounts": self._resource,
        }
        route = routes.get(path)
        if route is None:
            return _json(404, {})
        try:
            answer = route(request)
        except BankError as refused:
            answer = _json(refused.status or 400, {"error": refused.code})
        except OpenBankingError:
            # A signature or claim of the client does not hold.
            answer = _json(401, {"error": "invalid_client"})
        if self._nonce is None or request.header("dpop") is None:
            return answer
        return replace(answer, headers=(*answer.headers, ("dpop-nonce", self._nonce)))

    def visit(self, url: str) -> str:
        """Be the browser: open an authorization URL and return where it ends.

        Raises:
            ValueError: The server would show an error page instead of redirecting.
        """
        outer = dict(parse_qsl(urlsplit(url).query))
        try:
            parameters = self._authorization_parameters(outer)
        except OpenBankingError as refused:
            raise ValueError(f"error page: {refused}") from refused
        code = secrets.token_urlsafe(16)
        grant = _Grant(parameters["client_id"], parameters, parameters["scope"])
        self._codes[code] = grant
        answer = {"code": code, "state": parameters["state"]}
        redirect_uri = parameters["redirect_uri"]
        if parameters["response_type"] == "code id_token":
            hashes = {"s_hash": parameters["state"], "c_hash": code}
            answer["id_token"] = self._id_token(grant, **hashes)
            return f"{redirect_uri}#{urlencode(answer)}"
        if parameters.get("response_mode") == "jwt":
            now_s = int(self._clock())
            claims = {"iss": ISSUER, "aud": grant.client_id, "exp": now_s + 120, **answer}
            return f"{redirect_uri}?{urlencode({'response': sign_jwt(claims, self._signer)})}"
        return f"{redirect_uri}?{urlencode({**answer, 'iss': ISSUER})}"

    def _authorization_parameters(self, outer: dict[str, str]) -> dict[str, str]:
        if "request_uri" in outer:
            held = self._pushed.pop(outer["request_uri"], None)
            if held is None or held["client_id"] != outer.get("client_id"):
                raise _refused("invalid_request_uri")
            return held
        return self._judged(outer, outer.get("client_id", ""))

    def _judged(self, outer: dict[str, str], client_id: str) -> dict[str, str]:
        """Parameters of a request object, or plain ones, judged as FAPI asks of a server."""
        client = self.clients.get(client_id)
        if client is None:
            raise _refused("invalid_client", 401)
        parameters = dict(outer)
        if "request" in outer:
            rules = ClaimRules(issuer=client_id, audience=ISSUER, max_lifetime_s=_HOUR_S)
            keys = _keys_of(client)
            token = verify_jwt(outer["request"], keys, rules=rules, now_s=self._clock())
            begins_s, ends_s = token.claims.instant_s("nbf"), token.claims.instant_s("exp")
            if not 0 < ends_s - begins_s <= _HOUR_S or begins_s < self._clock() - _HOUR_S:
                raise _refused("invalid_request_object")
            parameters = {
                name: value if isinstance(value, str) else encode_object(value).decode()
                for name, value in token.claims.members.items()
            }
        redirects = client.get("redirect_uris")
        if not isinstance(redirects, list) or parameters.get("redirect_uri") not in redirects:
            raise _refused("invalid_request")
        if parameters.get("code_challenge_method") != "S256":
            raise _refused("invalid_request")
        return parameters

    def _par(self, request: Request) -> Response:
        fields = self._authenticated(request)
        client_id = fields["client_id"]
        uri = f"urn:ietf:params:oauth:request_uri:{secrets.token_urlsafe(8)}"
        self._pushed[uri] = self._judged(fields, client_id)
        return _json(201, {"request_uri": uri, "expires_in": 60})

    def _token(self, request: Request) -> Response:
        fields = self._authenticated(request)
        client_id, kind = fields["client_id"], fields.get("grant_type")
        # First of all: a proof without nonce must not spend the code.
        confirmation = self._confirmation(request)
        if kind == "authorization_code":
            grant = self._codes.pop(fields.get("code", ""), None)
            if grant is None or grant.client_id != client_id:
                raise _refused("invalid_grant")
            challenge = grant.parameters["code_challenge"]
            if sha256_base64url(fields.get("code_verifier", "").encode()) != challenge:
                raise _refused("invalid_grant")
        elif kind == "refresh_token":
            grant = self._refresh.pop(fields.get("refresh_token", ""), None)
            if grant is None or grant.client_id != client_id or not grant.active:
                raise _refused("invalid_grant")
        elif kind == "client_credentials":
            grant = _Grant(client_id, {}, fields.get("scope", ""))
        else:
            raise _refused("unsupported_grant_type")
        return _json(200, self._issued(grant, confirmation))

    def _confirmation(self, request: Request) -> dict[str, str]:
        proof = request.header("dpop")
        if proof is not None:
            return {"jkt": self._judge_proof(request, proof).thumbprint()}
        if request.client_certificate is None:
            raise _refused("invalid_request")
        return {"x5t#S256": request.client_certificate}

    def _issued(self, grant: _Grant, confirmation: dict[str, str]) -> dict[str, object]:
        grant.claims["cnf"] = confirmation
        (grant.bound_to,) = confirmation.values()
        now_s = int(self._clock())
        access_token = secrets.token_urlsafe(24)
        if self._jwt_access_tokens:
            claims = {"iss": ISSUER, "sub": "user-1", "cnf": confirmation, "jti": access_token}
            access_token = sign_jwt({**claims, "exp": now_s + 600}, self._signer, typ="at+jwt")
        self._access[access_token] = grant
        answer: dict[str, object] = {
            "access_token": access_token,
            "token_type": "DPoP" if "jkt" in confirmation else "Bearer",
            "expires_in": 600,
            "scope": grant.scope,
        }
        if grant.parameters:
            refresh_token = secrets.token_urlsafe(24)
            self._refresh[refresh_token] = grant
            answer["refresh_token"] = refresh_token
        if "openid" in grant.scope.split():
            answer["id_token"] = self._id_token(grant, at_hash=access_token)
        return answer

    def _introspect(self, request: Request) -> Response:
        token = self._authenticated(request).get("token", "")
        grant = self._access.get(token)
        if grant is None or not grant.active:
            return _json(200, {"active": False})
        return _json(200, {"active": True, "client_id": grant.client_id, **grant.claims})

    def _revoke(self, request: Request) -> Response:
        token = self._authenticated(request).get("token", "")
        grant = self._refresh.get(token) or self._access.get(token)
        if grant is not None:
            grant.active = False
        return Response(200)

    def _register(self, request: Request) -> Response:
        members = self._registration(request)
        client_id = f"client-{len(self.clients) + 1}"
        self.clients[client_id] = members
        uri = f"{ISSUER}/register/{client_id}"
        extra = {"client_id": client_id, "registration_client_uri": uri}
        return _json(201, {**members, **extra, "registration_access_token": "manage"})

    def _registration(self, request: Request) -> dict[str, object]:
        if request.header("content-type") == "application/json":
            return parse_object(request.body, what="registration", limit_bytes=_LIMIT)
        _, payload = peek(request.body)
        members = parse_object(payload, what="registration", limit_bytes=_LIMIT)
        _, stated = peek(str(members["software_statement"]))
        statement = parse_object(stated, what="statement", limit_bytes=_LIMIT)
        if members["iss"] != statement["software_id"]:
            raise _refused("invalid_software_statement")
        keys = JWKSet.from_members(_object(statement["software_jwks"]))
        rules = ClaimRules(issuer=str(members["iss"]), audience=ISSUER)
        verify_jwt(request.body, keys, rules=rules, now_s=self._clock())
        return {**members, "jwks": keys.to_members()}

    def _resource(self, request: Request) -> Response:
        scheme, _, token = (request.header("authorization") or "").partition(" ")
        grant = self._access.get(token)
        if grant is None or not grant.active:
            raise _refused("invalid_token", 401)
        if scheme == "DPoP":
            proof = request.header("dpop") or ""
            key = self._judge_proof(request, proof, access_token=token)
            held = key.thumbprint()
        else:
            held = request.client_certificate or ""
        if held != grant.bound_to:
            raise _refused("invalid_token", 401)
        return _json(200, {"scope": grant.scope})

    def _authenticated(self, request: Request) -> dict[str, str]:
        fields = dict(parse_qsl(request.body.decode("ascii")))
        client_id = fields.get("client_id", "")
        client = self.clients.get(client_id)
        if client is None:
            raise _refused("invalid_client", 401)
        if client["token_endpoint_auth_method"] == AuthMethod.PRIVATE_KEY_JWT:
            rules = ClaimRules(
                issuer=client_id, audience=ISSUER, max_lifetime_s=300, required=("jti", "sub")
            )
            assertion = fields.pop("client_assertion", "")
            token = verify_jwt(assertion, _keys_of(client), rules=rules, now_s=self._clock())
            if token.claims.text("jti") in self._seen_jti:
                raise _refused("invalid_client", 401)
            self._seen_jti.add(token.claims.text("jti"))
        elif request.client_certificate is None:
            raise _refused("invalid_client", 401)
        return fields

    def _judge_proof(self, request: Request, proof: str, *, access_token: str | None = None) -> JWK:
        header, _ = peek(proof)
        key = JWK.from_members(_object(header.get("jwk")))
        rules = ClaimRules(
            issuer=None,
            audience=None,
            requires_expiry=False,
            max_age_s=60,
            required=("jti", "htm", "htu"),
            types=frozenset({"dpop+jwt"}),
        )
        claims = verify_jwt(proof, key, rules=rules, now_s=self._clock()).claims
        if (claims.text("htm"), claims.text("htu")) != (request.method, request.url.split("?")[0]):
            raise _refused("invalid_dpop_proof", 401)
        expected = None if access_token is None else sha256_base64url(access_token.encode())
        if claims.optional_text("ath") != expected:
            raise _refused("invalid_dpop_proof", 401)
        if self._nonce is not None and claims.get("nonce") != self._nonce:
            raise _refused("use_dpop_nonce", 401)
        return key

    def _id_token(self, grant: _Grant, **hashed: str) -> str:
        now_s = int(self._clock())
        claims = {
            "iss": ISSUER,
            "aud": grant.client_id,
            "sub": "user-1",
            "iat": now_s,
            "exp": now_s + 300,
            "nonce": grant.parameters.get("nonce", ""),
            **self.user_claims,
            **{name: half_hash(value, alg=self._signer.alg) for name, value in hashed.items()},
        }
        return sign_jwt(claims, self._signer)


def _refused(code: str, status: int = 400) -> BankError:
    return BankError("the server refuses", status=status, code=code)


def _keys_of(client: Mapping[str, object]) -> JWKSet:
    return JWKSet.from_members(_object(client.get("jwks")))


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _refused("invalid_request")
    return value


def _json(status: int, members: Mapping[str, object]) -> Response:
    headers = (("content-type", "application/json"), ("cache-control", "no-store"))
    return Response(status, headers, encode_object(dict(members)))
