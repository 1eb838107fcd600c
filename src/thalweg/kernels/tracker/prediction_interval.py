"""Prediction intervals from quantiles of the Tracker's own recent errors.

Also known as: split-conformal intervals with normalised residuals on a sliding window
of the last 512 rounds. Errors of a drifting stream are not exchangeable, so coverage is
measured (benchmarks/accuracy), not guaranteed.

Each error is stored in units of the scale, the size of the errors known when its
forecast was made, so that calm and turbulent times can share one window. Quantiles of
the window, times the present scale, are the ends of the interval. Before any error is
known they are infinite.

The scale is the geometric mean of two running means of |error|, a quick one and a slow
one: the quick one sees at once that a storm begins, the slow one is less noisy.

Where labels are d rounds late, forecasts of neighbours lack the same labels, and their
errors may be alike: of a random walk, 512 in a row tell as much as 512/(d + 1). Hence,
once the window is full, only every (1 + d // 8)th error enters it (its stride), so that
it reaches back further, and quantiles are taken further out, as those of fewer errors:
1 + d/2 in a row count as one. In a window that is not full yet, that was far too wide
where late errors are not alike. The quick mean, which would be out of date before it is
used, is the slower the later labels are. To make the slow mean slower, too, gave
narrower intervals on random walks, but on data worse coverage in the worst 500 rounds.
"""

import math

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import WIDTH, load, store
from thalweg.kernels.tracker import tracker_layout as layout

SCALE_MEMORY = 32.0
"""Number of rounds in the slow mean; chosen by the coverage in the benchmark."""
QUICK_SCALE_MEMORY = 8.0
"""Number of rounds in the quick mean, times 1 + delay, but at most that of the slow
mean; chosen by the interval score there."""
OVERLAP = 8
"""Number of rounds of delay that increase the stride of the window by one; chosen by
the coverage of late labels."""
MAX_SCORE = 1e6
"""Upper limit of an error in units of the scale, which may be tiny after a calm."""


@inner_function
def learn_error(counters, recent_errors, error, scale):
    """Remember one error, y minus forecast; ``scale`` is that of when it was forecast.

    If no error was known then, as where labels are late, the present scale is used.
    """
    seen, delay = int(counters[layout.ERROR_COUNT]), int(counters[layout.DELAY])
    if scale == 0:
        scale = counters[layout.ERROR_SCALE]
    place, count = _window_place(seen, delay), min(seen, layout.RECENT_ERRORS)
    if place >= 0:
        score = error / scale if scale > 0 else math.copysign(1.0, error)
        score = min(max(score, -MAX_SCORE), MAX_SCORE)
        _replace_sorted(recent_errors[1], count, recent_errors[0, place], score)
        recent_errors[0, place] = score
    counters[layout.ERROR_COUNT] = seen + 1
    _update_scale(counters, abs(error), seen + 1, delay)


@inline_function
def _window_place(seen, delay):
    """Where the next error goes in the window, after ``seen`` others; -1: nowhere."""
    if seen < layout.RECENT_ERRORS:
        return seen
    stride = 1 + delay // OVERLAP
    later = seen - layout.RECENT_ERRORS
    return later // stride % layout.RECENT_ERRORS if later % stride == 0 else -1


@inline_function
def _update_scale(counters, size, count, delay):
    """Update both means and the scale by the size of the last of ``count`` errors."""
    quick, slow = counters[layout.QUICK_ERROR_MEAN], counters[layout.SLOW_ERROR_MEAN]
    memory = min(QUICK_SCALE_MEMORY * (1 + delay), SCALE_MEMORY)
    quick += (size - quick) / min(count, memory)
    slow += (size - slow) / min(count, SCALE_MEMORY)
    counters[layout.QUICK_ERROR_MEAN], counters[layout.SLOW_ERROR_MEAN] = quick, slow
    # The root of each, as the product of both may be beyond float64.
    counters[layout.ERROR_SCALE] = math.sqrt(quick) * math.sqrt(slow)


@inline_function
def _replace_sorted(ordered, count, old, new):
    """Put ``new`` into the sorted row, in place of ``old`` once the row is full."""
    hole = _rank(ordered, count, old) if count == layout.RECENT_ERRORS else count
    place = _rank(ordered, count, new)
    if place > hole:  # the numbers between move down into the hole
        place -= 1
        _move_down(ordered, hole, place)
    else:
        _move_up(ordered, hole, place)
    ordered[place] = new


@inline_function
def _move_down(ordered, hole, place):
    """Move the numbers behind the hole, up to ``place``, down by one, eight at once."""
    while hole + WIDTH <= place:
        store(ordered, hole, load(ordered, hole + 1))
        hole += WIDTH
    for i in range(hole, place):
        ordered[i] = ordered[i + 1]


@inline_function
def _move_up(ordered, hole, place):
    """Move the numbers before the hole, down to ``place``, up by one; as above."""
    while hole - WIDTH >= place:
        hole -= WIDTH
        store(ordered, hole + 1, load(ordered, hole))
    for i in range(hole, place, -1):
        ordered[i] = ordered[i - 1]


@inner_function
def _rank(ordered, count, value):
    """How many of the first ``count`` are less: a binary search without branches."""
    place, step = 0, layout.RECENT_ERRORS
    while step > 0:
        after = min(place + step, count)
        place = after if ordered[max(after - 1, 0)] < value else place
        step //= 2
    return place


@inline_function
def _alike_errors(seen, delay):
    """How many errors of the window count as one, r ≥ 1, after ``seen`` errors.

    A full window reaches back over all of them, or over as many strides as it holds.
    """
    if seen < layout.RECENT_ERRORS:
        return 1.0
    reach = min(seen, layout.RECENT_ERRORS * (1 + delay // OVERLAP))
    return max(layout.RECENT_ERRORS * (1 + delay / 2) / reach, 1.0)


@inner_function
def interval_offsets(counters, recent_errors, coverage):
    """How far below and above the forecast y may lie, at this coverage.

    Minus infinity and infinity before any error is known.
    """
    seen, delay = int(counters[layout.ERROR_COUNT]), int(counters[layout.DELAY])
    count, share = min(seen, layout.RECENT_ERRORS), (1 - coverage) / 2
    if count == 0:
        return -math.inf, math.inf
    # The next error is as likely to fall into each of the count + 1 gaps. Where r
    # errors count as one, only share - (1/2 - share) r/count may be outside.
    excess = _alike_errors(seen, delay) - 1
    outside = math.floor(share * (count + 1) - (0.5 - share) * excess)
    below = recent_errors[1, max(outside - 1, 0)]
    above = recent_errors[1, min(count - outside, count - 1)]
    scale = counters[layout.ERROR_SCALE]
    return min(0.0, scale * below), max(0.0, scale * above)
