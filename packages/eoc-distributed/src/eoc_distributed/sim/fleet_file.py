"""A fleet from a TOML file.

[[worker]]
id = "paris"       # with count above 1: paris-1, paris-2, ...
profile = "h100"   # a name in backends.embedded.accelerators.PROFILES
zone = "FR"
count = 4          # 1 if left out
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from eoc_distributed.backends.embedded.accelerators import PROFILES
from eoc_distributed.errors import ConfigError, UnknownPlugin

from .fleet import Site

MAX_WORKERS = 1000


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    profile: str
    zone: str
    count: int = 1


class _File(msgspec.Struct, forbid_unknown_fields=True):
    worker: list[_Entry]


def read_fleet(path: Path) -> tuple[Site, ...]:
    """Return the workers of a file, 1 to 1,000.

    Raises:
        ConfigError: It cannot be read, or something in it is not as it should be; says what.
    """
    try:
        entries = msgspec.toml.decode(path.read_bytes(), type=_File).worker
    except OSError as error:
        raise ConfigError(str(path), error.strerror or str(error)) from error
    except (ValueError, msgspec.MsgspecError) as error:
        raise ConfigError(str(path), str(error)) from error
    sites: dict[str, Site] = {}
    for number, entry in enumerate(entries, 1):
        where = f"{path}: worker {number}"
        profile = PROFILES.get(entry.profile)
        if profile is None:
            raise UnknownPlugin(f"{where}: profile", entry.profile, PROFILES)
        if not entry.id or not entry.zone or not 1 <= entry.count <= MAX_WORKERS:
            raise ConfigError(where, f"id and zone are not empty, count is 1 to {MAX_WORKERS}")
        for copy in range(1, entry.count + 1):
            site_id = entry.id if entry.count == 1 else f"{entry.id}-{copy}"
            if site_id in sites:
                raise ConfigError(where, f"the id {site_id!r} is used twice")
            sites[site_id] = Site(site_id, profile, entry.zone)
    if not 1 <= len(sites) <= MAX_WORKERS:
        raise ConfigError(str(path), f"a fleet has 1 to {MAX_WORKERS} workers, not {len(sites)}")
    return tuple(sites.values())
