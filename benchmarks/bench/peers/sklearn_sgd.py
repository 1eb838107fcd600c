"""scikit-learn: ``SGDRegressor.partial_fit`` on one row."""

import numpy as np
from sklearn.linear_model import SGDRegressor

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """It cannot predict before it has seen a round: its first prediction is 0."""
    x, y = stream.x, stream.y
    rounds = [(x[t : t + 1], y[t : t + 1]) for t in range(len(y))]

    def run() -> FloatArray:
        out, model = np.zeros(len(rounds)), SGDRegressor()
        model.partial_fit(*rounds[0])
        for t, (row, target) in enumerate(rounds[1:], start=1):
            out[t] = model.predict(row)[0]
            model.partial_fit(row, target)
        return out

    return run


PER_ROUND = [
    Implementation("scikit-learn SGDRegressor", prepare, is_same_algorithm=False)
]
WHOLE_ARRAY: list[Implementation] = []
