"""pyroomacoustics: ``adaptive.RLS``, which takes the newest sample of a signal."""

import numpy as np
from pyroomacoustics.adaptive import RLS

from thalweg.lab.bench.contender import Contender, Play
from thalweg.lab.bench.stream import Stream
from thalweg.types import FloatArray


def prepare(stream: Stream, discount: float, ridge: float) -> Play:
    """It has no predict: that is one product with its weights."""
    n, rows = stream.x.shape[1], list(stream.x)
    before, samples = np.split(stream.signal, [n - 1])
    rounds = list(zip(rows, samples.tolist(), stream.y.tolist(), strict=True))

    def play() -> FloatArray:
        out, peer = np.empty(len(rounds)), RLS(n, discount, ridge, dtype=np.float64)
        for sample in before:
            peer.x.push(sample)
        for t, (row, sample, y) in enumerate(rounds):
            out[t] = row @ peer.w
            peer.update(sample, y)
        return out

    return play


SINGLE = [Contender("pyroomacoustics RLS", prepare)]
WHOLE: list[Contender] = []
