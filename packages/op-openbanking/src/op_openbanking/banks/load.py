"""Profiles from TOML: every member is one that a profile has, of its type, or the file is refused.

`{base}` in a URL is replaced, for banks whose address is known only when they run (the sandbox).
"""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Final

import msgspec

from op_openbanking.errors import ConfigError, UnknownPlugin, quoted

from .profile import BankProfile

MAX_PROFILE_BYTES: Final = 256 * 1024
_FOLDER: Final = "profiles"


def parse_profile(octets: bytes, *, base: str | None = None, where: str = "profile") -> BankProfile:
    """Read a profile.

    Args:
        octets: UTF-8 TOML.
        base: Replaces `{base}` in URLs.
        where: Name of the file, for errors.

    Raises:
        ConfigError: Not TOML, or not a profile; says what and where.
    """
    if len(octets) > MAX_PROFILE_BYTES:
        raise ConfigError(f"{where}: longer than {MAX_PROFILE_BYTES} bytes")
    try:
        members: object = tomllib.loads(octets.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{where}: not TOML: {error}") from None
    try:
        return msgspec.convert(_based(members, base, where), BankProfile)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from None
    except msgspec.ValidationError as error:
        # msgspec wraps what a constructor raises, and names the place.
        raise ConfigError(f"{where}: {error}") from None


def example_profiles() -> tuple[str, ...]:
    """Names of the profiles that come with the package, sorted."""
    folder = resources.files(__package__) / _FOLDER
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def example_profile(name: str, *, base: str | None = None) -> BankProfile:
    """A profile that comes with the package.

    Args:
        name: One of `example_profiles`.
        base: Replaces `{base}`: the sandbox's own URL.

    Raises:
        UnknownPlugin: None has that name.
        ConfigError: It needs a `base`.
    """
    if name not in example_profiles():
        raise UnknownPlugin("bank profile", name, known=example_profiles())
    octets = (resources.files(__package__) / _FOLDER / f"{name}.toml").read_bytes()
    return parse_profile(octets, base=base, where=f"{name}.toml")


def _based(value: object, base: str | None, where: str) -> object:
    match value:
        case dict():
            return {name: _based(member, base, where) for name, member in value.items()}
        case list():
            return [_based(item, base, where) for item in value]
        case str() if "{base}" in value:
            if base is None:
                raise ConfigError(f"{where}: {quoted(value)} needs a base")
            return value.replace("{base}", base.rstrip("/"))
        case _:
            return value
