"""An engine's metrics page as values (Prometheus text format 0.0.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from prometheus_client.parser import text_string_to_metric_families

MAX_SAMPLES = 100_000


class Samples:
    """The samples of one page, by name; what is absent is None and never 0.

    Args:
        by_name: For each name its (labels, value) pairs.
    """

    def __init__(self, by_name: Mapping[str, list[tuple[Mapping[str, str], float]]]) -> None:
        self._by_name = MappingProxyType(dict(by_name))

    def total(self, name: str) -> float | None:
        """Return the sum over all series of a name; None if there are none."""
        found = self._by_name.get(name)
        return sum(value for _, value in found) if found else None

    def largest(self, name: str) -> float | None:
        """Return the largest value of a name; None if there is none."""
        found = self._by_name.get(name)
        return max(value for _, value in found) if found else None

    def labels(self, name: str) -> list[Mapping[str, str]]:
        """Return the labels of each series of a name."""
        return [labels for labels, _ in self._by_name.get(name, ())]

    def label(self, name: str, label: str) -> str | None:
        """Return a label of the first series of a name; None if it has none."""
        for labels, _ in self._by_name.get(name, ()):
            if label in labels:
                return labels[label]
        return None


def parse_metrics(text: str) -> Samples | None:
    """Read a metrics page; None if it is not one.

    Values that are not finite are left out.
    """
    by_name: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    count = 0
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                count += 1
                if count > MAX_SAMPLES:
                    return None
                if math.isfinite(sample.value):
                    by_name.setdefault(sample.name, []).append((sample.labels, sample.value))
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None  # the parser raises whichever its slip leads to
    return Samples(by_name)
