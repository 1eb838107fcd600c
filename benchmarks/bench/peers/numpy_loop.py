"""Bare NumPy: the textbook recursion, in place."""

import numpy as np

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """Covariance form, seven calls a round."""
    n, rows, targets = stream.x.shape[1], list(stream.x), stream.y.tolist()

    def run() -> FloatArray:
        out, theta, cov = np.empty(len(rows)), np.zeros(n), np.eye(n) / ridge
        for t, (row, y) in enumerate(zip(rows, targets, strict=True)):
            out[t] = prediction = row @ theta
            cov_x = cov @ row
            gain = cov_x / (discount + row @ cov_x)
            theta += gain * (y - prediction)
            cov -= gain[:, None] * cov_x
            cov *= 1 / discount
        return out

    return run


PER_ROUND = [Implementation("NumPy loop", prepare)]
WHOLE_ARRAY = PER_ROUND
