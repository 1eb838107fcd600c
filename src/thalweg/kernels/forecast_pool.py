r"""A pool of forecasts of the same values: their weighted mean.

Also known as: forecast combination, opinion pool. There are up to three forecasts, the
last value and the mean of the same phase. Each of these and means of several, ``SETS``,
are weighed (forecast_weights.py) by about the last 500 values.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.layout import Layout, Range, Shape, whole
from thalweg.kernels.forecast_weights import (
    learn_discounted,
    set_means,
    set_weights,
    weighted_mean,
)

FORECASTS = 5
SETS = np.array((1, 2, 3, 4, 5, 6, 7, 8, 15, 16, 17, 20, 23))
"""The sets of forecasts whose means are weighed, as bits: 1, 2 and 4 are the forecasts,
8 the last value, 16 the mean of the same phase."""
MEANS = len(SETS)
RATE, DISCOUNT = 0.1, 0.998
"""η and d of the weights: slower than those of single models, whose means differ by
less."""
UNSCORED = 2
"""Number of first values whose errors do not count: all forecasts of them agree."""

# The entries of ``ForecastPoolState.counters``.
ROUNDS, VALUES, WEIGHT = range(3)
LEGAL_COUNTERS = {
    ROUNDS: whole(2**52), VALUES: whole(f"counters[{ROUNDS}]"), WEIGHT: Range(0, np.inf)
}  # fmt: skip

Array = np.ndarray


class ForecastPoolState(NamedTuple):
    """What is remembered; zeros before the first value."""

    # Rounds and values so far, N.
    counters: Annotated[Array, Shape(8, legal=LEGAL_COUNTERS)]
    losses: Annotated[Array, Shape(MEANS, legal=Range(0, np.inf))]
    # Forecasts of values to come, in a ring; NaN where one is not made.
    pending: Annotated[Array, Shape("delay + 1", FORECASTS, may_be_nan=True)]


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
    for t in range(values.size):
        slot = int(c[ROUNDS]) % (delay + 1)
        if not math.isnan(values[t]):
            if c[ROUNDS] > delay and c[VALUES] >= UNSCORED:
                set_means(s.pending[slot], SETS, means)
                learn_discounted(s.losses, means, values[t], DISCOUNT, math.inf)
                c[WEIGHT] = DISCOUNT * c[WEIGHT] + 1.0
            c[VALUES] += 1
        for j in range(FORECASTS):
            s.pending[slot, j] = forecasts[t, j]
        c[ROUNDS] += 1
        set_means(s.pending[slot], SETS, means)
        for j in range(MEANS):
            weights[j] = 0.0 if math.isnan(means[j]) else 1.0
        set_weights(s.losses, RATE * c[WEIGHT], weights)
        out[t] = weighted_mean(means, weights)
