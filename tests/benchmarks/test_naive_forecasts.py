import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.accuracy.naive_forecasts import (
    fill_from_last_season,
    naive_forecasts,
    repeat_season,
)
from tests.benchmarks.made_up_series import made_up_series


@given(st.integers(1, 7), st.integers(1, 20))
def test_the_last_known_value_of_the_same_place_in_the_season(season, horizon):
    y, origins = np.arange(60.0), np.array([20, 33])
    forecasts = repeat_season(y, origins, horizon, season)
    for i, origin in enumerate(origins):
        for step in range(1, horizon + 1):
            row = origin + step
            while row > origin:
                row -= season
            assert forecasts[i, step - 1] == y[row]


def test_persistence_is_the_last_value_at_every_step():
    series = made_up_series(np.arange(30.0), season=4, long_season=8)
    forecasts = naive_forecasts(series, np.array([20, 25]), 3)
    np.testing.assert_array_equal(forecasts["persistence"], [[20] * 3, [25] * 3])
    np.testing.assert_array_equal(forecasts["seasonal naive"][0], [17, 18, 19])
    np.testing.assert_array_equal(forecasts["long seasonal naive"][0], [13, 14, 15])


def test_a_series_of_one_season_has_no_long_one():
    forecasts = naive_forecasts(made_up_series(np.arange(30.0)), np.array([20]), 3)
    assert set(forecasts) == {"persistence", "seasonal naive"}


def test_a_missing_value_is_that_of_a_season_before():
    series = made_up_series([1, np.nan, 3, 4, np.nan, np.nan, 7, 8], season=4)
    np.testing.assert_array_equal(
        fill_from_last_season(series), [1, 1, 3, 4, 1, 1, 7, 8]
    )
    assert np.isnan(series.y).sum() == 3
