"""The one stream that every implementation of the bench runs."""

from typing import NamedTuple

import numpy as np

from thalweg.types import FloatArray

DISCOUNT, RIDGE = 0.99, 1.0
NOISE = 0.1


class BenchStream(NamedTuple):
    """Rows that are the last n samples of a signal, newest first; then targets.

    An adaptive filter is given the signal and all others the rows: the same data.
    """

    signal: FloatArray  # (n - 1 + T,), the first n - 1 from before round 0
    x: FloatArray  # (T, n), of which row t is signal[t + n - 1], ..., signal[t]
    y: FloatArray  # (T,)

    def head(self, rounds: int) -> "BenchStream":
        """The first rounds."""
        samples = self.x.shape[1] - 1 + rounds
        return BenchStream(self.signal[:samples], self.x[:rounds], self.y[:rounds])


def draw_stream(rounds: int, n: int, seed: int = 0) -> BenchStream:
    """White noise through a random finite impulse response filter, and noise on top."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n - 1 + rounds)
    windows = np.lib.stride_tricks.sliding_window_view(signal, n)
    x = np.ascontiguousarray(windows[:, ::-1])
    theta = rng.normal(size=n) / np.sqrt(n)
    return BenchStream(signal, x, x @ theta + NOISE * rng.normal(size=rounds))
