"""FAPI 1.0 Part 2, Advanced (final, March 2021), the side of the client.

Section numbers are those of the final text, with the number of the clause behind a dash: 5.2.2 and
5.2.3 hold the rules of server and client, 8.5 TLS, 8.6 algorithms.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from .profile import AnswerForm, AuthMethod, Clause, Profile, SenderConstraint

FAPI1_ADVANCED: Final = Profile(
    name="fapi1-advanced",
    title="FAPI 1.0 Advanced",
    answers=frozenset({AnswerForm.HYBRID, AnswerForm.JARM}),
    constraints=frozenset({SenderConstraint.MTLS}),
    auth_methods=frozenset(AuthMethod),
    requires_request_object=True,
    requires_par=False,
    requires_issuer_parameter=False,
    requires_issuer_audience=False,
    clauses=MappingProxyType(
        {
            Clause.ANSWER: "FAPI1-ADV 5.2.2-2 (code id_token, or code with response_mode jwt)",
            Clause.SENDER_CONSTRAINT: "FAPI1-ADV 5.2.3-1 (certificate-bound access tokens)",
            Clause.CLIENT_AUTHENTICATION: "FAPI1-ADV 5.2.2-14 (mTLS or private_key_jwt)",
            Clause.REQUEST_OBJECT: "FAPI1-ADV 5.2.3-2, -8 to -14 (signed request object)",
            Clause.PUSHED_REQUEST: "RFC 9126 2.2",
            Clause.ID_TOKEN: "FAPI1-ADV 5.2.3.1-2 to -4 (ID token as detached signature)",
            Clause.PKCE: "FAPI1-ADV 5.2.3-15 (PKCE with S256)",
            Clause.REDIRECT: "FAPI1-BASE 5.2.2 (exact redirect URI)",
        }
    ),
)
"""FAPI 1.0 Advanced: signed request objects, hybrid or JARM answers, certificate-bound tokens."""
