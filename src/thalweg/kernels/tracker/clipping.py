"""Limits of the experts' predictions: a wild one can cost a whole stream.

Predictions are clipped to the range of all labels so far, and about the last one, each
extended by a margin (``clip_limits``).

After an outlier, features that hold past labels are outliers too, for as many rounds as
they look back, and the experts have just learnt from it: their predictions may go
several times as far as the label went, to either side. So a label that jumps unforeseen
by more than ``JUMP_RATIO`` usual steps sets limits for the next rounds: until it comes
back, predictions may go as far again; once it is back, they stay near it
(``limit_after_jump``). In both cases predictions may follow a new level or return to
the old one: the experts decide which.
"""

import math

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.compiler.simd import (
    WIDTH,
    absolute,
    load,
    maximum,
    minimum,
    select_greater,
    store,
)
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.solve import MAX_FLOAT

RANGE_MARGIN = 0.5
"""Limit of predictions beyond all labels so far, in units of their range."""
STEP_MARGIN = 2.0
"""Limit of predictions' distance from the last label, in units of the largest step
between two labels so far."""
AGREED = 3 * layout.LANES // 4
"""Minimum number of shrunk experts beyond a limit for the limit to yield."""
MAX_USUAL_STEP = 0.5
"""Limit of the last step for limits to yield, in units of the largest step so far."""
AGREED_MARGIN = 2.0
"""Distance by which a limit may yield, in units of the range of all labels so far."""
JUMP_RATIO = 16.0
"""Minimum size of a jump, in units of the usual step."""
MIN_SURPRISE = 0.5
"""Minimum error of a forecast of a jump, in units of the jump, that was a surprise."""
LIMITED_ROUNDS = 4
"""Number of rounds in which a jump, and the return from it, set limits."""
RETURN_RATIO = 0.1
"""Limit of the distance to the label expected before the jump, in units of the jump, of
a label that has returned, and of predictions after it."""
USUAL_STEPS = 4.0
"""Margin of the limits after a jump, in usual steps for every round to predict."""
STEP_MEMORY = 256.0
"""Number of rounds that count in the size of a usual step."""
MIN_STEPS = 32
"""Minimum number of steps before the size of a usual step is known."""


@inner_function
def clip_limits(counters, labels, predictions, ordered):
    """Lower and upper limit of predictions: a single wild one can dominate the loss.

    They are the range of labels, extended by ``RANGE_MARGIN``, and in some rounds (by
    the counters) also the last label ± ``STEP_MARGIN`` steps. A limit that three
    quarters of the shrunk experts exceed yields to them, up to ``AGREED_MARGIN`` ranges
    of the labels, since the features then indicate a jump; but not if the last step was
    nearly the longest so far, as the experts may merely follow it. ``labels`` are the
    past ones, newest first; ``ordered`` (LANES,) is to work in.
    """
    last_y, last_step = labels[0], abs(labels[0] - labels[1])
    lowest, highest = counters[layout.LOWEST_LABEL], counters[layout.HIGHEST_LABEL]
    span = highest - lowest
    low, high = lowest - RANGE_MARGIN * span, highest + RANGE_MARGIN * span
    if counters[layout.STEP_LIMIT] > 0:
        step = STEP_MARGIN * counters[layout.MAX_LABEL_STEP]
        low, high = max(low, last_y - step), min(high, last_y + step)
    if last_step > MAX_USUAL_STEP * counters[layout.MAX_LABEL_STEP]:
        return low, high
    below, above = 0, 0
    for k in range(layout.LANES):
        below += 1 if predictions[k] < low else 0
        above += 1 if predictions[k] > high else 0
    if max(below, above) < AGREED:
        return low, high
    _sort(predictions, ordered)
    most = lowest - AGREED_MARGIN * span
    low = min(low, max(ordered[AGREED - 1], most))
    most = highest + AGREED_MARGIN * span
    return low, max(high, min(ordered[layout.LANES - AGREED], most))


@inner_function
def _sort(predictions, ordered):
    """Set ``ordered`` to the predictions of the shrunk experts, in ascending order."""
    for k in range(layout.LANES):
        value, place = predictions[k], k
        if not abs(value) < MAX_FLOAT:
            value = math.copysign(MAX_FLOAT, value)
        while place > 0 and ordered[place - 1] > value:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = value


