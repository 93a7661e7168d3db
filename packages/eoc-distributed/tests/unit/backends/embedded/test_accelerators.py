from __future__ import annotations

import pytest

from eoc_distributed.backends.embedded.accelerators import PROFILES, Profile, Published
from eoc_distributed.backends.embedded.engine import Engine

# Mean length of the answers in these rows; the table does not give the prompts' (assumed).
OUTPUT_TOKENS = 395
PROMPT_TOKENS = 100
TOLERANCE = 0.12


def saturated(profile: Profile, batch: int) -> tuple[float, float]:
    """Tokens/s and J/token of generated tokens, `batch` sequences at all times."""
    engine = Engine(profile)
    # Answers end in sixteen groups, not all at once, as in a running server.
    sequences = [
        engine.submit(
            prompt_tokens=PROMPT_TOKENS,
            output_tokens=OUTPUT_TOKENS * (1 + index % 16) // 16,
            now_s=0.0,
        )
        for index in range(batch)
    ]

    def run_until_ended(count: int) -> tuple[float, int, int]:
        while True:
            event_s = engine.next_event_s
            assert event_s is not None
            for sequence in engine.advance(event_s):
                if sequence.ended:
                    count -= 1
                    sequences.append(
                        engine.submit(
                            prompt_tokens=PROMPT_TOKENS, output_tokens=OUTPUT_TOKENS, now_s=event_s
                        )
                    )
            if count <= 0:
                generated = sum(sequence.generated for sequence in sequences)
                return event_s, generated, engine.step_micro_joules

    start_s, before, joules_before = run_until_ended(batch)
    end_s, after, joules_after = run_until_ended(batch)
    tokens = after - before
    return tokens / (end_s - start_s), (joules_after - joules_before) / 1e6 / tokens


POINTS = [
    pytest.param(profile, point, id=f"{profile.name}-{round(point.batch)}")
    for profile in PROFILES.values()
    for point in profile.published
]


@pytest.mark.parametrize(("profile", "point"), POINTS)
def test_engine_reproduces_the_published_energy_and_speed_within_twelve_percent(
    profile: Profile, point: Published
) -> None:
    tokens_per_s, joules_per_token = saturated(profile, round(point.batch))
    assert joules_per_token == pytest.approx(point.joules_per_token, rel=TOLERANCE)
    assert tokens_per_s == pytest.approx(point.tokens_per_s, rel=TOLERANCE)


def test_profiles_with_measurements_reach_from_eight_sequences_to_the_largest_batch() -> None:
    measured = [profile for profile in PROFILES.values() if profile.published]
    assert {profile.name for profile in measured} == {"h100", "b200"}
    for profile in measured:
        batches = [point.batch for point in profile.published]
        assert min(batches) == pytest.approx(8, rel=0.01)
        assert max(batches) >= 0.85 * profile.max_sequences


@pytest.mark.parametrize(
    ("name", "lowest", "highest"), [("cpu-16", 8.0, 12.0), ("apple-m", 0.5, 1.5)]
)
def test_small_machines_cost_what_is_reported_of_them_for_each_token_of_a_single_answer(
    name: str, lowest: float, highest: float
) -> None:
    engine = Engine(PROFILES[name])
    engine.submit(prompt_tokens=1, output_tokens=100, now_s=0.0)
    engine.advance(1000.0)
    assert lowest <= engine.step_micro_joules / 1e6 / 100 <= highest


def test_wide_steps_draw_more_power_and_idle_draws_least() -> None:
    for profile in PROFILES.values():
        power = profile.power
        assert power.idle_w < power.watts(1) < power.watts(64) < power.watts(4096)
        assert power.watts(4096) <= power.peak_w
