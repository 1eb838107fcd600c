import numpy as np

from tests.kernels.tracker import slow
from tests.kernels.tracker.rooms import past, season
from thalweg.kernels.tracker.layout import CLOCK, LAG, LONGEST_SEASON
from thalweg.kernels.tracker.season import EVERY


def seasons_of(y):
    clock, past_y = np.zeros(CLOCK), np.zeros(2 * LONGEST_SEASON)
    past_x, unlike = np.zeros((LONGEST_SEASON, 1)), np.zeros(LONGEST_SEASON)
    found, per_count = [], np.zeros(2 * LONGEST_SEASON)
    for t, label in enumerate(y):
        season.learn_season(clock, past_y, unlike, per_count, label)
        past.push(clock, past_x, past_y, np.array([float(t)]), label)
        season.count(clock, per_count, True)
        found.append(int(clock[LAG]))
    return found


def test_the_season_is_the_lag_at_which_labels_are_most_alike():
    rng = np.random.default_rng(0)
    y = np.sin(2 * np.pi * np.arange(80) / 7) + 0.1 * rng.normal(size=80)
    assert seasons_of(y) == [slow.season(y[: t + 1]) for t in range(80)]
    assert seasons_of(y)[-1] % 7 == 0


def test_a_long_stream_is_looked_at_now_and_then():
    rng = np.random.default_rng(1)
    y = np.sin(2 * np.pi * np.arange(640) / 25) + 0.3 * rng.normal(size=640)
    found = seasons_of(y)
    for t in range(LONGEST_SEASON + EVERY, 640, 37):
        last_look = t // EVERY * EVERY
        assert found[t] == slow.season(y[: last_look + 1])


def test_after_a_new_start_the_season_is_that_of_the_labels_since():
    rng = np.random.default_rng(2)
    clock, past_y, past_x = np.zeros(CLOCK), np.zeros(1024), np.zeros((512, 1))
    unlike, per_count = np.zeros(512), np.zeros(1024)
    y = np.sin(2 * np.pi * np.arange(1793) / 30) + 0.3 * rng.normal(size=1793)
    y[:600] *= 1e6
    for t, label in enumerate(y):
        if t == 1150:
            season.forget_season(clock, unlike, per_count)
        season.learn_season(clock, past_y, unlike, per_count, label)
        past.push(clock, past_x, past_y, np.array([0.0]), label)
        season.count(clock, per_count, True)
    since = np.arange(1150, 1793)
    lags, fading = np.arange(1, 513), 0.9995 ** (1792 - since)
    d = np.array([fading @ (y[since] - y[since - lag]) ** 2 for lag in lags])
    assert clock[LAG] == lags[(lags * d / d.cumsum()).argmin()]
    assert clock[LAG] % 30 == 0


def test_without_labels_that_differ_there_is_no_season():
    assert set(seasons_of(np.full(20, 3.0))) == {1}


def test_the_last_rounds_are_where_they_are_looked_for():
    rounds = LONGEST_SEASON + 100
    clock, past_y = np.zeros(CLOCK), np.zeros(2 * LONGEST_SEASON)
    past_x = np.zeros((LONGEST_SEASON, 1))
    for t in range(rounds):
        past.push(clock, past_x, past_y, np.array([float(t)]), float(-t))
    start = past.newest(clock)
    expected = -np.arange(rounds - 1.0, rounds - 1 - LONGEST_SEASON, -1)
    np.testing.assert_array_equal(past_y[start : start + LONGEST_SEASON], expected)
    for lag in (1, 2, 100, LONGEST_SEASON):
        assert past_x[past.row(clock, lag), 0] == rounds - lag
