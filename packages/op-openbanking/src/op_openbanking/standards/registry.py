"""The six standards by name, and the shape of each resource.

To add one: a folder with its shapes, a `resources.py` with a `STANDARD`, one entry below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from op_openbanking.errors import UnknownPlugin
from op_openbanking.standards.base import Wire


@dataclass(frozen=True, slots=True)
class Standard:
    """One standard.

    Attributes:
        name: Registered name, for example `uk-obie`.
        versions: Versions whose published files the shapes were checked against, oldest first.
        resources: The shape of each body of the newest version, by resource name. A request and
            an answer that differ have two names.
        earlier: Shapes that differ in an earlier version, by version.
    """

    name: str
    versions: tuple[str, ...]
    resources: Mapping[str, type[Wire]]
    earlier: Mapping[str, Mapping[str, type[Wire]]] = field(default_factory=dict)

    def shape(self, resource: str, *, version: str | None = None) -> type[Wire]:
        """The shape of a resource.

        Args:
            resource: Name of the resource.
            version: One of `versions`; the newest where it is left out.

        Raises:
            UnknownPlugin: If the standard has no such resource or version.
        """
        if version is not None and version not in self.versions:
            raise UnknownPlugin(f"version of {self.name}", version, known=self.versions)
        differing = self.earlier.get(version or "", {})
        shape = differing.get(resource) or self.resources.get(resource)
        if shape is None:
            raise UnknownPlugin(
                f"resource of {self.name}", resource, known=tuple(sorted(self.resources))
            )
        return shape


def standards() -> Mapping[str, Standard]:
    """Every standard by name. Imports their shapes on the first call, not with the package."""
    from op_openbanking.standards.berlin_group import resources as berlin_group  # noqa: PLC0415
    from op_openbanking.standards.cdr import resources as cdr  # noqa: PLC0415
    from op_openbanking.standards.fdx import resources as fdx  # noqa: PLC0415
    from op_openbanking.standards.sgfindex import resources as sgfindex  # noqa: PLC0415
    from op_openbanking.standards.stet import resources as stet  # noqa: PLC0415
    from op_openbanking.standards.uk_obie import resources as uk_obie  # noqa: PLC0415

    every = (berlin_group, cdr, fdx, sgfindex, stet, uk_obie)
    return {module.STANDARD.name: module.STANDARD for module in every}


def standard(name: str) -> Standard:
    """The standard of that name.

    Raises:
        UnknownPlugin: If there is none.
    """
    known = standards()
    if name not in known:
        raise UnknownPlugin("standard", name, known=tuple(sorted(known)))
    return known[name]
