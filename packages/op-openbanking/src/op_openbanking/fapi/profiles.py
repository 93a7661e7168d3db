"""The registered profiles, by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from op_openbanking.errors import UnknownPlugin

from .fapi1_advanced import FAPI1_ADVANCED
from .fapi2_security import FAPI2_SECURITY
from .profile import Profile

PROFILES: Final = MappingProxyType(
    {profile.name: profile for profile in (FAPI1_ADVANCED, FAPI2_SECURITY)}
)


def profile(name: str) -> Profile:
    """The profile of that name.

    Raises:
        UnknownPlugin: None.
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise UnknownPlugin("profile", name, known=tuple(sorted(PROFILES))) from None
