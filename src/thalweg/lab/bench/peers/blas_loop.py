"""SciPy's BLAS called from Python: dsymv and dsyr on one triangle, in place."""

import numpy as np
from scipy.linalg.blas import daxpy, ddot, dsymv, dsyr

from thalweg.lab.bench.contender import Contender, Play
from thalweg.lab.bench.stream import Stream
from thalweg.types import FloatArray

LARGEST = 1e100


def prepare(stream: Stream, discount: float, ridge: float) -> Play:
    """C is ``grown`` times a matrix, which saves a pass over it for forgetting."""
    n, rows, targets = stream.x.shape[1], list(stream.x), stream.y.tolist()

    def play() -> FloatArray:
        out, theta, grown = np.empty(len(rows)), np.zeros(n), 1.0
        cov = np.eye(n, order="F") / ridge
        for t, (row, y) in enumerate(zip(rows, targets, strict=True)):
            out[t] = said = ddot(row, theta)
            cov_x = dsymv(grown, cov, row)
            scale = discount + ddot(row, cov_x)
            daxpy(cov_x, theta, a=(y - said) / scale)
            dsyr(-1 / (scale * grown), cov_x, a=cov, overwrite_a=1)
            grown /= discount
            if grown > LARGEST:
                cov *= grown
                grown = 1.0
        return out

    return play


SINGLE = [Contender("SciPy dsymv + dsyr", prepare)]
WHOLE = SINGLE
