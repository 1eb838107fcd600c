"""Which past round is most like this one: the season of the labels.

The normalised difference of the YIN pitch detector: with d_l the discounted mean of
(y_t - y_{t-l})², the season is the l with the least l·d_l / Σ_{m≤l} d_m, if that is
below one; else 1. (The least d_l itself is nearly always l = 1 or 2.)
de Cheveigné & Kawahara (2002), J. Acoust. Soc. Am. 111(4), section II.C.

By how much the sum of lag l is to be divided depends on t - l alone, the number of its
terms: as the labels do, these divisors move down by one lag a round.
"""

import numpy as np

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import (
    WIDTH,
    above,
    any_above,
    fused,
    last,
    load,
    running,
    store,
)
from thalweg.kernels.tracker.layout import (
    DIFFERENCE_COUNT,
    MAX_SEASON,
    PASSED_ROUNDS,
    SEASON,
)
from thalweg.kernels.tracker.past import newest

DISCOUNT = 0.9995
EVERY = 8
"""Rounds between two looks, after the first 512: sums of thousands of rounds hardly
change in one, and looking at them costs more than making them."""
LAGS = np.arange(1.0, MAX_SEASON + 1)


@inner_function
def update_season(counters, past_y, season_differences, inverse_counts, y):
    """Learn from the label ``y`` of round t, and set the season of round t + 1."""
    t = int(counters[PASSED_ROUNDS])
    start = newest(counters)
    for i in range(0, min(t, MAX_SEASON), WIDTH):
        step, apart = y - load(past_y, start + i), load(season_differences, i)
        learnt = fused(apart, DISCOUNT, step * step)
        store(season_differences, i, above(load(LAGS, i), float(t), apart, learnt))
    if t <= MAX_SEASON or t % EVERY == 0:
        _find_season(
            counters, season_differences, inverse_counts, start, min(t // 2, MAX_SEASON)
        )


@inline_function
def _find_season(counters, season_differences, inverse_counts, start, half):
    """Among the first ``half`` lags: two seasons must have been seen."""
    total, least = 0.0, 1.0
    counters[SEASON] = 1
    for i in range(0, half, WIDTH):
        lag = load(LAGS, i)
        here = above(
            lag,
            float(half),
            0.0,
            load(season_differences, i) * load(inverse_counts, start + i),
        )
        so_far = running(here)
        # Seldom is any lag of the eight the best so far: then it is found one by one.
        if any_above(
            above(lag, float(half), 0.0, least * (total + so_far)), here * lag
        ):
            least = _best_of_eight(
                counters, season_differences, inverse_counts, start, i, total, least
            )
        total += last(so_far)


@inline_function
def _best_of_eight(
    counters, season_differences, inverse_counts, start, first, total, least
):
    half = min(int(counters[PASSED_ROUNDS]) // 2, MAX_SEASON)
    for i in range(first, min(first + WIDTH, half)):
        here = season_differences[i] * inverse_counts[start + i]
        total += here
        if here * (i + 1) < least * total:
            least = here * (i + 1) / total
            counters[SEASON] = i + 1
    return least


@inner_function
def count(counters, inverse_counts, learnt):
    """After ``push``: the divisor of lag 1 in the coming round.

    A round that was not learnt from added no term.
    """
    if learnt:
        counters[DIFFERENCE_COUNT] = DISCOUNT * counters[DIFFERENCE_COUNT] + 1
    place = newest(counters)
    inverse_counts[place] = 1 / counters[DIFFERENCE_COUNT]
    inverse_counts[place + MAX_SEASON] = 1 / counters[DIFFERENCE_COUNT]


@inner_function
def reset_season(counters, season_differences, inverse_counts):
    """Begin again. All lags then have as many terms, and their ratios need no divisor.

    A full count stands for it, which later ones come to as well.
    """
    counters[SEASON], counters[DIFFERENCE_COUNT] = 1, 1 / (1 - DISCOUNT)
    season_differences.fill(0.0)
    inverse_counts.fill(1 - DISCOUNT)
