"""statsmodels: ``RecursiveLS``, which does not forget and has no prior."""

import numpy as np
from statsmodels.regression.recursive_ls import RecursiveLS

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """The whole fit; its forecasts are those before each y."""

    def run() -> FloatArray:
        fitted = RecursiveLS(stream.y, stream.x).fit()
        return np.asarray(fitted.forecasts[0])

    return run


PER_ROUND: list[Implementation] = []
WHOLE_ARRAY = [
    # It keeps an n × n matrix of every round.
    Implementation(
        "statsmodels, γ = 1", prepare, discount=1.0, ridge=0.0, max_features=32
    )
]
