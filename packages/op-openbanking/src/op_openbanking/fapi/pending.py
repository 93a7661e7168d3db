"""Authorization requests that wait for their answer.

A `PendingStore` hands out each request once: `take` removes it, so a state cannot be used twice.
The request is bound to the browser that began it, by a text of the caller's choice (a session id);
only its hash is kept. `pending_memory` has a store for one process.

Source: RFC 6749 section 10.12; RFC 9700 section 4.7; FAPI 1.0 Advanced sections 8.4.3 and 8.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Final, Protocol

import msgspec

from op_openbanking.errors import ConfigError

from .profile import AnswerForm

DEFAULT_LIFETIME_S: Final = 900
"""How long an account owner may take; ours."""
_MAX_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class PendingAuthorization:
    """What has to be remembered from the redirect until the answer.

    It holds secrets (nonce, verifier): keep it on the server, never in the browser unless it is
    encrypted.

    Attributes:
        state: Unguessable, single use.
        nonce: Unguessable; comes back inside the id_token.
        verifier: PKCE verifier.
        issuer: Whom we asked.
        client_id: As whom.
        redirect_uri: Where the answer must arrive.
        answer: How it must be protected.
        scope: What was asked for.
        user_agent: Hash of the text that names the browser.
        expires_at_s: After this the answer is refused, in seconds since 1970.
        acr_values: Authentication contexts, one of which the id_token must name; empty for any.
        expected_claims: Claims that the id_token must carry with exactly these values, for example
            `openbanking_intent_id`.
    """

    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    issuer: str
    client_id: str
    redirect_uri: str
    answer: AnswerForm
    scope: str
    user_agent: str = field(repr=False)
    expires_at_s: float
    acr_values: tuple[str, ...] = ()
    expected_claims: Mapping[str, str] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """JSON, for a store on disk or in a database."""
        return msgspec.json.encode(asdict(self))

    @classmethod
    def from_bytes(cls, octets: bytes) -> PendingAuthorization:
        """Read what `to_bytes` wrote.

        Raises:
            ConfigError: Something else.
        """
        try:
            if len(octets) > _MAX_BYTES:
                raise ConfigError("the stored authorization request is too long")
            return msgspec.json.decode(octets, type=cls)
        except msgspec.MsgspecError as error:
            raise ConfigError("the stored authorization request is not readable") from error


class PendingStore(Protocol):
    """Keeps pending requests, quickly: in memory, in a local database, in an encrypted cookie."""

    def put(self, pending: PendingAuthorization) -> None:
        """Keep a request under its state."""
        ...

    def take(self, state: str) -> PendingAuthorization | None:
        """Remove and return the request of a state, in one step; None if there is none."""
        ...
