import dataclasses

import numpy as np
import pytest

from tests.benchmarks.made_up_series import made_up_series

pytest.importorskip("lightgbm", reason="LightGBM is in the benchmarks' environment")
boosted = pytest.importorskip("benchmarks.accuracy.boosted_forecasts")

RNG = np.random.default_rng(0)
SEASON = np.tile([1.0, 5.0, 2.0, -3.0], 100)
Y = SEASON + RNG.normal(scale=0.1, size=400)
SERIES = made_up_series(Y, long_season=8)
ORIGINS = np.arange(210, 390, 7)


def test_the_season_is_learnt():
    forecasts = boosted.boosted_forecasts(SERIES, ORIGINS, 6)
    errors = forecasts - Y[ORIGINS[:, None] + np.arange(1, 7)]
    assert np.sqrt(np.mean(errors**2)) < 0.3


def test_a_trend_is_followed_as_changes_are_forecast():
    trend = made_up_series(Y + np.arange(400.0), long_season=8)
    rows = boosted.StepRows(trend, 6)
    assert boosted.choose_base(rows, np.random.default_rng(0)) != "zero"


def test_forecasts_depend_on_no_later_value():
    later = Y.copy()
    later[301:] = 1e3
    changed = dataclasses.replace(SERIES, y=later)
    early = ORIGINS[ORIGINS <= 300]
    np.testing.assert_array_equal(
        boosted.boosted_forecasts(SERIES, ORIGINS, 6)[: len(early)],
        boosted.boosted_forecasts(changed, ORIGINS, 6)[: len(early)],
    )


def test_values_may_be_missing():
    gaps = Y.copy()
    gaps[::9] = np.nan
    forecasts = boosted.boosted_forecasts(
        made_up_series(gaps, long_season=8), ORIGINS, 6
    )
    assert np.isfinite(forecasts).all()


def test_the_pairs_of_a_model_are_known_when_it_is_fitted():
    rows = boosted.StepRows(SERIES, 6)
    origins, steps = rows.pairs(50, RNG)
    assert (origins + steps).max() == 50 and set(steps) == {1, 2, 3, 4, 5, 6}
    assert origins.min() == SERIES.season
