"""From the redirect to the verified answer.

`begin` makes the request (signed and pushed as the profile asks) and `finish` judges the answer. An
`AuthorizationResponse` exists only where `finish` made it, after every check.

Source: RFC 6749 section 4.1; OpenID Connect Core 3.3; JARM; RFC 9126; RFC 9207; FAPI 1.0 Advanced
section 5.2.3; FAPI 2.0 Security Profile section 5.3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Final, NoReturn, assert_never
from urllib.parse import urlencode, urlsplit

from op_openbanking.errors import ConfigError, StateMismatch, TokenInvalid, quoted
from op_openbanking.flow import Flow
from op_openbanking.jose.hashes import sha256_base64url
from op_openbanking.jose.strict_json import encode_object

from .answers import denied
from .callback import Callback
from .client import Client
from .dpop import DPoPKey
from .id_token import IDToken, same, verify_front_channel
from .jarm import state_of, verify_answer
from .metadata import Endpoint
from .par import push
from .pending import DEFAULT_LIFETIME_S, PendingAuthorization, PendingStore
from .pkce import challenge, fresh_text
from .profile import AnswerForm, Clause
from .request_object import (
    DEFAULT_LIFETIME_S as REQUEST_LIFETIME_S,
    request_object_claims,
    sign_request_object,
)

_SEAL: Final = object()
_STATE_SECTION: Final = "RFC 6749 10.12, FAPI1-ADV 8.4.3 (state of this browser, once)"
_MAX_CODE_CHARS: Final = 4096
_FRONT_CHANNEL: Final = frozenset(
    {"access_token", "code", "error", "error_description", "error_uri", "expires_in", "id_token",
     "iss", "response", "scope", "state", "token_type"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Redirection:
    """Where to send the browser.

    Attributes:
        url: The URL.
        state: Names the pending request.
        expires_at_s: When the server forgets a pushed request, or when our request object or
            patience ends; seconds since 1970.
    """

    url: str
    state: str = field(repr=False)
    expires_at_s: float


@dataclass(frozen=True, slots=True)
class AuthorizationResponse:
    """An authorization answer that passed every check of its profile; made by `finish` alone.

    Attributes:
        code: The authorization code, good for one exchange.
        request: The request that it answers.
        id_token: The id_token of a hybrid answer, or None.
    """

    code: str = field(repr=False)
    request: PendingAuthorization
    id_token: IDToken | None
    seal: InitVar[object] = None

    def __post_init__(self, seal: object) -> None:
        if seal is not _SEAL:
            raise ConfigError("an AuthorizationResponse comes from fapi.authorization.finish alone")

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied: reading it back would pass no check."""
        raise ConfigError("an AuthorizationResponse cannot be pickled or copied")


