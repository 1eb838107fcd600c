"""The forecaster for River: as ``thalweg.Forecaster``, with rows of River."""

import math
import pickle
from datetime import datetime, timedelta

import numpy as np
import pytest

pytest.importorskip("river")

from river import datasets, evaluate, metrics

from thalweg import Forecaster
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.integrations.river import TrackerForecaster

RNG = np.random.default_rng(3)
Y = (10 + 3 * np.sin(np.arange(90) * np.pi / 6) + RNG.normal(size=90)).tolist()
X = [{"wind": RNG.normal(), 7: float(t % 2)} for t in range(93)]
START = datetime(2026, 1, 1)


def test_a_forecast_is_that_of_the_forecaster():
    model, expected = TrackerForecaster(3), Forecaster(3).update(Y).forecast()
    for y in Y:
        model.learn_one(y)
    assert model.forecast(3) == expected.mean.tolist()
    intervals = model.forecast_interval(2)
    assert [interval.low for interval in intervals] == expected.low[:2].tolist()
    assert model.model.seasons.season == 12


def test_features_have_keys_in_any_order_and_are_known_in_advance():
    model, rows = TrackerForecaster(3), [[x[7], x["wind"]] for x in X]
    for y, x in zip(Y, X, strict=False):
        model.learn_one(y, dict(reversed(x.items())))
    expected = Forecaster(3, known=True).update(Y, rows[:90]).forecast(future=rows[90:])
    assert model.forecast(3, X[90:]) == expected.mean.tolist()
    with pytest.raises(StreamError, match="needs 'future'"):
        model.forecast(3)
    # A key that is absent is 0, River's convention.
    zeros = [{**x, "wind": 0.0} for x in X[90:]]
    assert model.forecast(3, [{7: x[7]} for x in X[90:]]) == model.forecast(3, zeros)
    with pytest.raises(StreamError, match="first row: 7, 'wind'. Got 'rain' as well."):
        model.learn_one(1.0, {"rain": 1.0})
    assert model.model.rounds == len(Y)


def test_features_that_are_not_known_in_advance_are_not_asked_for():
    model, rows = TrackerForecaster(3, known=False), [[x[7], x["wind"]] for x in X]
    for y, x in zip(Y, X, strict=False):
        model.learn_one(y, x)
    expected = Forecaster(3).update(Y, rows[:90]).forecast()
    assert model.forecast(3) == model.forecast(3, X[90:]) == expected.mean.tolist()


def test_a_datetime_is_the_time_of_the_row():
    times = [START + timedelta(hours=hour) for hour in range(90)]
    model, without = TrackerForecaster(3), TrackerForecaster(3, calendar=False)
    for hour, (y, time) in enumerate(zip(Y, times, strict=True)):
        if hour % 10 != 5:  # rows that are missing
            model.learn_one(y, {"hour": time})
            without.learn_one(y, {"hour": time})
    expected = Forecaster(3)
    for hour, (y, time) in enumerate(zip(Y, times, strict=True)):
        expected.update(None if hour % 10 == 5 else y, time=time)
    assert model.model.seasons.season == 24
    assert model.forecast(3) == expected.forecast().mean.tolist()
    assert without.model.rounds == 81
    with pytest.raises(StreamError, match="datetimes as 'a' and 'b': leave one out"):
        model.learn_one(1.0, {"a": START, "b": START})


def test_rivers_evaluation_gives_the_forecasts_of_a_backtest():
    passengers = list(datasets.AirlinePassengers())
    times = [x["month"] for x, _ in passengers]
    y = [float(value) for _, value in passengers]
    backtest = Forecaster(12).run(y, time=times)
    steps = evaluate.forecasting.iter_evaluate(
        passengers, TrackerForecaster(12), metrics.MAE(), horizon=12
    )
    # It learns 12 rows first, and forecasts before each further one.
    rows = [forecast for _, _, forecast, _ in steps]
    np.testing.assert_array_equal(rows, backtest.mean[11 : 11 + len(rows)])
    assert len(rows) == len(y) - 2 * 12


def test_before_any_value_forecasts_are_zero_and_unbounded():
    model = TrackerForecaster()
    assert model.forecast(2) == [0.0, 0.0]
    model.learn_one(None)
    assert model.forecast(2, [{}, {}]) == [0.0, 0.0]
    assert model.forecast_interval(1)[0].high == math.inf


def test_a_copy_goes_on_as_the_original_and_horizons_are_limited():
    model = TrackerForecaster(2)
    for y, x in zip(Y[:40], X, strict=False):
        model.learn_one(y, x)
    copy = pickle.loads(pickle.dumps(model))
    for y, x in zip(Y[40:], X[40:], strict=False):
        model.learn_one(y, x)
        copy.learn_one(y, x)
    assert copy.forecast(2, X[90:]) == model.forecast(2, X[90:])
    with pytest.raises(InvalidParameterError, match=r"must be in \[1, 2\]. Got 3"):
        model.forecast(3)
    assert model._raw_memory_usage < 1_000_000
