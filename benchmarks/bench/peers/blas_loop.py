"""SciPy's BLAS called from Python: dsymv and dsyr on one triangle, in place."""

import numpy as np
from scipy.linalg.blas import daxpy, ddot, dsymv, dsyr

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray

MAX_SCALE = 1e100


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """The covariance is ``growth`` times a matrix: forgetting needs no pass over it."""
    n, rows, targets = stream.x.shape[1], list(stream.x), stream.y.tolist()

    def run() -> FloatArray:
        out, theta, growth = np.empty(len(rows)), np.zeros(n), 1.0
        cov = np.eye(n, order="F") / ridge
        for t, (row, y) in enumerate(zip(rows, targets, strict=True)):
            out[t] = prediction = ddot(row, theta)
            cov_x = dsymv(growth, cov, row)
            scale = discount + ddot(row, cov_x)
            daxpy(cov_x, theta, a=(y - prediction) / scale)
            dsyr(-1 / (scale * growth), cov_x, a=cov, overwrite_a=1)
            growth /= discount
            if growth > MAX_SCALE:
                cov *= growth
                growth = 1.0
        return out

    return run


PER_ROUND = [Implementation("SciPy dsymv + dsyr", prepare)]
WHOLE_ARRAY = PER_ROUND