def begin(
    client: Client,
    *,
    scope: str,
    store: PendingStore,
    user_agent: str,
    answer: AnswerForm | None = None,
    acr_values: tuple[str, ...] = (),
    claims: Mapping[str, object] | None = None,
    expected_claims: Mapping[str, str] | None = None,
    parameters: Mapping[str, str] | None = None,
    pushes: bool | None = None,
    request_lifetime_s: int = REQUEST_LIFETIME_S,
    lifetime_s: int = DEFAULT_LIFETIME_S,
) -> Flow[Redirection]:
    """Make an authorization request.

    Args:
        client: The client.
        scope: Scopes with blanks between; `openid` is needed for a hybrid answer.
        store: Keeps the request until its answer.
        user_agent: Names the browser, for example its session id; `finish` needs the same.
        answer: How the answer is to be protected; by default JARM, or CODE where the profile has
            no JARM.
        acr_values: Authentication contexts, asked for as an essential claim of the id_token and
            checked there; they need `openid`.
        claims: The `claims` parameter, for example with `openbanking_intent_id`.
        expected_claims: Claims that the id_token must carry with these values; they need `openid`.
        parameters: Further parameters, for example `login_hint` or `resource`.
        pushes: Whether to push the request; by default wherever the server can.
        request_lifetime_s: Lifetime of a request object, at most 60 minutes.
        lifetime_s: How long the answer may take.

    Raises:
        ConfigError: The profile does not allow what was asked for.
        BankError: The server refuses the pushed request.
    """
    form = _answer_form(client, answer, scope)
    if (acr_values or expected_claims) and "openid" not in scope.split():
        raise ConfigError(
            "acr_values and expected_claims are checked in the id_token: they need the scope "
            "openid [OpenID Connect Core 3.1.2.1]"
        )
    pushing = client.server.has(Endpoint.PAR) if pushes is None else pushes
    if not pushing and (client.profile.requires_par or client.server.requires_par):
        raise ConfigError(
            f"requests must be pushed [{client.profile.section(Clause.PUSHED_REQUEST)}]"
        )
    if not user_agent:
        raise ConfigError(f"user_agent must name the browser [{_STATE_SECTION}]")
    now_s = client.clock()
    pending = PendingAuthorization(
        state=fresh_text(client.entropy),
        nonce=fresh_text(client.entropy),
        verifier=fresh_text(client.entropy),
        issuer=client.server.issuer,
        client_id=client.client_id,
        redirect_uri=client.redirect_uri,
        answer=form,
        scope=scope,
        user_agent=_browser(user_agent),
        expires_at_s=now_s + lifetime_s,
        acr_values=acr_values,
        expected_claims=dict(expected_claims or {}),
    )
    members = _parameters(client, pending, claims, parameters or {})
    outer = _plain(members)
    expires_at_s = pending.expires_at_s
    if client.request_signer is not None:
        signed = yield from sign_request_object(
            request_object_claims(
                members,
                client_id=client.client_id,
                issuer=client.server.issuer,
                jti=fresh_text(client.entropy),
                now_s=now_s,
                lifetime_s=request_lifetime_s,
            ),
            client.request_signer,
        )
        repeated = {
            "response_type": form.response_type,
            "client_id": client.client_id,
            "scope": scope,
        }
        outer = {"client_id": client.client_id, "request": signed}
        outer = outer if pushing else {**repeated, "request": signed}
        expires_at_s = min(expires_at_s, now_s + request_lifetime_s)
    if pushing:
        pushed = yield from push(client, outer)
        outer = {"client_id": client.client_id, "request_uri": pushed.request_uri}
        expires_at_s = min(pending.expires_at_s, pushed.expires_at_s)
    store.put(pending)
    return Redirection(_with_query(client, outer), pending.state, expires_at_s)


def finish(
    client: Client, callback: Callback, *, store: PendingStore, user_agent: str
) -> Flow[AuthorizationResponse]:
    """Judge the answer of an authorization request.

    Once the state of the answer is read, the pending request is taken from the store: an answer is
    judged once, whatever comes of it. One with no readable state, or with a parameter twice, is
    refused before that and costs no pending request.

    Args:
        client: The client that began.
        callback: What came back.
        store: Where `begin` put the request.
        user_agent: The browser that came back.

    Raises:
        StateMismatch: The answer belongs to no pending request, to another browser, to another
            server or redirect URI, or came too late. Its check is `state`, `user-agent`,
            `redirect-uri`, `iss` or `request-expired`.
        SecurityError: A signature or a claim does not hold, or something stands beside the signed
            answer.
        ConsentRequired: The account owner said no.
        BankError: The server answers with another error.
    """
    found = _parameters_of(callback)
    state = found.get("state")
    if "response" in found:
        inner = state_of(client, found["response"])
        state = inner if state is None else state
    pending = None if state is None else store.take(state)
    if pending is None:
        raise StateMismatch(
            "no request waits for this answer", check="state", section=_STATE_SECTION
        )
    _check_origin(client, callback, pending, user_agent)
    match pending.answer:
        case AnswerForm.JARM:
            return (yield from _finish_jarm(client, pending, found))
        case AnswerForm.HYBRID:
            return (yield from _finish_hybrid(client, pending, callback, found))
        case AnswerForm.CODE:
            return _finish_code(client, pending, found)
        case _:
            assert_never(pending.answer)


