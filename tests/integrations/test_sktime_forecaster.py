"""The forecaster for sktime; ``make test-sktime`` has sktime, and all its checks."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sktime")

import pandas as pd
from sktime.split import ExpandingWindowSplitter
from sktime.utils.estimator_checks import check_estimator

from thalweg import Forecaster
from thalweg.errors import StreamError
from thalweg.integrations.sktime import TrackerForecaster

RNG = np.random.default_rng(2)
VALUES = 10 + 3 * np.sin(np.arange(120) * np.pi / 6) + RNG.normal(size=120)
X_VALUES = RNG.normal(size=(130, 2))
INDEXES = {
    "whole numbers": pd.RangeIndex(5, 135),
    "hours": pd.date_range("2026-01-01", periods=130, freq="h"),
    "months": pd.period_range("2010-01", periods=130, freq="M"),
}
CHECKS = [
    "test_fit_predict",
    "test_update_predict_single",
    "test_predict_interval",
    "test_predict_quantiles",
    "test_update_predict_predicted_index",
    "test_clone",
    "test_save_estimators_to_file",
    "test_constructor",
]


def series(kind):
    return pd.Series(VALUES, index=INDEXES[kind][:120], name="load")


@pytest.mark.parametrize("kind", INDEXES)
def test_updates_are_a_fit_of_all_without_a_refit(kind, monkeypatch):
    y = series(kind)
    whole = TrackerForecaster().fit(y, fh=[1, 2, 3])
    model = TrackerForecaster().fit(y[:50], fh=[1, 2, 3])
    inner = model.forecaster_
    monkeypatch.setattr(model, "_fit", None)
    model.update(y[50:51])
    model.update(y[40:100])  # of which 51 rows are known
    model.update(y[100:], update_params=False)
    assert model.forecaster_ is inner and inner.rounds == 120
    pd.testing.assert_series_equal(model.predict(), whole.predict())
    pd.testing.assert_frame_equal(model.predict_interval(), whole.predict_interval())
    assert model.predict().index.equals(INDEXES[kind][120:123])


def test_numbers_are_those_of_the_forecaster():
    y = series("hours")
    expected = Forecaster(5).update(y).forecast(interval=0.8)
    model = TrackerForecaster().fit(y, fh=[2, 5])
    forecasts = model.predict()
    np.testing.assert_array_equal(forecasts, expected.mean[[1, 4]])
    assert forecasts.name == "load"
    band = model.predict_interval(coverage=0.8)["load", 0.8]
    np.testing.assert_array_equal(band["lower"], expected.low[[1, 4]])
    np.testing.assert_array_equal(band["upper"], expected.high[[1, 4]])


@pytest.mark.parametrize("kind", INDEXES)
def test_features_are_known_in_advance(kind):
    y, X = series(kind), pd.DataFrame(X_VALUES, INDEXES[kind], columns=["a", "b"])
    model = TrackerForecaster(season=12).fit(y[:90], X=X[:90], fh=[1, 2, 3])
    model.update(y[90:], X=X[90:120])
    inner = Forecaster(3, season=12, known=True).update(VALUES, X_VALUES[:120])
    expected = inner.forecast(future=X_VALUES[120:123]).mean
    np.testing.assert_array_equal(model.predict(X=X[120:123]), expected)
    # Rows before the cutoff may come along, and rows that no step needs be absent.
    np.testing.assert_array_equal(model.predict(X=X), expected)
    third = model.predict(fh=[3], X=X[122:123])
    future = np.repeat(X_VALUES[122:123], 3, axis=0)
    np.testing.assert_array_equal(third, inner.forecast(future=future).mean[2:])


def test_rows_that_are_missing_between_updates_are_missing_values():
    y = series("whole numbers")
    model = TrackerForecaster().fit(y[:50], fh=[1]).update(y[60:])
    with_gap = y.where((y.index < 55) | (y.index >= 65))
    expected = TrackerForecaster().fit(with_gap, fh=[1])
    pd.testing.assert_series_equal(model.predict(), expected.predict())


def test_a_walk_over_cutoffs_gives_the_forecasts_of_a_backtest():
    y = series("hours")
    backtest = Forecaster(2).run(y)
    model = TrackerForecaster().fit(y[:100], fh=[1, 2])
    cv = ExpandingWindowSplitter(fh=[1, 2], initial_window=1, step_length=1)
    walk = model.update_predict(y[100:], cv)
    np.testing.assert_array_equal(walk.iloc[0, 0], backtest.mean[100, 0])
    np.testing.assert_array_equal(np.diag(walk), backtest.mean[100:118, 0])


def test_a_step_beyond_the_horizon_is_refused():
    model = TrackerForecaster().fit(series("hours"), fh=[1, 2])
    with pytest.raises(StreamError, match="horizon of 2 steps cannot look 3 steps"):
        model.predict(fh=[3])
    assert len(TrackerForecaster(horizon=3).fit(series("hours")).predict(fh=[3])) == 1


@pytest.mark.parametrize("check", CHECKS)
def test_it_passes_a_check_of_sktime(check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs
        results = check_estimator(
            TrackerForecaster, raise_exceptions=True, tests_to_run=check, verbose=False
        )
    assert results
