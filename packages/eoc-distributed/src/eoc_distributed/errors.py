"""Every error that this package raises, by what the caller can do.

EOCError
  ConfigError                 mend the configuration
    UnknownPlugin             no plug-in has that name
    TraceInvalid              a line of a trace is not as it should be
  FleetError                  mend the call
    DuplicateWorker           a worker with that id is in the cluster
    UnknownWorker             no worker with that id is in the cluster
  NoWorkerAvailable   retry   nobody can serve the request at the moment
    UnknownModel      final   nobody serves the model at all
  WorkerFailed                the worker did not answer as it should
    WorkerUnreachable retry   no connection, or it broke before the first byte
    WorkerTimeout     retry   no answer in time
    WorkerRefused             it answered, and the answer is no
    StreamBroken              the connection broke after the first byte of an answer
  SequenceRefused             an embedded engine does not take a sequence
    ContextTooLong    final   prompt and answer can never fit
    EngineFull        retry   too many wait
  MeterFailed                 there is no reading; it is missing, not zero
  QueueFull           retry   a bounded queue takes nothing more at the moment
    WaitTooLong       retry   it would wait for longer than its deadline allows
  TooLarge                    it does not fit even when nothing else is there
  ActuatorFailed      retry   the fleet could not be told its size
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import ClassVar


class EOCError(Exception):
    """Root of every error of this package."""

    retryable: ClassVar[bool] = False


class ConfigError(EOCError):
    """A configuration is wrong.

    Attributes:
        where: File and key, or option.
        what: What is wrong with it.
    """

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where = where
        self.what = what


class UnknownPlugin(ConfigError):
    """No plug-in of that kind has that name."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        super().__init__(kind, f"{name!r} is not one of {', '.join(self.known)}")


class TraceInvalid(ConfigError):
    """A line of a trace is not as it should be.

    Attributes:
        line: Number of the line, from 1; 0 for the file as a whole.
    """

    def __init__(self, file: str, line: int, what: str) -> None:
        super().__init__(f"{file}:{line}" if line else file, what)
        self.line = line


class FleetError(EOCError):
    """A call names a worker that it cannot name.

    Attributes:
        worker_id: The id in question.
    """

    def __init__(self, worker_id: str, what: str) -> None:
        super().__init__(f"worker {worker_id!r}: {what}")
        self.worker_id = worker_id


class DuplicateWorker(FleetError):
    """A worker with that id is already in the cluster."""

    def __init__(self, worker_id: str) -> None:
        super().__init__(worker_id, "this id is already in the cluster")


class UnknownWorker(FleetError):
    """No worker with that id is in the cluster."""

    def __init__(self, worker_id: str) -> None:
        super().__init__(worker_id, "no such worker in the cluster")


class NoWorkerAvailable(EOCError):
    """No worker may take the request at the moment.

    The reasons are looked up when somebody asks for them: under overload a refusal is
    frequent, and it must not walk the fleet.

    Attributes:
        model: The model that was asked for.
    """

    retryable: ClassVar[bool] = True
    SHOWN: ClassVar[int] = 8
    """Workers named in the message; `reasons` holds them all."""

    def __init__(self, model: str, explain: Callable[[], Mapping[str, str]]) -> None:
        super().__init__(model)
        self.model = model
        self._explain = explain

    @cached_property
    def reasons(self) -> Mapping[str, str]:
        """Why not, for each worker of the cluster by its id."""
        return self._explain()

    def __str__(self) -> str:
        shown = [f"{worker}: {why}" for worker, why in self.reasons.items()][: self.SHOWN]
        more = len(self.reasons) - len(shown)
        if more > 0:
            shown.append(f"and {more} more")
        why = "; ".join(shown) or "the cluster is empty"
        return f"no worker can take model {self.model!r}: {why}"


class UnknownModel(NoWorkerAvailable):
    """No worker of the cluster serves the model, so that waiting does not help."""

    retryable: ClassVar[bool] = False


class WorkerFailed(EOCError):
    """A worker did not answer as it should.

    Attributes:
        worker_id: Which worker.
    """

    def __init__(self, worker_id: str, what: str) -> None:
        super().__init__(f"worker {worker_id!r}: {what}")
        self.worker_id = worker_id


class WorkerUnreachable(WorkerFailed):
    """No connection could be made, or it broke before the first byte of an answer."""

    retryable: ClassVar[bool] = True


class WorkerTimeout(WorkerFailed):
    """The worker did not answer within the time that was given."""

    retryable: ClassVar[bool] = True


class WorkerRefused(WorkerFailed):
    """The worker answered, and the answer is no.

    Attributes:
        status: HTTP status of the answer.
    """

    def __init__(self, worker_id: str, what: str, *, status: int) -> None:
        super().__init__(worker_id, what)
        self.status = status


class StreamBroken(WorkerFailed):
    """The connection broke after the first byte of the answer.

    Once a client has seen any of the answer, the request is never sent again.
    """


class SequenceRefused(EOCError):
    """An embedded engine does not take a sequence."""


class ContextTooLong(SequenceRefused):
    """Prompt and answer together are longer than the engine can ever hold.

    Attributes:
        tokens: Tokens of prompt and answer.
        limit: Most that fit.
    """

    def __init__(self, tokens: int, limit: int) -> None:
        super().__init__(f"{tokens} tokens of prompt and answer, at most {limit} fit")
        self.tokens = tokens
        self.limit = limit


class EngineFull(SequenceRefused):
    """Too many sequences wait already.

    Attributes:
        waiting: How many.
    """

    retryable: ClassVar[bool] = True

    def __init__(self, waiting: int) -> None:
        super().__init__(f"{waiting} sequences wait already")
        self.waiting = waiting


class MeterFailed(EOCError):
    """A power meter gives no reading.

    Attributes:
        meter: Name of the meter.
    """

    def __init__(self, meter: str, what: str) -> None:
        super().__init__(f"meter {meter}: {what}")
        self.meter = meter


class QueueFull(EOCError):
    """A bounded queue takes nothing more at the moment: back-pressure, HTTP 429.

    Attributes:
        limit: Entries that it holds at most.
        retry_after_s: When there may be room, s from the refusal.
    """

    retryable: ClassVar[bool] = True

    def __init__(self, what: str, *, limit: int, retry_after_s: float) -> None:
        super().__init__(f"{what}: {limit} wait already; try again in {retry_after_s:.3g} s")
        self.limit = limit
        self.retry_after_s = retry_after_s


class WaitTooLong(QueueFull):
    """There is room, but the request would wait for longer than its deadline allows.

    Attributes:
        predicted_wait_s: How long it would wait, s.
    """

    def __init__(
        self, what: str, *, limit: int, predicted_wait_s: float, retry_after_s: float
    ) -> None:
        super().__init__(what, limit=limit, retry_after_s=retry_after_s)
        self.predicted_wait_s = predicted_wait_s


class TooLarge(EOCError):
    """A request does not fit even when nothing else is there, so that waiting does not help.

    Attributes:
        needed: What it needs.
        limit: What there is.
    """

    def __init__(self, what: str, *, needed: int, limit: int) -> None:
        super().__init__(f"{what}: {needed} needed, {limit} is the most")
        self.needed = needed
        self.limit = limit


class ActuatorFailed(EOCError):
    """The fleet could not be told how many workers it is to have.

    Attributes:
        actuator: Name of the actuator.
    """

    retryable: ClassVar[bool] = True

    def __init__(self, actuator: str, what: str) -> None:
        super().__init__(f"actuator {actuator}: {what}")
        self.actuator = actuator
