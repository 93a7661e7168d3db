"""FAPI clients: FAPI 1.0 Advanced and the FAPI 2.0 Security Profile on the same parts.

The order of a conversation, each step a flow for `flow.run` or `flow.arun`:

    server = discover(issuer)                                   metadata
    registration = register(...)                                registration, once
    client = Client(profile=FAPI1_ADVANCED, server=..., ...)    client
    redirect = begin(client, ...)                               authorization
    answer = finish(client, callback, ...)   (AuthorizationResponse)
    tokens = exchange(client, answer)        (TokenSet)           tokens
    response = call(client, tokens, request)                    resource
    refresh, client_credentials, introspect, revoke             tokens, token_status

Nothing unverified has a type of its own: an `AuthorizationResponse` comes from `finish` alone,
after every check of its profile, and a `TokenSet` from the token flows alone, after its binding was
checked; both refuse to be constructed. `exchange` takes nothing but the one, `call` nothing but the
other, so no check can be left out by forgetting a call.

Each refusal is a `SecurityError` with a stable `check` and the `section` that asks for it. Profiles
are data (`profile`, `fapi1_advanced`, `fapi2_security`); to add one, write its file and add it to
`profiles`.
"""

from __future__ import annotations
