"""Runs a command: `kubectl scale deployment llm --replicas={workers}`.

No shell is involved. The command has no input, its output is dropped, and the end of what
it writes to its error stream is told if it fails.
"""

from __future__ import annotations

import asyncio
import contextlib
import shlex
from collections.abc import Sequence
from typing import ClassVar

from eoc_distributed.errors import ActuatorFailed, ConfigError

TIMEOUT_S = 60.0
PLACEHOLDER = "{workers}"
_CHUNK_BYTES = 4096
_TOLD_CHARACTERS = 500


class Command:
    """Runs a command with the number of workers put in.

    Args:
        argv: Program and arguments; `{workers}` in any of them becomes the number.
        timeout_s: Time after which the command is killed, s.

    Raises:
        ConfigError: There is no program, or no place for the number.
    """

    name: ClassVar[str] = "command"

    def __init__(self, argv: Sequence[str], *, timeout_s: float = TIMEOUT_S) -> None:
        if not argv or not argv[0]:
            raise ConfigError("actuator command", "the command is empty")
        if not any(PLACEHOLDER in argument for argument in argv[1:]):
            raise ConfigError("actuator command", f"no argument contains {PLACEHOLDER}")
        self._argv = tuple(argv)
        self._timeout_s = timeout_s

    @classmethod
    def parse(cls, line: str) -> Command:
        """Make one from a command line, quoted as for a POSIX shell.

        Raises:
            ConfigError: As the constructor, or a quotation has no end.
        """
        try:
            argv = shlex.split(line)
        except ValueError as error:
            raise ConfigError("actuator command", f"{line!r}: {error}") from error
        return cls(argv)

    async def scale_to(self, workers: int) -> None:
        argv = [argument.replace(PLACEHOLDER, str(workers)) for argument in self._argv]
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        except (OSError, ValueError) as error:
            raise ActuatorFailed(self.name, f"{argv[0]}: {error}") from error
        try:
            async with asyncio.timeout(self._timeout_s):
                said = await _last_words(process)
                status = await process.wait()
        except TimeoutError:
            raise ActuatorFailed(
                self.name, f"{argv[0]}: not done after {self._timeout_s} s"
            ) from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        if status != 0:
            raise ActuatorFailed(self.name, f"{argv[0]}: exit status {status}: {said}")


async def _last_words(process: asyncio.subprocess.Process) -> str:
    """Read the error stream to its end and return the last of it."""
    tail = b""
    if process.stderr is not None:
        while chunk := await process.stderr.read(_CHUNK_BYTES):
            tail = (tail + chunk)[-_CHUNK_BYTES:]
    return tail.decode(errors="replace").strip()[-_TOLD_CHARACTERS:]