@inner_function
def clip_predictions(low, high, predictions, last):
    """p ← min(high, max(low, p)) for all experts.

    An infinite p is replaced by the last label, the prediction of expert ``last``:
    there is nothing to be read from it, not even a sign.
    """
    last_y = predictions[last]
    for k in range(0, predictions.size, WIDTH):
        expected = load(predictions, k)
        expected = select_greater(MAX_FLOAT, absolute(expected), expected, last_y)
        store(predictions, k, minimum(high, maximum(low, expected)))


@inner_function
def update_label_range(counters, last_y, y):
    """Extend the range of labels and, after the first round, their largest step."""
    if counters[layout.ROUNDS] == 0:
        counters[layout.LOWEST_LABEL], counters[layout.HIGHEST_LABEL] = y, y
        return
    counters[layout.LOWEST_LABEL] = min(counters[layout.LOWEST_LABEL], y)
    counters[layout.HIGHEST_LABEL] = max(counters[layout.HIGHEST_LABEL], y)
    counters[layout.MAX_LABEL_STEP] = max(
        counters[layout.MAX_LABEL_STEP], abs(y - last_y)
    )


@inner_function
def limit_after_jump(counters, low, high):
    """Narrow the limits of predictions in the rounds after a jump of the label."""
    if counters[layout.JUMP_ROUNDS] == 0 or counters[layout.STEP_LIMIT] == 0:
        return low, high
    reach = RETURN_RATIO if counters[layout.JUMP_RETURNED] > 0 else 1.0
    usual = USUAL_STEPS * (1 + counters[layout.DELAY]) * counters[layout.ROOT_STEP] ** 2
    margin = max(reach * counters[layout.JUMP_SIZE], usual)
    low = max(low, counters[layout.JUMP_LOW] - margin)
    return low, min(high, counters[layout.JUMP_HIGH] + margin)


@inner_function
def update_jump(counters, last_y, y, forecast):
    """Let the limits after a jump know of a label, and of its step from the last one.

    The size of a usual step is the square of the mean of √|step|, on which an outlier
    has little influence.
    """
    step, error = abs(y - last_y), abs(y - forecast)
    usual = counters[layout.ROOT_STEP] ** 2
    if counters[layout.JUMP_ROUNDS] > 0:
        counters[layout.JUMP_ROUNDS] -= 1
        counters[layout.JUMP_LOW] = min(counters[layout.JUMP_LOW], y)
        counters[layout.JUMP_HIGH] = max(counters[layout.JUMP_HIGH], y)
        distance = abs(y - counters[layout.JUMP_ORIGIN])
        is_near = distance < RETURN_RATIO * counters[layout.JUMP_SIZE]
        if is_near and counters[layout.JUMP_RETURNED] == 0:
            counters[layout.JUMP_RETURNED], counters[layout.JUMP_ROUNDS] = (
                1.0,
                LIMITED_ROUNDS,
            )
            counters[layout.JUMP_LOW] = min(y, counters[layout.JUMP_ORIGIN])
            counters[layout.JUMP_HIGH] = max(y, counters[layout.JUMP_ORIGIN])
    elif (
        counters[layout.STEP_COUNT] >= MIN_STEPS
        and min(step, error / MIN_SURPRISE) > JUMP_RATIO * usual
    ):
        counters[layout.JUMP_RETURNED], counters[layout.JUMP_ROUNDS] = (
            0.0,
            LIMITED_ROUNDS,
        )
        counters[layout.JUMP_ORIGIN], counters[layout.JUMP_SIZE] = forecast, error
        counters[layout.JUMP_LOW], counters[layout.JUMP_HIGH] = (
            min(y, forecast),
            max(y, forecast),
        )
    counters[layout.STEP_COUNT] = min(counters[layout.STEP_COUNT] + 1, STEP_MEMORY)
    change = math.sqrt(step) - counters[layout.ROOT_STEP]
    counters[layout.ROOT_STEP] += change / counters[layout.STEP_COUNT]
