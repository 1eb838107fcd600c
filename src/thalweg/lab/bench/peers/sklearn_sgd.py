"""scikit-learn: ``SGDRegressor.partial_fit`` on one row."""

import numpy as np
from sklearn.linear_model import SGDRegressor

from thalweg.lab.bench.contender import Contender, Play
from thalweg.lab.bench.stream import Stream
from thalweg.types import FloatArray


def prepare(stream: Stream, discount: float, ridge: float) -> Play:
    """It cannot predict before it has seen a round: 0 is said of the first."""
    x, y = stream.x, stream.y
    rounds = [(x[t : t + 1], y[t : t + 1]) for t in range(len(y))]

    def play() -> FloatArray:
        out, model = np.zeros(len(rounds)), SGDRegressor()
        model.partial_fit(*rounds[0])
        for t, (row, target) in enumerate(rounds[1:], start=1):
            out[t] = model.predict(row)[0]
            model.partial_fit(row, target)
        return out

    return play


SINGLE = [Contender("scikit-learn SGDRegressor", prepare, same=False)]
WHOLE: list[Contender] = []
