"""`--worker URL,key=value,…` as a worker's configuration."""

from __future__ import annotations

from typing import Any

import msgspec

from eoc_distributed.config import WorkerConfig
from eoc_distributed.errors import ConfigError

_NAMES = {
    "uj_per_token": "micro_joules_per_token",
    "g_per_kwh": "g_co2e_per_kwh",
}
_FIELDS = frozenset(WorkerConfig.__struct_fields__) - {"url", "models"}


def parse_worker(text: str) -> WorkerConfig:
    """Read `URL,zone=FR,model=…,uj_per_token=…,max_concurrency=…`; `model` may be repeated.

    Raises:
        ConfigError: It is not of that form; says which key.
    """
    url, *pairs = text.split(",")
    values: dict[str, Any] = {"url": url}
    models: list[str] = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not value:
            raise ConfigError(f"--worker {url}", f"{pair!r} is not key=value")
        if key == "model":
            models.append(value)
            continue
        field = _NAMES.get(key, key)
        if field not in _FIELDS:
            known = sorted({*_FIELDS - set(_NAMES.values()), *_NAMES, "model"})
            raise ConfigError(f"--worker {url}", f"{key!r} is not one of {', '.join(known)}")
        values[field] = value
    values["models"] = models
    try:
        return msgspec.convert(values, WorkerConfig, strict=False)
    except msgspec.ValidationError as error:
        raise ConfigError(f"--worker {url}", str(error)) from error
