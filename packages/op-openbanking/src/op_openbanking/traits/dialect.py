"""The traits of one standard together, and which standards there are.

To add one: `standards/<name>/client/` with a module `dialect` that has a `DIALECT`, and one entry
in `_MODULES`. Imports happen on first use, not with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from op_openbanking.banks.profile import BankProfile
from op_openbanking.errors import UnknownPlugin

from .aisp import AISP
from .capability import Capabilities
from .consent import Authorisations, Consents
from .events import Events
from .link import Link
from .piis import PIIS
from .pisp import PISP, FileUploads
from .vrp import VRP


@dataclass(frozen=True, slots=True)
class Traits:
    """What one standard can do over one link; None for a service that it lacks.

    A service that is None must be stated as lacking in the standard's capabilities.
    """

    consents: Consents
    authorisations: Authorisations
    aisp: AISP | None = None
    pisp: PISP | None = None
    piis: PIIS | None = None
    vrp: VRP | None = None
    events: Events | None = None
    files: FileUploads | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one standard is spoken.

    Attributes:
        name: Registered name of the standard.
        versions: Versions that can be spoken, oldest first.
        capabilities: The matrix of a version.
        connect: Makes the traits over a link. It does no I/O, and refuses a profile whose quirks
            or services are not this standard's with `ConfigError`.
    """

    name: str
    versions: tuple[str, ...]
    capabilities: Callable[[str], Capabilities]
    connect: Callable[[Link], Traits]


_MODULES: Final[Mapping[str, str]] = {
    "uk-obie": "op_openbanking.standards.uk_obie.client.dialect",
}


def dialects() -> tuple[str, ...]:
    """Names of the standards that can be spoken, sorted."""
    return tuple(sorted(_MODULES))


def dialect(name: str) -> Dialect:
    """The dialect of a standard.

    Raises:
        UnknownPlugin: None is registered under that name.
    """
    if name not in _MODULES:
        raise UnknownPlugin("dialect", name, known=dialects())
    found: Dialect = import_module(_MODULES[name]).DIALECT
    return found


def capabilities(profile: BankProfile) -> Capabilities:
    """The matrix of a bank: its standard's, with what the profile offers and lacks.

    Raises:
        UnknownPlugin: No such standard or version.
        ConfigError: The profile offers what the standard lacks.
    """
    spoken = dialect(profile.standard)
    if profile.version not in spoken.versions:
        raise UnknownPlugin(
            f"version of {spoken.name}", profile.version, known=tuple(sorted(spoken.versions))
        )
    matrix = spoken.capabilities(profile.version)
    return matrix.at(profile.name, offers=profile.offers, lacks=profile.lacks)
