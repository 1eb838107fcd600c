import numpy as np

from tests.kernels.tracker import reference
from tests.kernels.tracker.workspaces import seasonality
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.seasonality import SEARCH_INTERVAL


def seasons_of(y):
    counters, past_y = np.zeros(layout.COUNTERS), np.zeros(2 * layout.MAX_SEASON)
    past_x, season_differences = (
        np.zeros((layout.MAX_SEASON, 1)),
        np.zeros(layout.MAX_SEASON),
    )
    seasons, inverse_counts = [], np.zeros(2 * layout.MAX_SEASON)
    for t, label in enumerate(y):
        seasonality.update_season(
            counters, past_y, season_differences, inverse_counts, label
        )
        x = np.array([float(t)])
        seasonality.push_round(counters, past_x, past_y, x, label)
        seasonality.push_inverse_count(counters, inverse_counts, True)
        seasons.append(int(counters[layout.SEASON]))
    return seasons


def test_the_season_is_the_lag_at_which_labels_are_most_alike():
    rng = np.random.default_rng(0)
    y = np.sin(2 * np.pi * np.arange(80) / 7) + 0.1 * rng.normal(size=80)
    assert seasons_of(y) == [reference.season(y[: t + 1]) for t in range(80)]
    assert seasons_of(y)[-1] % 7 == 0


def test_a_long_stream_is_searched_now_and_then():
    rng = np.random.default_rng(1)
    y = np.sin(2 * np.pi * np.arange(640) / 25) + 0.3 * rng.normal(size=640)
    seasons = seasons_of(y)
    for t in range(layout.MAX_SEASON + SEARCH_INTERVAL, 640, 37):
        last_search = t // SEARCH_INTERVAL * SEARCH_INTERVAL
        assert seasons[t] == reference.season(y[: last_search + 1])


def test_after_a_new_start_the_season_is_that_of_the_labels_since():
    rng = np.random.default_rng(2)
    counters, past_y, past_x = (
        np.zeros(layout.COUNTERS),
        np.zeros(1024),
        np.zeros((512, 1)),
    )
    season_differences, inverse_counts = np.zeros(512), np.zeros(1024)
    x = np.zeros(1)
    y = np.sin(2 * np.pi * np.arange(1793) / 30) + 0.3 * rng.normal(size=1793)
    y[:600] *= 1e6
    for t, label in enumerate(y):
        if t == 1150:
            seasonality.reset_season(counters, season_differences, inverse_counts)
        seasonality.update_season(
            counters, past_y, season_differences, inverse_counts, label
        )
        seasonality.push_round(counters, past_x, past_y, x, label)
        seasonality.push_inverse_count(counters, inverse_counts, True)
    since = np.arange(1150, 1793)
    lags, fading = np.arange(1, 513), 0.9995 ** (1792 - since)
    d = np.array([fading @ (y[since] - y[since - lag]) ** 2 for lag in lags])
    assert counters[layout.SEASON] == lags[(lags * d / d.cumsum()).argmin()]
    assert counters[layout.SEASON] % 30 == 0


def test_without_labels_that_differ_there_is_no_season():
    assert set(seasons_of(np.full(20, 3.0))) == {1}


def test_past_rounds_are_found_by_their_lag():
    rounds = layout.MAX_SEASON + 100
    counters, past_y = np.zeros(layout.COUNTERS), np.zeros(2 * layout.MAX_SEASON)
    past_x = np.zeros((layout.MAX_SEASON, 1))
    for t in range(rounds):
        x = np.array([float(t)])
        seasonality.push_round(counters, past_x, past_y, x, float(-t))
    start = seasonality.newest_label(counters)
    expected = -np.arange(rounds - 1.0, rounds - 1 - layout.MAX_SEASON, -1)
    np.testing.assert_array_equal(past_y[start : start + layout.MAX_SEASON], expected)
    for lag in (1, 2, 100, layout.MAX_SEASON):
        assert past_x[seasonality.feature_row(counters, lag), 0] == rounds - lag
