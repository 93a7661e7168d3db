"""What a simulation compares: a router, and what stands around it, under one name.

A name is a router's registered name and any of `sticky`, `stealing` and `autoscale`, joined by
`+` in any order: `joule-weighted`, `sticky+marginal-joules+autoscale`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from eoc_distributed.errors import ConfigError
from eoc_distributed.routing import REGISTRY

STICKY: Final = "sticky"
STEALING: Final = "stealing"
AUTOSCALE: Final = "autoscale"
_AROUND: Final = (STICKY, STEALING, AUTOSCALE)


@dataclass(frozen=True, slots=True)
class Policy:
    """One way to run a fleet.

    Attributes:
        router: Registered name of the router.
        sticky: Whether requests go where their KV cache is, the router choosing for the rest.
        stealing: Whether requests wait in queues before the workers, and idle ones help.
        autoscale: Whether workers are drained and started as the load asks.
    """

    router: str
    sticky: bool = False
    stealing: bool = False
    autoscale: bool = False

    @property
    def name(self) -> str:
        """The name in its usual order."""
        flags = (self.sticky, self.stealing, self.autoscale)
        around = {word for word, flag in zip(_AROUND, flags, strict=True) if flag}
        before = [STICKY] if STICKY in around else []
        return "+".join([*before, self.router, *(word for word in _AROUND[1:] if word in around)])


def parse_policy(name: str) -> Policy:
    """Read a policy's name.

    Raises:
        ConfigError: No router or several are named, or a word is not known or stands twice.
    """
    words = name.split("+")
    routers = [word for word in words if word in REGISTRY]
    known = ", ".join([*REGISTRY, *_AROUND])
    for word in words:
        if word not in REGISTRY and word not in _AROUND:
            raise ConfigError(f"policy {name!r}", f"{word!r} is none of {known}")
        if words.count(word) > 1:
            raise ConfigError(f"policy {name!r}", f"{word!r} stands twice")
    if len(routers) != 1:
        raise ConfigError(
            f"policy {name!r}", f"exactly one router is needed, of {', '.join(REGISTRY)}"
        )
    return Policy(routers[0], STICKY in words, STEALING in words, AUTOSCALE in words)