def _finish_jarm(
    client: Client, pending: PendingAuthorization, found: Mapping[str, str]
) -> Flow[AuthorizationResponse]:
    beside = sorted(_FRONT_CHANNEL.intersection(found) - {"response"})
    if "response" not in found or beside:
        problem = f"{beside[0]} stands beside" if beside else "there is no"
        raise TokenInvalid(
            f"{problem} the signed answer",
            check="answer-unsigned",
            section="JARM 2.3, FAPI1-ADV 5.2.3.2",
        )
    claims = yield from verify_answer(client, pending, found["response"])
    error = claims.optional_text("error")
    if error is not None:
        denied(error, claims.optional_text("error_description"))
    return AuthorizationResponse(_code(claims.text("code")), pending, None, seal=_SEAL)


def _finish_hybrid(
    client: Client, pending: PendingAuthorization, callback: Callback, found: Mapping[str, str]
) -> Flow[AuthorizationResponse]:
    section = client.profile.section(Clause.ANSWER)
    in_query = {name for name, _ in callback.query} & {"code", "id_token"}
    extra = {"response", "access_token", "token_type"}.intersection(found)
    if in_query or extra:
        raise TokenInvalid(
            f"{min(in_query or extra)} does not belong into this answer",
            check="answer-form",
            section=section,
        )
    _check_issuer(client, found, required=False)
    if "error" in found:
        denied(found["error"], found.get("error_description"))
    if "code" not in found or "id_token" not in found:
        raise TokenInvalid("code or id_token is missing", check="answer-form", section=section)
    code = _code(found["code"])
    id_token = yield from verify_front_channel(client, pending, token=found["id_token"], code=code)
    return AuthorizationResponse(code, pending, id_token, seal=_SEAL)


def _finish_code(
    client: Client, pending: PendingAuthorization, found: Mapping[str, str]
) -> AuthorizationResponse:
    extra = {"response", "access_token", "token_type", "id_token"}.intersection(found)
    if extra:
        raise TokenInvalid(
            f"{min(extra)} does not belong into this answer",
            check="answer-form",
            section=client.profile.section(Clause.ANSWER),
        )
    required = client.profile.requires_issuer_parameter or client.server.sends_issuer
    _check_issuer(client, found, required=required)
    if "error" in found:
        denied(found["error"], found.get("error_description"))
    if "code" not in found:
        raise TokenInvalid(
            "code is missing", check="answer-form", section=client.profile.section(Clause.ANSWER)
        )
    return AuthorizationResponse(_code(found["code"]), pending, None, seal=_SEAL)


def _check_origin(
    client: Client, callback: Callback, pending: PendingAuthorization, user_agent: str
) -> None:
    if not same(pending.user_agent, _browser(user_agent)):
        raise StateMismatch(
            "another browser began this request", check="user-agent", section=_STATE_SECTION
        )
    if pending.issuer != client.server.issuer or pending.client_id != client.client_id:
        raise StateMismatch(
            f"the request went to {quoted(pending.issuer)}",
            check="iss",
            section="FAPI1-ADV 8.3.3 (mix-up)",
        )
    registered = urlsplit(pending.redirect_uri)
    own_query = Callback.from_url(pending.redirect_uri).query
    if (
        callback.location != f"{registered.scheme}://{registered.netloc}{registered.path}"
        or callback.query[: len(own_query)] != own_query
    ):
        raise StateMismatch(
            "the answer arrived at another redirect URI",
            check="redirect-uri",
            section=client.profile.section(Clause.REDIRECT),
        )
    if client.clock() > pending.expires_at_s:
        raise StateMismatch(
            "the answer came too late", check="request-expired", section=_STATE_SECTION
        )


