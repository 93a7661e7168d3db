"""FAPI 2.0 Security Profile (final, February 2025), the side of the client.

PAR always; code with PKCE and the issuer beside it; tokens bound by mTLS or DPoP; the client proves
itself by mTLS or private_key_jwt addressed to the issuer alone.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from .profile import AnswerForm, AuthMethod, Clause, Profile, SenderConstraint

FAPI2_SECURITY: Final = Profile(
    name="fapi2-security",
    title="FAPI 2.0 Security Profile",
    answers=frozenset({AnswerForm.CODE}),
    constraints=frozenset(SenderConstraint),
    auth_methods=frozenset(AuthMethod),
    requires_request_object=False,
    requires_par=True,
    requires_issuer_parameter=True,
    requires_issuer_audience=True,
    clauses=MappingProxyType(
        {
            Clause.ANSWER: "FAPI2-SEC 5.3.3.2 (authorization code flow)",
            Clause.SENDER_CONSTRAINT: "FAPI2-SEC 5.3.3.1 (mTLS or DPoP)",
            Clause.CLIENT_AUTHENTICATION: "FAPI2-SEC 5.3.3.1 (mTLS or private_key_jwt)",
            Clause.REQUEST_OBJECT: "RFC 9101 4",
            Clause.PUSHED_REQUEST: "FAPI2-SEC 5.3.3.2 (pushed authorization requests)",
            Clause.ID_TOKEN: "OpenID Connect Core 3.1.3.7",
            Clause.PKCE: "FAPI2-SEC 5.3.3.2 (PKCE with S256)",
            Clause.REDIRECT: "FAPI2-SEC 5.3.3.2 (iss, RFC 9207)",
        }
    ),
)
"""FAPI 2.0: pushed requests, code with iss, tokens bound by mTLS or DPoP."""
