"""padasip: ``FilterRLS``, whose mu is γ and whose eps is the ridge."""

import numpy as np
import padasip

from thalweg.lab.bench.contender import Contender, Play
from thalweg.lab.bench.stream import Stream
from thalweg.types import FloatArray


def single(stream: Stream, discount: float, ridge: float) -> Play:
    """predict, then adapt."""
    rows, targets = list(stream.x), stream.y.tolist()

    def play() -> FloatArray:
        out, peer = np.empty(len(rows)), _filter(stream, discount, ridge)
        for t, (row, y) in enumerate(zip(rows, targets, strict=True)):
            out[t] = peer.predict(row)
            peer.adapt(y, row)
        return out

    return play


def whole(stream: Stream, discount: float, ridge: float) -> Play:
    """Its own loop over arrays."""

    def play() -> FloatArray:
        peer = _filter(stream, discount, ridge)
        return np.asarray(peer.run(stream.y, stream.x)[0])

    return play


def _filter(stream: Stream, discount: float, ridge: float) -> padasip.filters.FilterRLS:
    n = stream.x.shape[1]
    return padasip.filters.FilterRLS(n, mu=discount, eps=ridge, w="zeros")


SINGLE = [Contender("padasip predict + adapt", single)]
WHOLE = [Contender("padasip run", whole)]
