"""Limits of the experts' predictions: a wild one can cost a whole stream.

Predictions are clipped to the range of all labels so far, and about the last one, each
extended by a margin (``clip_limits``).

After an outlier, features that hold past labels are outliers too, for as many rounds as
they look back, and the experts have just learnt from it: their predictions may go
several times as far as the label went, to either side. So a label that jumps unforeseen
by more than ``JUMP_RATIO`` usual steps sets limits for the next rounds: until it comes
back, predictions may go as far again; once it is back, they stay where it is
(``limit_after_jump``). They may follow a new level, or return to the old one, in both
cases: which of them is right is for the experts to say.
"""

import math

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import (
    WIDTH,
    absolute,
    load,
    maximum,
    minimum,
    select_greater,
    store,
)
from thalweg.kernels.tracker.solve import MAX_FLOAT
from thalweg.kernels.tracker.tracker_layout import (
    DELAY,
    HIGHEST_LABEL,
    JUMP_HIGH,
    JUMP_LOW,
    JUMP_ORIGIN,
    JUMP_RETURNED,
    JUMP_ROUNDS,
    JUMP_SIZE,
    LANES,
    LOWEST_LABEL,
    MAX_LABEL_STEP,
    ROOT_STEP,
    ROUNDS,
    STEP_COUNT,
    STEP_LIMIT,
)

RANGE_MARGIN = 0.5
"""How far predictions may lie beyond all labels so far, in units of their range."""
STEP_MARGIN = 2.0
"""How far predictions may lie from the last label, in units of the largest step between
two labels so far."""
AGREED = 3 * LANES // 4
"""How many of the shrunk experts must go beyond a limit for it to yield."""
MAX_USUAL_STEP = 0.5
"""No limit yields after a last step of more than this part of the largest so far."""
AGREED_MARGIN = 2.0
"""How far a limit may yield, in units of the range of all labels so far."""
JUMP_RATIO = 16.0
"""A step of more than so many usual ones is a jump."""
MIN_SURPRISE = 0.5
"""The error of a forecast in units of the step from which on that was unforeseen."""
LIMITED_ROUNDS = 4
"""Rounds after a jump, and after the return from it, in which it sets limits."""
RETURN_RATIO = 0.1
"""A label nearer than this, in units of the jump, to where it was expected before has
returned; and how far predictions may go from there."""
USUAL_STEPS = 4.0
"""Margin of the limits after a jump, in usual steps for every round to predict."""
STEP_MEMORY = 256.0
"""Rounds that count in the size of a usual step."""
MIN_STEPS = 32
"""Steps after which it is known what is usual."""


@inner_function
def clip_limits(counters, labels, predictions, ordered):
    """Lower and upper limit of predictions: a wild one can cost a whole stream.

    They are the range of labels, extended by ``RANGE_MARGIN``, and where the counters
    say so those about the last label by ``STEP_MARGIN``. A limit that three quarters of
    the shrunk experts go beyond yields to them, up to ``AGREED_MARGIN`` ranges of the
    labels: then the features tell of a jump. Unless the last step was nearly as long as
    any: then they may do no more than follow it. ``labels`` are the past ones, newest
    first; ``ordered`` (LANES,) is to work in.
    """
    last_y, last_step = labels[0], abs(labels[0] - labels[1])
    lowest, highest = counters[LOWEST_LABEL], counters[HIGHEST_LABEL]
    span = highest - lowest
    low, high = lowest - RANGE_MARGIN * span, highest + RANGE_MARGIN * span
    if counters[STEP_LIMIT] > 0:
        step = STEP_MARGIN * counters[MAX_LABEL_STEP]
        low, high = max(low, last_y - step), min(high, last_y + step)
    if last_step > MAX_USUAL_STEP * counters[MAX_LABEL_STEP]:
        return low, high
    below, above = 0, 0
    for k in range(LANES):
        below += 1 if predictions[k] < low else 0
        above += 1 if predictions[k] > high else 0
    if max(below, above) < AGREED:
        return low, high
    _sort(predictions, ordered)
    most = lowest - AGREED_MARGIN * span
    low = min(low, max(ordered[AGREED - 1], most))
    most = highest + AGREED_MARGIN * span
    return low, max(high, min(ordered[LANES - AGREED], most))


@inner_function
def _sort(predictions, ordered):
    """Set ``ordered`` to the predictions of the shrunk experts, in ascending order."""
    for k in range(LANES):
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
    if counters[ROUNDS] == 0:
        counters[LOWEST_LABEL], counters[HIGHEST_LABEL] = y, y
        return
    counters[LOWEST_LABEL] = min(counters[LOWEST_LABEL], y)
    counters[HIGHEST_LABEL] = max(counters[HIGHEST_LABEL], y)
    counters[MAX_LABEL_STEP] = max(counters[MAX_LABEL_STEP], abs(y - last_y))


@inner_function
def limit_after_jump(counters, low, high):
    """Narrow the limits of predictions in the rounds after a jump of the label."""
    if counters[JUMP_ROUNDS] == 0 or counters[STEP_LIMIT] == 0:
        return low, high
    reach = RETURN_RATIO if counters[JUMP_RETURNED] > 0 else 1.0
    usual = USUAL_STEPS * (1 + counters[DELAY]) * counters[ROOT_STEP] ** 2
    margin = max(reach * counters[JUMP_SIZE], usual)
    low = max(low, counters[JUMP_LOW] - margin)
    return low, min(high, counters[JUMP_HIGH] + margin)


@inner_function
def update_jump(counters, last_y, y, forecast):
    """Let the limits after a jump know of a label, and of its step from the last one.

    The size of a usual step is the square of the mean of √|step|, on which an outlier
    has little influence.
    """
    step, error = abs(y - last_y), abs(y - forecast)
    usual = counters[ROOT_STEP] ** 2
    if counters[JUMP_ROUNDS] > 0:
        counters[JUMP_ROUNDS] -= 1
        counters[JUMP_LOW] = min(counters[JUMP_LOW], y)
        counters[JUMP_HIGH] = max(counters[JUMP_HIGH], y)
        distance = abs(y - counters[JUMP_ORIGIN])
        is_near = distance < RETURN_RATIO * counters[JUMP_SIZE]
        if is_near and counters[JUMP_RETURNED] == 0:
            counters[JUMP_RETURNED], counters[JUMP_ROUNDS] = 1.0, LIMITED_ROUNDS
            counters[JUMP_LOW] = min(y, counters[JUMP_ORIGIN])
            counters[JUMP_HIGH] = max(y, counters[JUMP_ORIGIN])
    elif (
        counters[STEP_COUNT] >= MIN_STEPS
        and min(step, error / MIN_SURPRISE) > JUMP_RATIO * usual
    ):
        counters[JUMP_RETURNED], counters[JUMP_ROUNDS] = 0.0, LIMITED_ROUNDS
        counters[JUMP_ORIGIN], counters[JUMP_SIZE] = forecast, error
        counters[JUMP_LOW], counters[JUMP_HIGH] = min(y, forecast), max(y, forecast)
    counters[STEP_COUNT] = min(counters[STEP_COUNT] + 1, STEP_MEMORY)
    change = math.sqrt(step) - counters[ROOT_STEP]
    counters[ROOT_STEP] += change / counters[STEP_COUNT]
