"""River: features as dictionaries, which are made before the timing starts."""

from collections.abc import Callable
from typing import Any

import numpy as np
from river.linear_model import BayesianLinearRegression, LinearRegression

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray


def prepare_bayesian(stream: BenchStream, discount: float, ridge: float) -> Run:
    """With smoothing γ and alpha 1 its ridge is 1 / (beta (1 - γ))."""
    beta = 1 / (ridge * (1 - discount))
    return _prepare(
        stream, lambda: BayesianLinearRegression(1.0, beta, smoothing=discount)
    )


def prepare_sgd(stream: BenchStream, discount: float, ridge: float) -> Run:
    """Stochastic gradient descent as River sets it up."""
    return _prepare(stream, LinearRegression)


def _prepare(stream: BenchStream, make: Callable[[], Any]) -> Run:
    features = [dict(enumerate(row)) for row in stream.x.tolist()]
    targets = stream.y.tolist()

    def run() -> FloatArray:
        out, model = np.empty(len(targets)), make()
        for t, (row, y) in enumerate(zip(features, targets, strict=True)):
            out[t] = model.predict_one(row)
            model.learn_one(row, y)
        return out

    return run


PER_ROUND = [
    Implementation("River Bayesian regression", prepare_bayesian),
    Implementation("River LinearRegression SGD", prepare_sgd, is_same_algorithm=False),
]
WHOLE_ARRAY: list[Implementation] = []
