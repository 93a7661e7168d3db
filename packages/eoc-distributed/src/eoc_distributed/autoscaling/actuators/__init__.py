"""How a fleet is told its size.

To add an actuator: write its file beside these, with a class that fulfils `base.Actuator`;
give it a line in `REGISTRY`; add its test file and a line in the CHANGELOG. The contract
test in `tests/unit/autoscaling/actuators/test_contract.py` runs over the registry.
"""

from __future__ import annotations

from eoc_distributed.errors import UnknownPlugin

from .base import Actuator, ActuatorFactory
from .command import Command
from .http_hook import HTTPHook

__all__ = ["REGISTRY", "Actuator", "ActuatorFactory", "Command", "HTTPHook", "create"]

REGISTRY: dict[str, ActuatorFactory] = {
    Command.name: Command.parse,
    HTTPHook.name: HTTPHook,
}
"""Every actuator by its name; names are stable for ever."""


def create(name: str, argument: str) -> Actuator:
    """Make an actuator by its registered name.

    Args:
        name: A key of `REGISTRY`.
        argument: What it needs to know, in its own form: a command line, a URL.

    Raises:
        UnknownPlugin: No actuator has that name.
        ConfigError: The argument is wrong.
    """
    try:
        factory = REGISTRY[name]
    except KeyError:
        raise UnknownPlugin("actuator", name, REGISTRY) from None
    return factory(argument)
