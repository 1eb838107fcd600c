"""bayesianbandits: ``NormalRegressor``, whose alpha is the ridge where beta is 1."""

import numpy as np
from bayesianbandits import ExponentialForgetting, NormalRegressor

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """predict, then partial_fit on one row, which forgets as well."""
    x, y = stream.x, stream.y
    rounds = [(x[t : t + 1], y[t : t + 1]) for t in range(len(y))]
    rule = ExponentialForgetting(discount)

    def run() -> FloatArray:
        out = np.empty(len(rounds))
        model = NormalRegressor(alpha=ridge, beta=1.0, forgetting=rule)
        for t, (row, target) in enumerate(rounds):
            out[t] = model.predict(row)[0]
            model.partial_fit(row, target)
        return out

    return run


PER_ROUND = [Implementation("bayesianbandits Normal", prepare)]
WHOLE_ARRAY: list[Implementation] = []
