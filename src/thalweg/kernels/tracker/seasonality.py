"""Seasonality: the past rounds, and the season of the labels.

The season is the period of the labels, the lag at which they are most alike. It is
found by the normalised difference function of
the YIN pitch detector: with d_l the discounted mean of (y_t - y_{t-l})², the season is
the lag l with the lowest l·d_l / Σ_{m≤l} d_m, if that is below one; else 1, which means
no season. (The lowest d_l itself is nearly always that of l = 1 or 2.)
de Cheveigné & Kawahara (2002), J. Acoust. Soc. Am. 111(4), section II.C.

The number by which the sum of lag l is divided depends on t - l alone, the number of
its terms. So ``inverse_counts``, one over these numbers, moves down by one lag a round,
as the labels do, and is stored in the same way.
"""

import numpy as np

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import (
    WIDTH,
    any_greater,
    fma,
    last_lane,
    load,
    prefix_sum,
    select_greater,
    store,
)
from thalweg.kernels.tracker import tracker_layout as layout

SEASON_DISCOUNT = 0.9995
"""The forgetting factor of squared differences, per round."""
SEARCH_INTERVAL = 8
"""Rounds between two searches, after the first 512: sums of thousands of rounds hardly
change in one, and a search costs more than the update of the sums."""
LAGS = np.arange(1.0, layout.MAX_SEASON + 1)


@inline_function
def newest_label(counters):
    """The index of y_{t-1} in ``past_y``; that of y_{t-l} is l - 1 more."""
    return (
        layout.MAX_SEASON - int(counters[layout.PASSED_ROUNDS]) % layout.MAX_SEASON
    ) % layout.MAX_SEASON


@inline_function
def feature_row(counters, lag):
    """The row of x_{t-lag} in ``past_x``."""
    return (int(counters[layout.PASSED_ROUNDS]) - lag) % layout.MAX_SEASON


@inner_function
def push_round(counters, past_x, past_y, x, y):
    """Remember a round that has passed."""
    row = feature_row(counters, 0)
    for j in range(x.size):
        past_x[row, j] = x[j]
    counters[layout.PASSED_ROUNDS] += 1
    # The label is written twice, half the array apart, so that the last labels are
    # always one contiguous stretch that starts in the first half.
    place = newest_label(counters)
    past_y[place] = y
    past_y[place + layout.MAX_SEASON] = y


@inner_function
def update_season(counters, past_y, season_differences, inverse_counts, y):
    """Learn from the label ``y`` of round t, and set the season of round t + 1.

    For every lag l ≤ min(t, MAX_SEASON): D_l ← 0.9995 D_l + (y - y_{t-l})².
    """
    t = int(counters[layout.PASSED_ROUNDS])
    start = newest_label(counters)
    for i in range(0, min(t, layout.MAX_SEASON), WIDTH):
        step, before = y - load(past_y, start + i), load(season_differences, i)
        updated = fma(before, SEASON_DISCOUNT, step * step)
        updated = select_greater(load(LAGS, i), float(t), before, updated)
        store(season_differences, i, updated)
    if t <= layout.MAX_SEASON or t % SEARCH_INTERVAL == 0:
        half = min(t // 2, layout.MAX_SEASON)
        _search_season(counters, season_differences, inverse_counts, start, half)


@inline_function
def _search_season(counters, season_differences, inverse_counts, start, half):
    """Set the season to the best of the first ``half`` lags: two must have been seen.

    The scalar formula is that of ``_search_vector``, from lag 1 on.
    """
    total, lowest = 0.0, 1.0
    counters[layout.SEASON] = 1
    for i in range(0, half, WIDTH):
        lag = load(LAGS, i)
        mean = load(season_differences, i) * load(inverse_counts, start + i)
        here = select_greater(lag, float(half), 0.0, mean)
        so_far = prefix_sum(here)
        # The eight lags are searched one by one only if the best so far is among them.
        limit = select_greater(lag, float(half), 0.0, lowest * (total + so_far))
        if any_greater(limit, here * lag):
            lowest = _search_vector(
                counters, season_differences, inverse_counts, start, i, total, lowest
            )
        total += last_lane(so_far)


@inline_function
def _search_vector(
    counters, season_differences, inverse_counts, start, first, total, lowest
):
    """Search eight lags one by one; returns the lowest normalised difference so far."""
    half = min(int(counters[layout.PASSED_ROUNDS]) // 2, layout.MAX_SEASON)
    for i in range(first, min(first + WIDTH, half)):
        here = season_differences[i] * inverse_counts[start + i]
        total += here
        if here * (i + 1) < lowest * total:
            lowest = here * (i + 1) / total
            counters[layout.SEASON] = i + 1
    return lowest


@inner_function
def push_inverse_count(counters, inverse_counts, is_learnt):
    """Store one over the number of differences of lag 1 in the coming round.

    Call it after ``push_round``. A round that was not learnt added no difference.
    """
    if is_learnt:
        counters[layout.DIFFERENCE_COUNT] = (
            SEASON_DISCOUNT * counters[layout.DIFFERENCE_COUNT] + 1
        )
    place = newest_label(counters)
    inverse = 1 / counters[layout.DIFFERENCE_COUNT]
    inverse_counts[place] = inverse
    inverse_counts[place + layout.MAX_SEASON] = inverse


@inner_function
def reset_season(counters, season_differences, inverse_counts):
    """Forget all differences. Then all lags have the same number of terms.

    Their ratios do not depend on that number. It is set to the number of terms after
    infinitely many rounds, to which later numbers converge.
    """
    counters[layout.SEASON], counters[layout.DIFFERENCE_COUNT] = (
        1,
        1 / (1 - SEASON_DISCOUNT),
    )
    season_differences.fill(0.0)
    inverse_counts.fill(1 - SEASON_DISCOUNT)
