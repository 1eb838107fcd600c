"""padasip: ``FilterRLS``, whose mu is γ and whose eps is the ridge."""

import numpy as np
import padasip

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray


def prepare_calls(stream: BenchStream, discount: float, ridge: float) -> Run:
    """Calls of ``predict``, then ``adapt``."""
    rows, targets = list(stream.x), stream.y.tolist()

    def run() -> FloatArray:
        out, peer = np.empty(len(rows)), _filter(stream, discount, ridge)
        for t, (row, y) in enumerate(zip(rows, targets, strict=True)):
            out[t] = peer.predict(row)
            peer.adapt(y, row)
        return out

    return run


def prepare_run(stream: BenchStream, discount: float, ridge: float) -> Run:
    """Its own loop over arrays."""

    def run() -> FloatArray:
        peer = _filter(stream, discount, ridge)
        return np.asarray(peer.run(stream.y, stream.x)[0])

    return run


def _filter(
    stream: BenchStream, discount: float, ridge: float
) -> padasip.filters.FilterRLS:
    n = stream.x.shape[1]
    return padasip.filters.FilterRLS(n, mu=discount, eps=ridge, w="zeros")


PER_ROUND = [Implementation("padasip predict + adapt", prepare_calls)]
WHOLE_ARRAY = [Implementation("padasip run", prepare_run)]
