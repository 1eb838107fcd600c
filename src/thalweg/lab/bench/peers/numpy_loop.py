"""Bare NumPy: the textbook recursion, in place."""

import numpy as np

from thalweg.lab.bench.contender import Contender, Play
from thalweg.lab.bench.stream import Stream
from thalweg.types import FloatArray


def prepare(stream: Stream, discount: float, ridge: float) -> Play:
    """Covariance form, seven calls a round."""
    n, rows, targets = stream.x.shape[1], list(stream.x), stream.y.tolist()

    def play() -> FloatArray:
        out, theta, cov = np.empty(len(rows)), np.zeros(n), np.eye(n) / ridge
        for t, (row, y) in enumerate(zip(rows, targets, strict=True)):
            out[t] = said = row @ theta
            cov_x = cov @ row
            gain = cov_x / (discount + row @ cov_x)
            theta += gain * (y - said)
            cov -= gain[:, None] * cov_x
            cov *= 1 / discount
        return out

    return play


SINGLE = [Contender("NumPy loop", prepare)]
WHOLE = SINGLE
