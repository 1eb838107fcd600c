import numpy as np
import pytest

from tests.kernels.tracker.rooms import errors
from thalweg.kernels.tracker.layout import CLOCK, RECENT, SCALE


def test_the_ordered_row_is_the_ring_in_order():
    rng = np.random.default_rng(0)
    clock, recent = np.zeros(CLOCK), np.zeros((2, RECENT))
    for t in range(2 * RECENT + 30):
        error = rng.choice([-1.0, 0.0, 0.5, rng.normal()])
        errors.learn_error(clock, recent, error, clock[SCALE])
        count = min(t + 1, RECENT)
        if t % 50 == 0 or count == RECENT:
            np.testing.assert_array_equal(recent[1, :count], np.sort(recent[0, :count]))


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.99])
def test_errors_of_one_kind_are_covered_as_often_as_asked(level):
    rng = np.random.default_rng(1)
    clock, recent = np.zeros(CLOCK), np.zeros((2, RECENT))
    inside = []
    for error in rng.exponential(size=6000) - 1:
        below, above = errors.reach(clock, recent, level)
        inside.append(below <= error <= above)
        errors.learn_error(clock, recent, error, clock[SCALE])
    assert np.mean(inside[500:]) == pytest.approx(level, abs=0.015)


def test_the_reach_grows_with_the_errors():
    rng = np.random.default_rng(2)
    clock, recent = np.zeros(CLOCK), np.zeros((2, RECENT))
    widths = []
    for t in range(1500):
        below, above = errors.reach(clock, recent, 0.9)
        widths.append(above - below)
        error = (1 if t < 1000 else 20) * rng.normal()
        errors.learn_error(clock, recent, error, clock[SCALE])
    assert np.median(widths[1200:]) > 10 * np.median(widths[800:1000])


def test_without_any_error_there_is_no_reach():
    clock, recent = np.zeros(CLOCK), np.zeros((2, RECENT))
    assert errors.reach(clock, recent, 0.9) == (0.0, 0.0)
    for _ in range(50):
        errors.learn_error(clock, recent, 0.0, clock[SCALE])
    assert errors.reach(clock, recent, 0.9) == (0.0, 0.0)
    errors.learn_error(clock, recent, -3.0, clock[SCALE])
    assert clock[SCALE] > 0
    assert np.isfinite(errors.reach(clock, recent, 0.9)).all()


def test_a_late_error_is_measured_by_what_was_known_in_time():
    clock, recent = np.zeros(CLOCK), np.zeros((2, RECENT))
    errors.learn_error(clock, recent, 4.0, 2.0)
    assert recent[0, 0] == 2.0
    assert clock[SCALE] == 4.0
