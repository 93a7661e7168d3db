"""Which engine answers at a URL, and which models it serves."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from eoc_distributed.errors import WorkerFailed, WorkerRefused

from . import REGISTRY
from .base import Backend
from .http_worker import HTTPWorker

_OK = 200


class _Card(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Card]


class Found(NamedTuple):
    """An engine that answers.

    Attributes:
        backend: Its kind.
        models: Names of the models it serves, in its order.
    """

    backend: Backend
    models: tuple[str, ...]


async def detect(worker: HTTPWorker, *, engine: Backend | None, timeout_s: float) -> Found:
    """Ask what is at the worker's address.

    Args:
        worker: Whose address it is.
        engine: Its kind if that is known.
        timeout_s: For each question.

    Raises:
        WorkerFailed: Nothing is there, or it does not speak the OpenAI API.
    """
    models = await list_models(worker, timeout_s=timeout_s)
    if engine is not None:
        return Found(engine, models)
    for candidate in REGISTRY.values():
        try:
            status, body = await worker.fetch(candidate.probe_path, timeout_s=timeout_s)
        except WorkerFailed:
            continue  # an engine may cut a connection for a path that it does not know
        if candidate.recognises(status, body):
            return Found(candidate, models)
    raise WorkerFailed(worker.id, "it answers, but not as any engine that is known")


async def list_models(worker: HTTPWorker, *, timeout_s: float) -> tuple[str, ...]:
    """Ask an engine for its models.

    Raises:
        WorkerFailed: It does not tell.
    """
    status, body = await worker.fetch("/v1/models", timeout_s=timeout_s)
    if status != _OK:
        raise WorkerRefused(worker.id, f"/v1/models answered {status}", status=status)
    try:
        models = msgspec.json.decode(body, type=_Models)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkerFailed(worker.id, f"/v1/models is no list of models: {error}") from error
    return tuple(card.id for card in models.data)
