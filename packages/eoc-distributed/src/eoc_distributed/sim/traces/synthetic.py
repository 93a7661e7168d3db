"""A trace drawn from published distributions, for machines without a recorded one.

Gaps between arrivals are Gamma distributed with a mean and a coefficient of variation
(BurstGPT, arXiv 2401.17644, fits Gamma); lengths are lognormal with given median and mean.
The defaults are those of the Azure 2023 conversation trace (Splitwise, ISCA 2024): 19,366
requests in 58 minutes, prompts of mean 1155 and median 1020 tokens, answers of mean 211 and
median 129; the coefficient of variation of its gaps is 1.09 (computed from the file).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, sqrt
from random import Random

from .base import TracedRequest


@dataclass(frozen=True, slots=True)
class Shape:
    """The distributions of a synthetic trace.

    Attributes:
        rate_per_s: Mean arrivals in a second.
        gap_cv: Coefficient of variation of the gaps; 1 is a Poisson process.
        prompt_median: Median of the prompts, tokens.
        prompt_mean: Their mean.
        output_median: Median of the answers, tokens.
        output_mean: Their mean.
        longest: No prompt and no answer has more tokens.
    """

    rate_per_s: float = 5.53
    gap_cv: float = 1.09
    prompt_median: float = 1020.0
    prompt_mean: float = 1155.0
    output_median: float = 129.0
    output_mean: float = 211.0
    longest: int = 16_384

    def __post_init__(self) -> None:
        if not (self.rate_per_s > 0 and self.gap_cv > 0):
            raise ValueError("rate_per_s and gap_cv are above 0")
        if not (
            0 < self.prompt_median <= self.prompt_mean
            and 0 < self.output_median <= self.output_mean
        ):
            raise ValueError("a lognormal's median is above 0 and at most its mean")


AZURE_CONVERSATION = Shape()


def synthetic(rng: Random, *, shape: Shape = AZURE_CONVERSATION) -> Iterator[TracedRequest]:
    """Yield requests without end; the same random source gives the same ones."""
    gamma_shape = 1.0 / shape.gap_cv**2
    gamma_scale = 1.0 / (shape.rate_per_s * gamma_shape)
    now_s = 0.0
    while True:
        yield TracedRequest(
            now_s,
            _length(rng, shape.prompt_median, shape.prompt_mean, shape.longest),
            _length(rng, shape.output_median, shape.output_mean, shape.longest),
        )
        now_s += rng.gammavariate(gamma_shape, gamma_scale)


def _length(rng: Random, median: float, mean: float, longest: int) -> int:
    # Mean of a lognormal = median x exp(sigma^2 / 2).
    sigma = sqrt(2.0 * log(mean / median))
    return min(longest, max(1, round(rng.lognormvariate(log(median), sigma))))
