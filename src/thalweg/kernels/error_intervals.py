"""Prediction intervals from the last errors of a model, whatever it is.

Also known as: split-conformal intervals with normalised residuals on a sliding window.
The Tracker's intervals (kernels/tracker/prediction_interval.py) have the same rule and
constants; but they are updated in every round, where these are computed when somebody
asks for them: a model only stores its last ``ERROR_WINDOW`` errors. An interval is a
function of these alone, so that it has the same bits however a stream was cut.

Each error is measured in units of the scale, the size of those before it: the
geometric mean of two running means of |error|, a quick one and a slow one, from the
oldest error of the window on. The ends of the interval are quantiles of these scores,
times the scale now. The oldest sixteenth of the errors only starts the means.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import inner_function, kernel
from thalweg.kernels.tracker.prediction_interval import (
    MAX_SCORE,
    QUICK_SCALE_MEMORY,
    SCALE_MEMORY,
)

ERROR_WINDOW = 512
"""Number of errors stored; 1,024 gave an interval score 0.3 % lower."""
WARM_UP_SHARE = 16
"""Inverse share of the errors, the first ones, that only start the means. With those,
whose scale is the mean of one or two errors, intervals were 1.5 % wider."""


@kernel(ieee_division=True, nogil=True)
def interval_offsets(errors, known, coverage, offsets):
    """Offsets of the interval's ends from each prediction, at this coverage.

    Shapes: errors (E, k), oldest first; known (T,), the number of errors known before
    each round, never falling; offsets (T, k, 2), to be filled in: ≤ 0 and ≥ 0, minus
    infinity and infinity before any error is known.
    """
    scores = np.empty(ERROR_WINDOW)
    for t in range(len(known)):
        for j in range(errors.shape[1]):
            if t > 0 and known[t] == known[t - 1]:
                low, high = offsets[t - 1, j, 0], offsets[t - 1, j, 1]
            else:
                low, high = _offsets(errors, known[t], j, coverage, scores)
            offsets[t, j, 0], offsets[t, j, 1] = low, high


@inner_function
def _offsets(errors, known, target, coverage, scores):
    """The offsets of one target after ``known`` errors; ``scores`` is to work in."""
    first = max(known - ERROR_WINDOW, 0)
    count = known - first
    if count == 0:
        return -math.inf, math.inf
    scale = _set_scores(errors, first, count, target, scores)
    start = count // WARM_UP_SHARE
    count -= start
    # The next error is as likely to fall into each of the count + 1 gaps.
    outside = math.floor((1 - coverage) / 2 * (count + 1))
    below = _select(scores, start, count, max(outside - 1, 0))
    above = _select(scores, start, count, min(count - outside, count - 1))
    return min(0.0, scale * below), max(0.0, scale * above)


@inner_function
def _set_scores(errors, first, count, target, scores):
    """Each error in units of the scale before it; returns the scale after the last."""
    quick, slow, scale = 0.0, 0.0, 0.0
    for i in range(count):
        error = errors[first + i, target]
        size = abs(error)
        score = min(size / scale, MAX_SCORE) if scale > 0 else 1.0
        scores[i] = math.copysign(score, error) if size > 0 else 0.0
        quick += (size - quick) / min(i + 1, QUICK_SCALE_MEMORY)
        slow += (size - slow) / min(i + 1, SCALE_MEMORY)
        # The root of each, as the product of both may be beyond float64.
        scale = math.sqrt(quick) * math.sqrt(slow)
    return scale


@inner_function
def _select(values, start, count, rank):
    """The value of this rank, 0 for the least, of ``count`` from ``start`` on.

    They are put in another order meanwhile (Hoare's quickselect).
    """
    low, high, place = start, start + count - 1, start + rank
    while low < high:
        pivot, i, j = values[(low + high) // 2], low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return values[place]