def _check_issuer(client: Client, found: Mapping[str, str], *, required: bool) -> None:
    issuer = found.get("iss")
    if issuer is None and not required:
        return
    if issuer != client.server.issuer:
        problem = "is missing" if issuer is None else f"is {quoted(issuer)}"
        raise StateMismatch(f"iss {problem}", check="iss", section="RFC 9207 2.4")


def _parameters_of(callback: Callback) -> dict[str, str]:
    pairs = [pair for pair in (*callback.query, *callback.body) if pair[0] in _FRONT_CHANNEL]
    found = dict(pairs)
    if len(found) != len(pairs):
        raise TokenInvalid(
            "a parameter of the answer occurs twice",
            check="answer-twice",
            section="RFC 6749 3.1",
        )
    return found


def _answer_form(client: Client, wanted: AnswerForm | None, scope: str) -> AnswerForm:
    allowed = client.profile.answers
    default = AnswerForm.JARM if AnswerForm.JARM in allowed else AnswerForm.CODE
    form = default if wanted is None else wanted
    if form not in allowed:
        raise ConfigError(
            f"{client.profile.title} does not allow the answer form {form.value} "
            f"[{client.profile.section(Clause.ANSWER)}]"
        )
    if form is AnswerForm.HYBRID and "openid" not in scope.split():
        raise ConfigError("a hybrid answer needs the scope openid [FAPI1-ADV 5.2.3.1-1]")
    return form


def _parameters(
    client: Client,
    pending: PendingAuthorization,
    claims: Mapping[str, object] | None,
    extra: Mapping[str, str],
) -> dict[str, object]:
    members: dict[str, object] = {
        "response_type": pending.answer.response_type,
        "client_id": client.client_id,
        "redirect_uri": client.redirect_uri,
        "scope": pending.scope,
        "state": pending.state,
        "code_challenge": challenge(pending.verifier),
        "code_challenge_method": "S256",
    }
    if "openid" in pending.scope.split():
        members["nonce"] = pending.nonce
    if pending.answer is AnswerForm.JARM:
        members["response_mode"] = "jwt"
    if isinstance(client.binding, DPoPKey):
        members["dpop_jkt"] = client.binding.thumbprint
    wanted = _claims(claims, pending.acr_values)
    if wanted:
        members["claims"] = wanted
    taken = sorted(set(extra) & {*members, "request", "request_uri", "response_mode", "claims"})
    if taken:
        raise ConfigError(f"parameter {taken[0]} is set by this flow")
    return {**members, **extra}


def _claims(claims: Mapping[str, object] | None, acr_values: tuple[str, ...]) -> dict[str, object]:
    wanted = dict(claims or {})
    if acr_values:
        inner = wanted.get("id_token") or {}
        if not isinstance(inner, Mapping):
            raise ConfigError("claims.id_token must be an object")
        acr = {"essential": True, "values": list(acr_values)}
        wanted["id_token"] = {**inner, "acr": acr}
    return wanted


def _plain(members: Mapping[str, object]) -> dict[str, str]:
    """Parameters outside a request object: `claims` as JSON text."""
    return {
        name: value if isinstance(value, str) else encode_object(value).decode("utf-8")
        for name, value in members.items()
    }


def _with_query(client: Client, parameters: Mapping[str, str]) -> str:
    base = client.server.endpoint(Endpoint.AUTHORIZATION, mutual_tls=False)
    return f"{base}{'&' if urlsplit(base).query else '?'}{urlencode(parameters)}"


def _browser(user_agent: str) -> str:
    return sha256_base64url(user_agent.encode("utf-8", "surrogatepass"))


def _code(text: str) -> str:
    if not 0 < len(text) <= _MAX_CODE_CHARS or not text.isascii() or not text.isprintable():
        raise TokenInvalid("the code is not a short text", check="code", section="RFC 6749 A.11")
    return text
