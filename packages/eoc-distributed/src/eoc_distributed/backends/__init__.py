"""Engines that the gateway can stand in front of.

To add one: write its file beside these, with a class that fulfils `base.Backend`; give it a
line in `REGISTRY`, before `OpenAI`, which recognises them all; add a case to
`tests/unit/backends/` and a line to the CHANGELOG.
"""

from __future__ import annotations

from eoc_distributed.errors import UnknownPlugin

from .base import Backend, EngineLoad
from .llama_cpp import LlamaCpp
from .ollama import Ollama
from .openai import OpenAI
from .sglang import SGLang
from .tgi import TGI
from .triton import Triton
from .vllm import VLLM

__all__ = ["REGISTRY", "Backend", "EngineLoad", "backend"]

REGISTRY: dict[str, Backend] = {
    engine.name: engine
    for engine in (VLLM(), SGLang(), TGI(), LlamaCpp(), Ollama(), Triton(), OpenAI())
}
"""Every engine by its name, in the order in which they are asked for; the last is any."""


def backend(name: str) -> Backend:
    """Return an engine by its registered name.

    Raises:
        UnknownPlugin: No engine has that name.
    """
    try:
        return REGISTRY[name]
    except KeyError:
        raise UnknownPlugin("engine", name, REGISTRY) from None
