"""pyroomacoustics: ``adaptive.RLS``, which takes the newest sample of a signal."""

import numpy as np
from pyroomacoustics.adaptive import RLS

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from thalweg.types import FloatArray


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """It has no predict: that is one product with its weights."""
    n, rows = stream.x.shape[1], list(stream.x)
    before, samples = np.split(stream.signal, [n - 1])
    rounds = list(zip(rows, samples.tolist(), stream.y.tolist(), strict=True))

    def run() -> FloatArray:
        out, peer = np.empty(len(rounds)), RLS(n, discount, ridge, dtype=np.float64)
        for sample in before:
            peer.x.push(sample)
        for t, (row, sample, y) in enumerate(rounds):
            out[t] = row @ peer.w
            peer.update(sample, y)
        return out

    return run


PER_ROUND = [Implementation("pyroomacoustics RLS", prepare)]
WHOLE_ARRAY: list[Implementation] = []
