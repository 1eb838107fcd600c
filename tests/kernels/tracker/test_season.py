import numpy as np

from tests.kernels.tracker import slow
from thalweg.kernels.tracker.layout import CLOCK, LAG, LONGEST_SEASON
from thalweg.kernels.tracker.past import newest, push, row
from thalweg.kernels.tracker.season import find_season


def seasons_of(y):
    clock, past_y = np.zeros(CLOCK), np.zeros(2 * LONGEST_SEASON)
    past_x, unlike = np.zeros((LONGEST_SEASON, 1)), np.zeros((2, LONGEST_SEASON))
    found, work = [], np.empty(LONGEST_SEASON)
    for t, label in enumerate(y):
        find_season(clock, past_y, unlike, label, work)
        push(clock, past_x, past_y, np.array([float(t)]), label)
        found.append(int(clock[LAG]))
    return found


def test_the_season_is_the_lag_at_which_labels_are_most_alike():
    rng = np.random.default_rng(0)
    y = np.sin(2 * np.pi * np.arange(80) / 7) + 0.1 * rng.normal(size=80)
    assert seasons_of(y) == [slow.season(y[: t + 1]) for t in range(80)]
    assert seasons_of(y)[-1] % 7 == 0


def test_without_labels_that_differ_there_is_no_season():
    assert set(seasons_of(np.full(20, 3.0))) == {1}


def test_the_last_rounds_are_where_they_are_looked_for():
    rounds = LONGEST_SEASON + 100
    clock, past_y = np.zeros(CLOCK), np.zeros(2 * LONGEST_SEASON)
    past_x = np.zeros((LONGEST_SEASON, 1))
    for t in range(rounds):
        push(clock, past_x, past_y, np.array([float(t)]), float(-t))
    start = newest(clock)
    expected = -np.arange(rounds - 1.0, rounds - 1 - LONGEST_SEASON, -1)
    np.testing.assert_array_equal(past_y[start : start + LONGEST_SEASON], expected)
    for lag in (1, 2, 100, LONGEST_SEASON):
        assert past_x[row(clock, lag), 0] == rounds - lag
