"""Prediction intervals from quantiles of the Tracker's own recent errors.

Also known as: split-conformal intervals with normalised residuals on a sliding window
of the last 512 rounds. Errors of a drifting stream are not exchangeable, so coverage is
measured (benchmarks/tracker_accuracy.py), not guaranteed.

Each error is stored in units of the scale, the mean size of the errors known when its
forecast was made, so that calm and turbulent times can share one window. Quantiles of
the window, times the present scale, are the ends of the interval.
"""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.tracker.tracker_layout import (
    ERROR_COUNT,
    ERROR_SCALE,
    RECENT_ERRORS,
)

SCALE_MEMORY = 32.0
"""Rounds that count in the scale; chosen by the coverage in the benchmark."""
MAX_SCORE = 1e6
"""Upper limit of an error in units of the scale, which may be next to nothing after a
long calm."""


@inner_function
def learn_error(counters, recent_errors, error, scale):
    """Remember one error, y minus forecast; ``scale`` is that of when it was forecast.

    If no error was known then, as where labels are late, the present scale is used.
    """
    seen = counters[ERROR_COUNT]
    if scale == 0:
        scale = counters[ERROR_SCALE]
    score = error / scale if scale > 0 else math.copysign(1.0, error)
    score = min(max(score, -MAX_SCORE), MAX_SCORE)
    place, count = int(seen) % RECENT_ERRORS, min(int(seen), RECENT_ERRORS)
    _replace_sorted(recent_errors[1], count, recent_errors[0, place], score)
    recent_errors[0, place] = score
    counters[ERROR_COUNT] = seen + 1
    memory = min(seen + 1, SCALE_MEMORY)
    counters[ERROR_SCALE] += (abs(error) - counters[ERROR_SCALE]) / memory


@inline_function
def _replace_sorted(ordered, count, old, new):
    """Put ``new`` into the sorted row, in place of ``old`` once the row is full."""
    hole = _rank(ordered, count, old) if count == RECENT_ERRORS else count
    place = _rank(ordered, count, new)
    for i in range(hole, place, -1):
        ordered[i] = ordered[i - 1]
    if place > hole:  # the numbers between move down into the hole
        place -= 1
    for i in range(hole, place):
        ordered[i] = ordered[i + 1]
    ordered[place] = new


@inner_function
def _rank(ordered, count, value):
    """How many of the first ``count`` are less: a binary search without branches."""
    place, step = 0, RECENT_ERRORS
    while step > 0:
        after = min(place + step, count)
        place = after if ordered[max(after - 1, 0)] < value else place
        step //= 2
    return place


@inner_function
def interval_offsets(counters, recent_errors, coverage):
    """How far below and above the forecast y may lie, at this coverage; both finite."""
    count = min(int(counters[ERROR_COUNT]), RECENT_ERRORS)
    if count == 0:
        return 0.0, 0.0
    # The next error is as likely to fall into each of the count + 1 gaps.
    outside = math.floor((1 - coverage) / 2 * (count + 1))
    below = recent_errors[1, max(outside - 1, 0)]
    above = recent_errors[1, min(count - outside, count - 1)]
    scale = counters[ERROR_SCALE]
    return min(0.0, scale * below), max(0.0, scale * above)
