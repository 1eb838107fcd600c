import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchmarks.accuracy.interval_accuracy import (
    CONFORMAL_ERRORS,
    CONFORMAL_STEP,
    conformal_intervals,
    interval_score,
    measure_intervals,
    worst_coverage,
)
from thalweg.types import Trace

RNG = np.random.default_rng(0)


@given(inside=arrays(bool, st.integers(1, 40)), rounds=st.integers(1, 50))
def test_the_worst_coverage_is_the_least_of_all_stretches(inside, rounds):
    length = min(rounds, len(inside))
    stretches = [inside[i : i + length] for i in range(len(inside) - length + 1)]
    slow = min(np.mean(stretch) for stretch in stretches)
    assert worst_coverage(inside, rounds) == pytest.approx(slow, abs=1e-15)


def test_the_interval_score_charges_width_and_twenty_times_the_distance():
    interval = np.array([[0.0, 2.0], [0.0, 2.0], [0.0, 2.0]])
    score = interval_score(interval, np.array([1.0, 3.0, -0.5]), 0.9)
    np.testing.assert_allclose(score, [2.0, 22.0, 12.0], rtol=1e-12)


def test_the_interval_score_is_least_at_the_true_quantiles():
    y = RNG.normal(size=200_000)
    scores = {
        half: interval_score(np.tile([-half, half], (len(y), 1)), y, 0.9).mean()
        for half in (1.3, 1.645, 2.0)
    }
    assert min(scores, key=scores.__getitem__) == 1.645


def slow_conformal_intervals(forecast, y, coverage):
    """Gibbs & Candès (2021), equation 2, with a sort in every round."""
    alpha, ends = 1 - coverage, []
    for t in range(len(y)):
        errors = np.sort(np.abs(y - forecast)[max(0, t - CONFORMAL_ERRORS) : t])
        rank = int(np.ceil((1 - alpha) * (t_known := len(errors) + 1)))
        rank = min(rank, t_known - 1)
        width = errors[rank - 1] if rank > 0 else 0.0
        ends.append((forecast[t] - width, forecast[t] + width))
        missed = abs(y[t] - forecast[t]) > width
        alpha += CONFORMAL_STEP * ((1 - coverage) - missed)
    return np.array(ends)


def test_adaptive_conformal_intervals_equal_their_definition():
    forecast = RNG.normal(size=1500)
    y = forecast + RNG.normal(size=1500) * np.repeat([1.0, 5.0, 0.2], 500)
    fast = conformal_intervals(forecast, y, 0.9)
    np.testing.assert_array_equal(fast, slow_conformal_intervals(forecast, y, 0.9))
    inside = (fast[:, 0] <= y) & (y <= fast[:, 1])
    assert inside.mean() == pytest.approx(0.9, abs=0.02)  # its theorem, for any data


def test_intervals_are_measured_on_scored_rounds_only():
    y = RNG.normal(size=700)
    interval = np.column_stack([y - 1, y + 1])
    interval[:100] = 1e6, 1e6 + 1  # far off, and not scored
    interval[200:210] += 2  # ten of 600 are outside, by 1 each
    trace = Trace(np.zeros(700), y**2, None, {"interval": interval})
    measured = measure_intervals(trace, y, 0.9)
    assert measured.covered == pytest.approx(590 / 600)
    assert measured.worst_covered == pytest.approx(490 / 500)
    conformal = interval_score(conformal_intervals(np.zeros(700), y, 0.9), y, 0.9)
    expected = (2 + 20 * 10 / 600) / conformal[100:].mean()
    assert measured.winkler == pytest.approx(expected)
