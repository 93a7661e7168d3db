"""The Protocol that actuators fulfil."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Protocol


class Actuator(Protocol):
    """Tells a fleet how many workers it is to have.

    The number is absolute, so that telling it twice does no harm.
    """

    name: ClassVar[str]

    async def scale_to(self, workers: int) -> None:
        """Ask for that many workers, at least 0; returns when the request was taken.

        Raises:
            ActuatorFailed: It was not.
        """
        ...


ActuatorFactory = Callable[[str], Actuator]
"""Makes an actuator from what a configuration says of it."""
