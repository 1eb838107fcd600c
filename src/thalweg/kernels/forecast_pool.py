r"""A pool of forecasts of the same values: their weighted mean.

Also known as: forecast combination, opinion pool. There are up to three forecasts, the
last value and the mean of the same phase. What is weighed is each of these and means of
several, ``SETS``: they are often better than any of their parts. Their weights are
those of loss_weights.py; about the last 500 values count.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels.jit import inner_function, kernel
from thalweg.kernels.layout import Layout, Shape
from thalweg.kernels.loss_weights import set_weights

FORECASTS = 5
SETS = (1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 20, 23)
"""Whose means are weighed, as bits: 1, 2 and 4 are the forecasts, 8 the last value, 16
the mean of the same phase."""
MEANS = len(SETS)
RATE, DISCOUNT = 0.1, 0.998
"""η and d of the weights: slower than those of single models, whose means differ by
less."""
UNSCORED = 2
"""First values whose errors do not count: all forecasts of them are alike."""

# The entries of ``ForecastPoolState.counters``.
ROUNDS, VALUES, WEIGHT = range(3)

Array = np.ndarray


class ForecastPoolState(NamedTuple):
    """What is remembered; zeros before the first value."""

    counters: Annotated[Array, Shape(8)]  # rounds and values so far, N
    losses: Annotated[Array, Shape(MEANS)]
    # Forecasts of values to come, in a ring; NaN where one is not made.
    pending: Annotated[Array, Shape("delay + 1", FORECASTS)]


STATE = Layout("forecast pool", ForecastPoolState, version=1, dimensions=("delay",))
unpack = STATE.unpack


@kernel(ieee_division=True)
def play(packed, delay, values, forecasts, out):
    """Learn values (T,), NaN where missing; after each, pool new forecasts.

    ``forecasts`` (T, 5) are made after each value, of the one ``delay`` + 1 rounds
    later; NaN where one is not made, which the first one always is. Their weighted
    means are put into ``out`` (T,).
    """
    s = unpack(packed, 0, delay)
    c, means, weights = s.counters, np.empty(MEANS), np.empty(MEANS)
    masked = np.empty(MEANS)
    for t in range(values.size):
        slot = int(c[ROUNDS]) % (delay + 1)
        if not math.isnan(values[t]):
            if c[ROUNDS] > delay and c[VALUES] >= UNSCORED:
                _set_means(s.pending[slot], means)
                _learn(s, means, values[t])
            c[VALUES] += 1
        for j in range(FORECASTS):
            s.pending[slot, j] = forecasts[t, j]
        c[ROUNDS] += 1
        _set_means(s.pending[slot], means)
        for j in range(MEANS):
            masked[j] = math.nan if math.isnan(means[j]) else s.losses[j]
        set_weights(masked, c[WEIGHT], RATE, weights)
        # Summed from the first on, so that where all agree the sum is exact.
        out[t] = means[0]
        for j in range(1, MEANS):
            if weights[j] > 0.0:
                out[t] += weights[j] * (means[j] - means[0])


@inner_function
def _set_means(forecasts, means):
    """Set the means (MEANS,) of those in each set that are made; NaN if none is."""
    for j in range(MEANS):
        total, count = 0.0, 0
        for k in range(FORECASTS):
            if SETS[j] >> k & 1 and not math.isnan(forecasts[k]):
                total += forecasts[k]
                count += 1
        means[j] = total / count if count > 0 else math.nan


@inner_function
def _learn(s, means, y):
    """Count the errors of the means; of one that was not made, that of the first."""
    for j in range(MEANS):
        made = means[0] if math.isnan(means[j]) else means[j]
        s.losses[j] = DISCOUNT * s.losses[j] + (y - made) ** 2
    s.counters[WEIGHT] = DISCOUNT * s.counters[WEIGHT] + 1.0
