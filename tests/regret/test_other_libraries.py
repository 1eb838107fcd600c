"""Forecasts made elsewhere are measured by the same functions."""

import numpy as np
from river.linear_model import LinearRegression

from thalweg import regret, streams
from thalweg.losses import SquaredError
from thalweg.types import Trace

LOSS = SquaredError()
STREAM = streams.abrupt(400, 2, changes=2, seed=0)


def rivers_forecasts():
    model, predictions = LinearRegression(), []
    for x, y in zip(STREAM.block.x, STREAM.block.y, strict=True):
        features = {"a": float(x[0]), "b": float(x[1])}
        predictions.append(model.predict_one(features))
        model.learn_one(features, float(y))
    return np.array(predictions)


def last_values():
    return np.append(0.0, STREAM.block.y[:-1])


def test_a_river_model_and_a_last_value_have_a_regret_of_every_kind():
    for forecasts in (rivers_forecasts(), last_values()):
        trace = Trace.from_predictions(forecasts, STREAM.block, LOSS)
        expected = 0.5 * (forecasts - STREAM.block.y) ** 2
        np.testing.assert_allclose(trace.loss, expected)
        static = regret.static(trace, STREAM.block, LOSS)
        dynamic = regret.dynamic(trace, STREAM.block, LOSS, STREAM.truth)
        adaptive = regret.adaptive(trace, STREAM.block, LOSS)
        frontier = regret.frontier(STREAM.block, LOSS, points=5)
        assert static.total == trace.loss.sum() - static.comparator_loss
        assert dynamic.total == trace.loss.sum() - dynamic.comparator_loss
        assert adaptive.low >= static.total * (1 - 1e-9)
        low, high = frontier.regret_at(float(trace.loss.sum()), static.path_length)
        assert low <= static.total * (1 + 1e-9) and static.total <= high * (1 + 1e-6)
