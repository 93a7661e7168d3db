"""Sessions by app password: tokens, and the calls that get them.

Tokens are opaque. A refresh token serves once: the new pair is handed to `save` before anything
else is done with it, so that a crash does not lose the session.

Source: reference section 14.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from smart_byte_atproto.data.model import Value
from smart_byte_atproto.errors import ATProtoError, ResponseInvalid, XRPCError
from smart_byte_atproto.identity.document import DIDDocument
from smart_byte_atproto.syntax import DID, Handle

from .call import Answer, Call


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a session is. Kept out of `repr`: whoever has it acts as the account.

    Attributes:
        did: Whose it is.
        handle: As the server says.
        access: Goes with calls.
        refresh: Gets the next pair.
        service: Origin that takes the tokens.
    """

    did: DID
    handle: str
    access: str = field(repr=False)
    refresh: str = field(repr=False)
    service: str = ""

    def to_fields(self) -> dict[str, str]:
        """Return it as a map, to be kept where nobody else reads."""
        return {
            "did": self.did,
            "handle": self.handle,
            "accessJwt": self.access,
            "refreshJwt": self.refresh,
            "service": self.service,
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, object]) -> Tokens:
        """Read what `to_fields` wrote.

        Raises:
            ResponseInvalid: `form`: something is missing.
        """
        texts = {
            name: fields.get(name)
            for name in ("did", "handle", "accessJwt", "refreshJwt", "service")
        }
        for name, text in texts.items():
            if not isinstance(text, str):
                raise ResponseInvalid("session", f"no {name}", code="form")
        did, handle, access, refresh, service = map(str, texts.values())
        return cls(DID(did), handle, access, refresh, service)


Save = Callable[[Tokens | None], None]
"""Keeps a session; None when it has ended."""


def create(identifier: str, password: str, *, factor_token: str | None = None) -> Call:
    """Return the call that begins a session."""
    data: dict[str, Value] = {"identifier": identifier, "password": password}
    if factor_token is not None:
        data["authFactorToken"] = factor_token
    return Call("com.atproto.server.createSession", data=data, is_procedure=True, bearer="")


def refresh(tokens: Tokens) -> Call:
    """Return the call that gets the next pair of tokens."""
    return Call("com.atproto.server.refreshSession", is_procedure=True, bearer=tokens.refresh)


def end(tokens: Tokens) -> Call:
    """Return the call that ends a session."""
    return Call("com.atproto.server.deleteSession", is_procedure=True, bearer=tokens.refresh)


def read_tokens(answer: Answer, *, service: str) -> Tokens:
    """Return the tokens of an answer to `create` or `refresh`.

    The server that the account's document names takes later calls, where it names one.

    Raises:
        ResponseInvalid: Something is missing.
    """
    data = answer.data()
    values = [data.get(name) for name in ("did", "handle", "accessJwt", "refreshJwt")]
    if not all(isinstance(value, str) and value for value in values):
        raise ResponseInvalid(answer.host, "a session without did, handle or tokens", code="form")
    did, handle, access, refreshed = map(str, values)
    document = data.get("didDoc")
    if isinstance(document, dict):
        try:
            service = DIDDocument.from_fields(document, did=did).pds or service
        except ATProtoError as bad:
            raise ResponseInvalid(answer.host, f"didDoc: {bad}", code="form") from bad
    return Tokens(DID(did), Handle(handle) if handle else "", access, refreshed, service)


def is_expired(error: ATProtoError) -> bool:
    """Tell if a refusal means that the access token has run out."""
    return isinstance(error, XRPCError) and error.name == "ExpiredToken"
