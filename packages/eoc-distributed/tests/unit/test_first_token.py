from __future__ import annotations

import pytest

from eoc_distributed.first_token import MAX_AGE_S, FirstTokenModel


def learn(model: FirstTokenModel, *, base: float, slope: float, count: int = 100) -> float:
    """Show times to first token that lie on a straight line; return when the last one came."""
    for number in range(count):
        tokens = 100 + 37 * (number % 20)
        model.add(float(number) / 10, base + slope * tokens, tokens=tokens, own=100)
    return (count - 1) / 10


def test_nothing_is_predicted_before_anything_is_seen() -> None:
    assert FirstTokenModel().predict_ms(0.0, unread=0) is None


def test_a_straight_line_is_learnt() -> None:
    model = FirstTokenModel()
    now_s = learn(model, base=20.0, slope=0.05)
    assert model.predict_ms(now_s, unread=0) == pytest.approx(20 + 0.05 * 100, rel=0.1)
    assert model.predict_ms(now_s, unread=10_000) == pytest.approx(20 + 0.05 * 10_100, rel=0.1)


def test_what_the_line_misses_is_added_on_the_side_of_caution() -> None:
    calm, wild = FirstTokenModel(), FirstTokenModel()
    for number in range(200):
        calm.add(number / 10, 100.0, tokens=500, own=500)
        wild.add(number / 10, 100.0 + (80 if number % 2 else -80), tokens=500, own=500)
    quiet, loud = (m.predict_ms(19.9, unread=0) for m in (calm, wild))
    assert quiet is not None
    assert loud is not None
    assert loud > quiet + 150


def test_a_change_is_followed() -> None:
    model = FirstTokenModel()
    learn(model, base=20.0, slope=0.05)
    for number in range(300):
        tokens = 100 + 37 * (number % 20)
        model.add(10 + number / 10, 20 + 0.5 * tokens, tokens=tokens, own=100)
    predicted = model.predict_ms(39.9, unread=1000)
    assert predicted is not None
    assert predicted > 500


def test_what_is_old_does_not_count() -> None:
    model = FirstTokenModel()
    now_s = learn(model, base=5000.0, slope=0.0)
    assert model.predict_ms(now_s + MAX_AGE_S + 1, unread=0) is None
    model.add(now_s + MAX_AGE_S + 2, 10.0, tokens=100, own=100)
    predicted = model.predict_ms(now_s + MAX_AGE_S + 2, unread=0)
    assert predicted is not None
    assert predicted < 100


def test_noise_makes_no_prediction_below_zero() -> None:
    model = FirstTokenModel()
    for number in range(50):
        model.add(number, 100.0 - number, tokens=number, own=0)
        predicted = model.predict_ms(number, unread=10_000)
        assert predicted is not None
        assert predicted >= 0
