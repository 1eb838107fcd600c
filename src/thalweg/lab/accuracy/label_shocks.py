"""Shocks: a few labels far from all others, as from a sensor that fails for a moment.

Also known as: additive outliers, impulse noise. Features that are past labels show each
shock again, so many rows later as they lag.
"""

from collections.abc import Mapping

import numpy as np
from numpy.random import Generator

from thalweg.types import FloatArray

DURATIONS = (1, 1, 2, 3)
"""Rounds that each of the four shocks of a stream lasts, in random order."""
MIN_SIZE, MAX_SIZE = 8.0, 20.0
"""The size of a shock, up or down, in standard deviations of the label."""


def draw_shocks(y: FloatArray, first: int, rng: Generator) -> FloatArray:
    """What is added to each label: (T,), zero but for one shock in every quarter.

    The rounds from ``first`` on are cut into four equal parts, and a shock begins at
    random in each, so that no two overlap and no round before ``first`` has one.
    """
    added = np.zeros(len(y))
    starts = np.linspace(first, len(y), len(DURATIONS) + 1).astype(int)
    durations = rng.permutation(DURATIONS)
    for start, end, duration in zip(starts, starts[1:], durations, strict=False):
        size = rng.choice([-1, 1]) * rng.uniform(MIN_SIZE, MAX_SIZE) * y.std()
        begin = rng.integers(start, end - duration + 1)
        added[begin : begin + duration] = size
    return added


def add_to_lags(
    x: FloatArray, lag_columns: Mapping[int, int], added: FloatArray
) -> FloatArray:
    """The features, if ``added`` is added to the labels: past labels show it too."""
    x = x.copy()
    for lag, column in lag_columns.items():
        x[lag:, column] += added[: len(added) - lag]
    return x
