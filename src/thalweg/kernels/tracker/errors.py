"""The Tracker's own recent errors, and the interval they promise.

Each error is kept in units of ``scale``, the mean size of the errors known when its
forecast was made, so that calm and wild times can share one ring. Quantiles of the
ring, times the scale of now, are the ends of the interval.
"""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.tracker.layout import ERROR_COUNT, ERROR_SCALE, RECENT_ERRORS

MEMORY = 32.0
"""Rounds that count in the scale; coverage is measured in the benchmark."""
LARGEST_SCORE = 1e6
"""After a long calm the scale may be next to nothing."""


@inner_function
def learn_error(counters, recent_errors, error, scale):
    """Remember one error, y minus forecast, made when ``scale`` was that of errors.

    Where none was known then, the scale of now: late labels come in one by one.
    """
    seen = counters[ERROR_COUNT]
    if scale == 0:
        scale = counters[ERROR_SCALE]
    score = error / scale if scale > 0 else math.copysign(1.0, error)
    score = min(max(score, -LARGEST_SCORE), LARGEST_SCORE)
    place, count = int(seen) % RECENT_ERRORS, min(int(seen), RECENT_ERRORS)
    _replace(recent_errors[1], count, recent_errors[0, place], score)
    recent_errors[0, place] = score
    counters[ERROR_COUNT] = seen + 1
    counters[ERROR_SCALE] += (abs(error) - counters[ERROR_SCALE]) / min(
        seen + 1, MEMORY
    )


@inline_function
def _replace(ordered, count, old, new):
    """Put ``new`` into the ordered row, for ``old`` once the row is full."""
    hole = _place(ordered, count, old) if count == RECENT_ERRORS else count
    place = _place(ordered, count, new)
    for i in range(hole, place, -1):
        ordered[i] = ordered[i - 1]
    if place > hole:  # what left makes room below
        place -= 1
    for i in range(hole, place):
        ordered[i] = ordered[i + 1]
    ordered[place] = new


@inner_function
def _place(ordered, count, value):
    """How many of the first ``count`` are less; by halves, without a branch."""
    place, step = 0, RECENT_ERRORS
    while step > 0:
        after = min(place + step, count)
        place = after if ordered[max(after - 1, 0)] < value else place
        step //= 2
    return place


@inner_function
def interval_offsets(counters, recent_errors, level):
    """How far below and above the forecast y may lie, at this level; both finite."""
    count = min(int(counters[ERROR_COUNT]), RECENT_ERRORS)
    if count == 0:
        return 0.0, 0.0
    # The next error is as likely to fall into each of the count + 1 gaps.
    outside = math.floor((1 - level) / 2 * (count + 1))
    below = recent_errors[1, max(outside - 1, 0)]
    above = recent_errors[1, min(count - outside, count - 1)]
    return min(0.0, counters[ERROR_SCALE] * below), max(
        0.0, counters[ERROR_SCALE] * above
    )
