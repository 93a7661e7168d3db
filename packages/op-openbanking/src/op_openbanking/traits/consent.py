"""From a consent that is asked for to one that may be used, and to its end.

    bank            us                                  owner
    ask       ->    Consent (awaiting)
    begin     ->    Redirect | Decoupled | Challenge
                    `land` the browser that comes back, or `proceed` with what the owner says
              ->    Granted: the consent as the bank reports it

Redirect, decoupled and embedded authentication are three kinds of `Step`; a caller matches on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from op_openbanking.fapi.callback import Callback
from op_openbanking.flow import Flow
from op_openbanking.model.consent import Consent

from .wish import Presence


@dataclass(frozen=True, slots=True)
class Redirect:
    """Send the browser there; hand what comes back to `land`.

    Attributes:
        url: Where.
        state: Names the request; keep it beside the browser's session.
        expires_at_s: When the offer ends, in seconds since 1970, where known.
    """

    url: str = field(repr=False)
    state: str = field(repr=False)
    expires_at_s: float | None = None


@dataclass(frozen=True, slots=True)
class Decoupled:
    """The owner confirms in the bank's app; `proceed` with `Poll` until it is over.

    Attributes:
        message: What the bank wants shown, where it says.
        wait_s: Shortest time until the next poll.
    """

    message: str = ""
    wait_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Method:
    """One way to authenticate that the owner may choose."""

    id: str
    kind: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Challenge:
    """The bank asks the owner through us (embedded).

    Attributes:
        wants: The answer it waits for: `psu-id`, `password`, `method` or `code`.
        methods: What may be chosen, for `method`.
        data: What to show, for `code`: a text, a photoTAN, a flicker code.
        message: What the bank wants shown, where it says.
    """

    wants: str
    methods: tuple[Method, ...] = ()
    data: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class Granted:
    """Over: the consent as the bank reports it, which may be another end than the wished one."""

    consent: Consent


Step: TypeAlias = Redirect | Decoupled | Challenge | Granted


@dataclass(frozen=True, slots=True)
class Poll:
    """Ask how far the owner is."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the owner says to a `Challenge`; never in a repr."""

    text: str = field(repr=False)


Reply: TypeAlias = Poll | Answer


class Consents(Protocol):
    """Consents of any purpose at the bank."""

    def read(self, consent_id: str) -> Flow[Consent]:
        """The consent as the bank reports it.

        Raises:
            IllegalTransition: It moved as no consent can.
            BankError: The bank refuses.
        """
        ...

    def revoke(self, consent_id: str) -> Flow[Consent]:
        """End the consent at the bank and forget its tokens; ending it twice is no error."""
        ...


class Authorisations(Protocol):
    """How the owner agrees."""

    def begin(
        self, consent_id: str, *, user_agent: str, presence: Presence | None = None
    ) -> Flow[Step]:
        """Start, or start anew (re-authentication).

        Args:
            consent_id: A consent that was asked for.
            user_agent: Names the owner's browser, for example its session's id.
            presence: The owner is there.
        """
        ...

    def land(self, callback: Callback, *, user_agent: str) -> Flow[Consent]:
        """Judge what came back through the browser, once, and get the tokens.

        Raises:
            StateMismatch: It belongs to no request of this browser.
            ConsentRequired: The owner said no.
        """
        ...

    def proceed(self, consent_id: str, reply: Reply) -> Flow[Step]:
        """Go on with a decoupled or embedded authentication."""
        ...
