import numpy as np
import pytest

from benchmarks.accuracy.forecast_accuracy import (
    COVERAGE_STEPS,
    coverage_by_step,
    measure_forecaster,
    run_forecaster,
)
from benchmarks.accuracy.forecast_origins import evaluation_origins, values_after
from benchmarks.accuracy.saved_forecasts import SavedForecasts
from tests.benchmarks.made_up_series import made_up_series
from thalweg.forecasting.forecast import Backtest

RNG = np.random.default_rng(0)
Y = RNG.normal(size=300).cumsum()
Y[200:203] = np.nan
SERIES = made_up_series(Y)
HORIZON = 6


def last_value(series, horizon, width=1.0):
    """A backtest of persistence with bands of one width."""
    mean = np.repeat(series.y[:, None], horizon, axis=1)
    return Backtest(series.y, mean, mean - width, mean + width, 0.9)


def test_errors_are_those_of_the_rivals_origins(tmp_path):
    saved, origins = SavedForecasts(tmp_path), evaluation_origins(Y, HORIZON)
    targets = values_after(Y, origins, HORIZON)
    saved.save(SERIES, origins, targets + 0.25, "theta", "statsforecast 1")
    accuracy = measure_forecaster(SERIES, HORIZON, saved, last_value)
    assert (accuracy.series, accuracy.rows) == ("made up", 300)
    assert accuracy.origins == len(origins)
    assert accuracy.error == accuracy.rivals["persistence"]
    assert accuracy.rivals["theta"] == pytest.approx(0.25, rel=1e-12)
    assert accuracy.best_rival == "theta"
    assert accuracy.ratio == accuracy.error / accuracy.rivals["theta"]


def test_coverage_is_counted_at_every_known_value_of_the_second_half():
    covered = coverage_by_step(last_value(SERIES, 24))
    assert tuple(covered) == COVERAGE_STEPS
    for step, share in covered.items():
        pairs = [
            abs(Y[row + step] - Y[row]) <= 1
            for row in range(150, 300 - step)
            if np.isfinite(Y[row + step])
        ]
        assert share == pytest.approx(np.mean(pairs), rel=1e-12)


def test_coverage_is_counted_up_to_the_horizon():
    assert tuple(coverage_by_step(last_value(SERIES, 7))) == (1, 2, 6)


def test_the_forecaster_knows_times_and_values_only():
    y = np.tile([1.0, 5.0, 2.0, -3.0], 60) + RNG.normal(scale=0.1, size=240)
    wrong = made_up_series(y, season=7)
    backtest = run_forecaster(wrong, 4)
    assert backtest.mean.shape == (240, 4) and backtest.level == 0.9
    again = run_forecaster(made_up_series(y, season=4), 4)
    np.testing.assert_array_equal(backtest.mean, again.mean)
