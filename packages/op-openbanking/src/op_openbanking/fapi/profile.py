"""What a security profile asks of a client, as data.

A `Profile` says which answers, sender constraints, client authentications and algorithms may be
used and which clause asks for it. The flows read it; none of them knows a profile by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from op_openbanking.jose.algorithms import FAPI_ALGORITHMS, Algorithm


class AnswerForm(StrEnum):
    """How the authorization answer is protected on its way through the browser.

    HYBRID: `response_type=code id_token`; the id_token is a detached signature over state and code.
    JARM: `response_type=code`, `response_mode=jwt`; the whole answer is a signed JWT.
    CODE: `response_type=code` with the issuer beside it (RFC 9207).
    """

    HYBRID = "hybrid"
    JARM = "jarm"
    CODE = "code"

    @property
    def response_type(self) -> str:
        """The value of the parameter `response_type`."""
        return "code id_token" if self is AnswerForm.HYBRID else "code"


class SenderConstraint(StrEnum):
    """What an access token is bound to: the TLS client certificate, or a DPoP key."""

    MTLS = "mtls"
    DPOP = "dpop"


class AuthMethod(StrEnum):
    """How the client proves itself, by the names of the metadata."""

    PRIVATE_KEY_JWT = "private_key_jwt"
    TLS_CLIENT_AUTH = "tls_client_auth"
    SELF_SIGNED_TLS_CLIENT_AUTH = "self_signed_tls_client_auth"


class Clause(StrEnum):
    """Rules that each profile places in a section of its own."""

    ANSWER = "answer"
    SENDER_CONSTRAINT = "sender-constraint"
    CLIENT_AUTHENTICATION = "client-authentication"
    REQUEST_OBJECT = "request-object"
    PUSHED_REQUEST = "pushed-request"
    ID_TOKEN = "id-token"  # noqa: S105 (a name)
    PKCE = "pkce"
    REDIRECT = "redirect"


MAX_REQUEST_OBJECT_LIFETIME_S: Final = 3600
"""FAPI1-ADV 5.2.2-13: `exp` at most 60 minutes after `nbf`."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A security profile.

    Attributes:
        name: Registered name, lower-case with dashes.
        title: Name and version of the specification.
        answers: Answer forms that may be asked for.
        constraints: Sender constraints of access tokens that may be used.
        auth_methods: Client authentications that may be used.
        algorithms: Signature algorithms of every token.
        requires_request_object: Whether parameters travel inside a signed request object.
        requires_par: Whether they must be pushed.
        requires_issuer_parameter: Whether an answer without signature must carry `iss`.
        requires_issuer_audience: Whether a client assertion is addressed to the issuer alone.
        clauses: Section that holds each rule.
    """

    name: str
    title: str
    answers: frozenset[AnswerForm]
    constraints: frozenset[SenderConstraint]
    auth_methods: frozenset[AuthMethod]
    requires_request_object: bool
    requires_par: bool
    requires_issuer_parameter: bool
    requires_issuer_audience: bool
    clauses: Mapping[Clause, str]
    algorithms: frozenset[Algorithm] = FAPI_ALGORITHMS

    def section(self, clause: Clause) -> str:
        """The section that holds a rule."""
        return self.clauses[clause]
