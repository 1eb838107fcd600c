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
from thalweg.kernels.tracker.layout import COUNTED, LAG, LONGEST_SEASON, PASSED
from thalweg.kernels.tracker.past import newest

DISCOUNT = 0.9995
EVERY = 8
"""Rounds between two looks, after the first 512: sums of thousands of rounds hardly
change in one, and looking at them costs more than making them."""
LAGS = np.arange(1.0, LONGEST_SEASON + 1)


@inner_function
def learn_season(clock, past_y, unlike, per_count, y):
    """Learn from the label ``y`` of round t, and set the season of round t + 1."""
    t = int(clock[PASSED])
    start = newest(clock)
    for i in range(0, min(t, LONGEST_SEASON), WIDTH):
        step, apart = y - load(past_y, start + i), load(unlike, i)
        learnt = fused(apart, DISCOUNT, step * step)
        store(unlike, i, above(load(LAGS, i), float(t), apart, learnt))
    if t <= LONGEST_SEASON or t % EVERY == 0:
        _find_season(clock, unlike, per_count, start, min(t // 2, LONGEST_SEASON))


@inline_function
def _find_season(clock, unlike, per_count, start, half):
    """Among the first ``half`` lags: two seasons must have been seen."""
    total, least = 0.0, 1.0
    clock[LAG] = 1
    for i in range(0, half, WIDTH):
        lag = load(LAGS, i)
        here = above(
            lag, float(half), 0.0, load(unlike, i) * load(per_count, start + i)
        )
        so_far = running(here)
        # Seldom is any lag of the eight the best so far: then it is found one by one.
        if any_above(
            above(lag, float(half), 0.0, least * (total + so_far)), here * lag
        ):
            least = _best_of_eight(clock, unlike, per_count, start, i, total, least)
        total += last(so_far)


@inline_function
def _best_of_eight(clock, unlike, per_count, start, first, total, least):
    half = min(int(clock[PASSED]) // 2, LONGEST_SEASON)
    for i in range(first, min(first + WIDTH, half)):
        here = unlike[i] * per_count[start + i]
        total += here
        if here * (i + 1) < least * total:
            least = here * (i + 1) / total
            clock[LAG] = i + 1
    return least


@inner_function
def count(clock, per_count, learnt):
    """After ``push``: the divisor of lag 1 in the coming round.

    A round that was not learnt from added no term.
    """
    if learnt:
        clock[COUNTED] = DISCOUNT * clock[COUNTED] + 1
    place = newest(clock)
    per_count[place] = 1 / clock[COUNTED]
    per_count[place + LONGEST_SEASON] = 1 / clock[COUNTED]


@inner_function
def forget_season(clock, unlike, per_count):
    """Begin again. All lags then have as many terms, and their ratios need no divisor.

    A full count stands for it, which later ones come to as well.
    """
    clock[LAG], clock[COUNTED] = 1, 1 / (1 - DISCOUNT)
    unlike.fill(0.0)
    per_count.fill(1 - DISCOUNT)
