import numpy as np
import pytest

from tests.kernels.tracker.workspaces import prediction_interval
from thalweg.kernels.tracker.tracker_layout import COUNTERS, ERROR_SCALE, RECENT_ERRORS


def test_the_sorted_row_is_the_ring_sorted():
    rng = np.random.default_rng(0)
    counters, recent_errors = np.zeros(COUNTERS), np.zeros((2, RECENT_ERRORS))
    for t in range(2 * RECENT_ERRORS + 30):
        error = rng.choice([-1.0, 0.0, 0.5, rng.normal()])
        prediction_interval.learn_error(
            counters, recent_errors, error, counters[ERROR_SCALE]
        )
        count = min(t + 1, RECENT_ERRORS)
        if t % 50 == 0 or count == RECENT_ERRORS:
            np.testing.assert_array_equal(
                recent_errors[1, :count], np.sort(recent_errors[0, :count])
            )


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.99])
def test_errors_of_one_kind_are_covered_as_often_as_asked(level):
    rng = np.random.default_rng(1)
    counters, recent_errors = np.zeros(COUNTERS), np.zeros((2, RECENT_ERRORS))
    inside = []
    for error in rng.exponential(size=6000) - 1:
        below, above = prediction_interval.interval_offsets(
            counters, recent_errors, level
        )
        inside.append(below <= error <= above)
        prediction_interval.learn_error(
            counters, recent_errors, error, counters[ERROR_SCALE]
        )
    assert np.mean(inside[500:]) == pytest.approx(level, abs=0.015)


def test_the_interval_grows_with_the_errors():
    rng = np.random.default_rng(2)
    counters, recent_errors = np.zeros(COUNTERS), np.zeros((2, RECENT_ERRORS))
    widths = []
    for t in range(1500):
        below, above = prediction_interval.interval_offsets(
            counters, recent_errors, 0.9
        )
        widths.append(above - below)
        error = (1 if t < 1000 else 20) * rng.normal()
        prediction_interval.learn_error(
            counters, recent_errors, error, counters[ERROR_SCALE]
        )
    assert np.median(widths[1200:]) > 10 * np.median(widths[800:1000])


def test_without_any_error_the_interval_has_no_width():
    counters, recent_errors = np.zeros(COUNTERS), np.zeros((2, RECENT_ERRORS))
    assert prediction_interval.interval_offsets(counters, recent_errors, 0.9) == (
        0.0,
        0.0,
    )
    for _ in range(50):
        prediction_interval.learn_error(
            counters, recent_errors, 0.0, counters[ERROR_SCALE]
        )
    assert prediction_interval.interval_offsets(counters, recent_errors, 0.9) == (
        0.0,
        0.0,
    )
    prediction_interval.learn_error(
        counters, recent_errors, -3.0, counters[ERROR_SCALE]
    )
    assert counters[ERROR_SCALE] > 0
    assert np.isfinite(
        prediction_interval.interval_offsets(counters, recent_errors, 0.9)
    ).all()


def test_a_late_error_is_measured_by_what_was_known_in_time():
    counters, recent_errors = np.zeros(COUNTERS), np.zeros((2, RECENT_ERRORS))
    prediction_interval.learn_error(counters, recent_errors, 4.0, 2.0)
    assert recent_errors[0, 0] == 2.0
    assert counters[ERROR_SCALE] == 4.0


def test_of_few_errors_the_ends_are_those_that_the_coverage_asks_for():
    counters, recent_errors = np.zeros(COUNTERS), np.zeros((2, RECENT_ERRORS))
    for error in (3.0, -7, 5, 0, -2, 6, -5, 1, 7, -6, 4, -1, -3, 2, -4):
        prediction_interval.learn_error(counters, recent_errors, error, 1.0)
    # The next error falls into each of 16 gaps alike: 3/4 leaves two on either side.
    below, above = prediction_interval.interval_offsets(counters, recent_errors, 0.75)
    scale = counters[ERROR_SCALE]
    assert (below, above) == (-6 * scale, 6 * scale)
    below, above = prediction_interval.interval_offsets(counters, recent_errors, 0.875)
    assert (below, above) == (-7 * scale, 7 * scale)
    # More cannot be known from 15 errors.
    below, above = prediction_interval.interval_offsets(counters, recent_errors, 0.99)
    assert (below, above) == (-7 * scale, 7 * scale)
