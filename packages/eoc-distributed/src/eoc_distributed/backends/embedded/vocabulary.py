"""What simulated answers are made of: 32 words, each standing for one token."""

from __future__ import annotations

from hashlib import blake2b
from math import sqrt
from random import Random

WORDS = (
    " a", " and", " at", " block", " by", " carbon", " cache", " day", " each", " energy",
    " for", " grid", " heat", " in", " is", " joule", " light", " load", " more", " night",
    " of", " on", " per", " power", " queue", " slow", " sun", " the", " to", " token",
    " wind", " zone",
)  # fmt: skip
"""Plain ASCII, so that a word is its own JSON string between quotes."""

EMBEDDING_SIZE = 64

MEDIAN_ANSWER_TOKENS = 129
MEAN_ANSWER_TOKENS = 211
"""Azure 2023 conversation trace (Splitwise, ISCA 2024): the lognormal with this median and
mean stands for answers whose length nobody asked for."""


def words(rng: Random, count: int) -> list[str]:
    """Draw the next `count` words; drawing them in one or several goes gives the same."""
    return rng.choices(WORDS, k=count)


def embedding(text: bytes) -> list[float]:
    """Return a unit vector of 64 numbers that depends on nothing but the text."""
    rng = Random(blake2b(text, digest_size=8).digest())  # noqa: S311 - no secret
    numbers = [rng.gauss(0.0, 1.0) for _ in range(EMBEDDING_SIZE)]
    norm = sqrt(sum(number * number for number in numbers))
    return [number / norm for number in numbers]
