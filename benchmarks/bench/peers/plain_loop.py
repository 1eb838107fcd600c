"""A plain numba loop: textbook RLS without any safeguard."""

import numpy as np

from benchmarks.bench.bench_stream import BenchStream
from benchmarks.bench.implementations import Implementation, Run
from benchmarks.bench.peers.plain_rls import plain_rls
from thalweg.types import FloatArray


def prepare(stream: BenchStream, discount: float, ridge: float) -> Run:
    """Compiled, whole arrays, no safeguards."""
    n = stream.x.shape[1]

    def run() -> FloatArray:
        out = np.empty(len(stream.y))
        plain_rls(np.zeros(n), np.eye(n) / ridge, discount, stream.x, stream.y, out)
        return out

    return run


PER_ROUND: list[Implementation] = []
WHOLE_ARRAY = [Implementation("plain numba loop", prepare)]
