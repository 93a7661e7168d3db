"""Virtual token counters: the tenant that was served least is served next.

Served = prompt tokens + 2 x answer tokens, divided by the tenant's weight. A tenant that
comes back after a pause is lifted to the least counter of those that wait: it does not
collect a claim by staying away.

Source: Sheng et al., "Fairness in Serving Large Language Models", OSDI 2024 (VTC).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping

PROMPT_WEIGHT = 1.0
ANSWER_WEIGHT = 2.0
MAX_IDLE_TENANTS = 10_000
"""Tenants without waiting requests whose counters are kept."""


class TokenCounters:
    """Counters of all tenants.

    Args:
        weights: Share of each tenant, above 0; 1 for those not named.

    Raises:
        ValueError: A weight is not above 0.
    """

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self._weights = dict(weights or {})
        if any(not weight > 0 for weight in self._weights.values()):
            raise ValueError(f"weights are above 0: {self._weights}")
        self._served: dict[str, float] = {}
        self._waiting: dict[str, int] = {}
        self._idle: OrderedDict[str, None] = OrderedDict()

    def served(self, tenant: str) -> float:
        """Return the weighted tokens that a tenant has been served."""
        return self._served.get(tenant, 0.0)

    def arrive(self, tenant: str) -> None:
        """Count one more waiting request of a tenant."""
        waiting = self._waiting
        if tenant not in waiting:
            least = min((self._served[other] for other in waiting), default=0.0)
            self._served[tenant] = max(self.served(tenant), least)
            self._idle.pop(tenant, None)
        waiting[tenant] = waiting.get(tenant, 0) + 1

    def leave(self, tenant: str) -> None:
        """Count one waiting request less."""
        left = self._waiting[tenant] - 1
        if left:
            self._waiting[tenant] = left
            return
        del self._waiting[tenant]
        self._idle[tenant] = None
        if len(self._idle) > MAX_IDLE_TENANTS:
            oldest, _ = self._idle.popitem(last=False)
            del self._served[oldest]

    def charge(self, tenant: str, *, prompt_tokens: int = 0, answer_tokens: int = 0) -> None:
        """Count what a tenant is served; a tenant long forgotten is not taken up again."""
        if tenant in self._served:
            tokens = PROMPT_WEIGHT * prompt_tokens + ANSWER_WEIGHT * answer_tokens
            self._served[tenant] += tokens / self._weights.get(tenant, 1.0)

    def in_turn(self, tenants: Iterable[str]) -> list[str]:
        """Return tenants, the one served least first."""
        return sorted(tenants, key=lambda tenant: (self.served(tenant), tenant))
