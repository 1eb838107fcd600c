"""statsmodels: ``RecursiveLS``, which does not forget and has no prior."""

import numpy as np
from statsmodels.regression.recursive_ls import RecursiveLS

from thalweg.lab.bench.contender import Contender, Play
from thalweg.lab.bench.stream import Stream
from thalweg.types import FloatArray


def prepare(stream: Stream, discount: float, ridge: float) -> Play:
    """The whole fit; its forecasts are those before each y."""

    def play() -> FloatArray:
        fitted = RecursiveLS(stream.y, stream.x).fit()
        return np.asarray(fitted.forecasts[0])

    return play


SINGLE: list[Contender] = []
WHOLE = [
    # It keeps an n × n matrix of every round.
    Contender("statsmodels, γ = 1", prepare, discount=1.0, ridge=0.0, largest=32)
]
