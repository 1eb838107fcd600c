"""River: features as dictionaries, which are made before the clock starts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from river.linear_model import BayesianLinearRegression, LinearRegression

from thalweg.lab.bench.contender import Contender, Play
from thalweg.lab.bench.stream import Stream
from thalweg.types import FloatArray


def bayesian(stream: Stream, discount: float, ridge: float) -> Play:
    """With smoothing γ and alpha 1 its ridge is 1 / (beta (1 - γ))."""
    beta = 1 / (ridge * (1 - discount))
    return _prepared(
        stream, lambda: BayesianLinearRegression(1.0, beta, smoothing=discount)
    )


def gradient(stream: Stream, discount: float, ridge: float) -> Play:
    """Stochastic gradient descent as River sets it up."""
    return _prepared(stream, LinearRegression)


def _prepared(stream: Stream, make: Callable[[], Any]) -> Play:
    features = [dict(enumerate(row)) for row in stream.x.tolist()]
    targets = stream.y.tolist()

    def play() -> FloatArray:
        out, model = np.empty(len(targets)), make()
        for t, (row, y) in enumerate(zip(features, targets, strict=True)):
            out[t] = model.predict_one(row)
            model.learn_one(row, y)
        return out

    return play


SINGLE = [
    Contender("River Bayesian regression", bayesian),
    Contender("River LinearRegression SGD", gradient, same=False),
]
WHOLE: list[Contender] = []
