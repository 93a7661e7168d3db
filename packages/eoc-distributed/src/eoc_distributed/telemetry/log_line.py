"""One line for each request, for people at a terminal."""

from __future__ import annotations

from .record import RequestRecord


def log_line(record: RequestRecord) -> str:
    """Return method, path, model, worker, status, times, tokens, J and gCO2e.

    The times are those to the first token of a stream and to the end.

    What is not known is a dash; `~` marks tokens that were estimated.
    """
    cost = record.cost
    first = f"{record.ttft_ms:.0f} ms" if record.ttft_ms is not None else "-"
    whole = f"{record.duration_ms:.0f} ms"
    tokens = joules = grams = "-"
    if cost is not None:
        if cost.prompt_tokens is not None and cost.completion_tokens is not None:
            mark = "" if record.tokens_exact else "~"
            tokens = f"{mark}{cost.prompt_tokens}+{cost.completion_tokens} tok"
        if cost.energy is not None:
            joules = f"{cost.energy.micro_joules / 1e6:.3g} J ({cost.energy.quality.value})"
        if cost.g_co2e is not None:
            quality = f" ({cost.carbon_quality.value})" if cost.carbon_quality else ""
            grams = f"{cost.g_co2e:.3g} gCO2e{quality}"
    return "  ".join(
        (
            f"{record.method} {_printable(record.path)}",
            _printable(record.model) or "-",
            record.worker_id or "-",
            str(record.status),
            f"{first}/{whole}",
            tokens,
            joules,
            grams,
        )
    )


def _printable(text: str) -> str:
    """Return a client's text without what could steer a terminal, at most 80 characters."""
    clean = "".join(character if character.isprintable() else "?" for character in text[:80])
    return clean if len(text) <= len(clean) else clean + "…"
