"""What one bank is: where it is, what it speaks, and where it leaves its standard.

A profile is data: nothing in it runs, and no standard knows a bank by name. What is absent has the
standard's value. It holds no secret: keys, certificates and client ids are the client's.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, Literal, TypeVar

import msgspec

from op_openbanking.errors import ConfigError, quoted

Q = TypeVar("Q", bound=msgspec.Struct)

_MAX_PAGES: Final = 10_000


class Signing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How messages are signed.

    Attributes:
        mode: `none`, `obie-jws` (x-jws-signature) or `http-signature` (Berlin Group, STET).
        issuer: What our signatures say of us: `{org-id}/{software-statement-id}` (OBIE), or the
            keyId (HTTP signatures). Empty: the client must state it.
        trust_anchor: `tan` of OBIE signatures.
        raw_body: Whether a signature covers the raw body although the version covers base64url.
        bank_issuer: What the bank's signatures say of it.
        bank_jwks_uri: Where its signing keys are; empty for those of the authorization server.
        answers: `required`: a good answer of a signed operation without signature is refused;
            `if-present`: one that has a signature is verified; `ignored`.
    """

    mode: Literal["none", "obie-jws", "http-signature"] = "none"
    issuer: str = ""
    trust_anchor: str = "openbanking.org.uk"
    raw_body: bool = False
    bank_issuer: str = ""
    bank_jwks_uri: str = ""
    answers: Literal["required", "if-present", "ignored"] = "required"


class Security(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How tokens are got.

    Attributes:
        profile: A registered FAPI profile, or `none` where calls carry no token (Berlin Group
            without OAuth).
        answer: How authorization answers are protected; empty for the profile's own choice.
        acr_values: Authentication contexts to ask for; one must come back.
    """

    profile: str = "fapi1-advanced"
    answer: Literal["", "hybrid", "jarm", "code"] = ""
    acr_values: tuple[str, ...] = ()


class ConsentRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a consent lasts here. No constant of ours stands in for what a bank leaves out.

    Attributes:
        reauthenticate_after_days: Days after which the owner must authenticate again; None where
            the bank asks for it by an error alone.
        longest_days: Longest consent that may be asked for; None for no end.
        margin_s: Taken off the longest, so that a slow network does not make it too long.
    """

    reauthenticate_after_days: int | None = None
    longest_days: int | None = None
    margin_s: int = 60

    def longest_until(self, now: datetime) -> datetime | None:
        """The latest end that may be asked for at an aware `now`, or None for no end."""
        if self.longest_days is None:
            return None
        return now + timedelta(days=self.longest_days, seconds=-self.margin_s)

    def reauthenticate_at_s(self, authorised_at_s: float) -> float | None:
        """When the owner must authenticate again, in seconds since 1970, or None."""
        days = self.reauthenticate_after_days
        return None if days is None else authorised_at_s + days * 86_400


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Bounds of one bank.

    Attributes:
        timeout_s: Longest exchange, in seconds.
        max_pages: Most pages of one list.
        max_response_bytes: Longest body.
        idempotency_window_s: How long the bank recognises an idempotency key; None for the
            standard's own.
        max_idempotency_key_chars: Longest key; None for the standard's own.
    """

    timeout_s: float = 30.0
    max_pages: int = _MAX_PAGES
    max_response_bytes: int = 8 * 1024 * 1024
    idempotency_window_s: int | None = None
    max_idempotency_key_chars: int | None = None


class BankProfile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One bank.

    Attributes:
        name: Lower-case with dashes.
        title: For people.
        standard: Registered name of the standard.
        version: One of its versions.
        issuer: Issuer of its authorization server; discovery starts there. Empty where calls carry
            no token.
        services: Base URL of each service by the standard's own name, for example `aisp`.
        security: See `Security`.
        signing: See `Signing`.
        consent: See `ConsentRules`.
        limits: See `Limits`.
        quirks: Where it leaves the standard; each standard says which switches it knows.
        offers: Optional operations that it has.
        lacks: Operations that it has not, each with the reason.
        example: Whether it is made up, to show the form.

    Raises:
        ConfigError: At construction: a URL, a name or a limit is none.
    """

    name: str
    title: str
    standard: str
    version: str
    services: dict[str, str]
    issuer: str = ""
    security: Security = Security()
    signing: Signing = Signing()
    consent: ConsentRules = ConsentRules()
    limits: Limits = Limits()
    quirks: dict[str, object] = {}
    offers: tuple[str, ...] = ()
    lacks: dict[str, str] = {}
    example: bool = False

    def __post_init__(self) -> None:
        if not self.name or not set(self.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-"):
            raise ConfigError(f"profile {quoted(self.name)}: name is lower-case with dashes")
        if not self.issuer and self.security.profile != "none":
            raise ConfigError(f"profile {quoted(self.name)}: issuer is missing")
        urls: Mapping[str, str] = {
            **({"issuer": self.issuer} if self.issuer else {}),
            **self.services,
        }
        for what, url in urls.items():
            if not url.startswith("https://") or url.endswith("/") or "?" in url or "#" in url:
                raise ConfigError(
                    f"profile {quoted(self.name)}, {what}: {quoted(url)} must be https, without "
                    f"query, fragment and a slash at its end"
                )
        limits = self.limits
        if not 0 < limits.timeout_s <= 600 or not 1 <= limits.max_pages <= _MAX_PAGES:  # noqa: PLR2004
            raise ConfigError(
                f"profile {quoted(self.name)}, limits: timeout_s is at most 600 and max_pages at "
                f"most {_MAX_PAGES}"
            )

    def service(self, name: str) -> str:
        """Base URL of a service.

        Raises:
            ConfigError: The profile does not have it.
        """
        if name not in self.services:
            raise ConfigError(f"profile {quoted(self.name)}: services has no {quoted(name)}")
        return self.services[name]

    def quirks_as(self, shape: type[Q]) -> Q:
        """The quirks, in the shape of the standard's switches.

        Raises:
            ConfigError: A switch that the standard does not know, or a value of another type.
        """
        try:
            return msgspec.convert(self.quirks, shape)
        except msgspec.ValidationError as error:
            raise ConfigError(f"profile {quoted(self.name)}, quirks: {error}") from None
