"""Recursive least squares one call at a time, with all that it needs in one buffer.

Handing an argument from Python to compiled code costs more than a round of a small n,
so the buffer holds everything: ``RLSBuffer``. The round is that of rls.py. ``call`` is
for one target, a number; ``call_targets`` for k of them, arrays of length k.

Where thousands of models have rows, a call for each row costs more than the rounds:
``learn_rows`` and ``gather_states`` take many buffers at once, by their addresses.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels.call_header import (
    COUNT,
    HEADER_SIZE,
    REFUSAL,
    SETTINGS,
    N,
    copy_features,
    count_unexcited,
    finite_or_refusal,
    max_legal_value,
)
from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.layout import Layout, Shape, array_at
from thalweg.kernels.error_intervals import ERROR_WINDOW
from thalweg.kernels.rls import predict_targets, rls_round
from thalweg.kernels.ud_factor import EXTRA_ROWS
from thalweg.kernels.windup import restore_ridge

GAMMA, FLOOR, LEAKY, TARGETS, ERROR_COUNT = range(SETTINGS, SETTINGS + 5)
"""Entries of the header: forgetting factor, retained ridge, whether RLS is leaky, the
number of targets, and how many errors were stored."""


class RLSBuffer(NamedTuple):
    """The fields of the buffer."""

    header: Annotated[np.ndarray, Shape(HEADER_SIZE)]  # kernels/call_header.py
    x: Annotated[np.ndarray, Shape(1, "n")]
    y: Annotated[np.ndarray, Shape(1, "k")]
    prediction: Annotated[np.ndarray, Shape(1, "k")]
    v: Annotated[np.ndarray, Shape("n")]  # √w x
    gain: Annotated[np.ndarray, Shape("n")]
    theta: Annotated[np.ndarray, Shape("n", "k")]
    factor: Annotated[np.ndarray, Shape(f"n + {EXTRA_ROWS}", "n")]
    unexcited_rounds: Annotated[np.ndarray, Shape("n")]  # since a feature was not zero
    # The last errors, y minus prediction: a ring, for kernels/error_intervals.py.
    errors: Annotated[np.ndarray, Shape(ERROR_WINDOW, "k")]


LAYOUT = Layout("live RLS buffer", RLSBuffer, version=3, dimensions=("n", "k"))
_unpack, _offsets = LAYOUT.unpack, LAYOUT.kernel_offsets


@kernel(ieee_division=True)
def call(buffer, x, y, weight, elapsed, learning):
    """The prediction of y at x; then, if ``learning``, learn the round.

    Returns ``REFUSAL``, and changes nothing, if a number is not legal or ``buffer`` is
    closed.
    """
    max_value = max_legal_value(buffer, weight, elapsed)
    n = copy_features(buffer, x, max_value) if abs(y) <= max_value else -1
    if n < 0:
        return REFUSAL
    if learning:
        fields = _unpack(buffer, 0, n, 1)
        fields.y[0, 0] = y
        return _learn(buffer, fields, weight, elapsed)
    # Offsets are used, as views would cost more than the sum, in ``rls_round``'s order.
    theta, prediction = _offsets(0, n, 1).theta, 0.0
    for i in range(n):
        prediction += buffer[HEADER_SIZE + i] * buffer[theta + i]
    return finite_or_refusal(prediction)


@kernel(ieee_division=True)
def call_targets(buffer, x, y, weight, elapsed, learning):
    """If ``learning``, learn the round of targets y, (k,); else predict them into y.

    Returns 0, or ``REFUSAL`` as ``call`` does: then y is not to be read.
    """
    max_value, targets = max_legal_value(buffer, weight, elapsed), int(buffer[TARGETS])
    if y.size != targets:
        return REFUSAL
    for j in range(targets if learning else 0):
        if not abs(y[j]) <= max_value:
            return REFUSAL
    n = copy_features(buffer, x, max_value)
    if n < 0:
        return REFUSAL
    fields = _unpack(buffer, 0, n, targets)
    if learning:
        for j in range(targets):
            fields.y[0, j] = y[j]
        prediction = _learn(buffer, fields, weight, elapsed)
        return 0.0 if prediction == prediction else REFUSAL
    predict_targets(fields.theta, fields.x, 0, fields.prediction, 0)
    status = 0.0
    for j in range(targets):
        y[j] = fields.prediction[0, j]
        status = status if abs(y[j]) < math.inf else REFUSAL
    return status


@kernel(ieee_division=True, inline=True)
def _learn(buffer, fields, weight, elapsed):
    """Learn the round; returns its prediction of the first target, or a refusal."""
    theta, factor, v, gain = fields.theta, fields.factor, fields.v, fields.gain
    count_unexcited(fields.x[0], fields.unexcited_rounds)
    gamma, floor, out = buffer[GAMMA], buffer[FLOOR], fields.prediction
    discount = gamma**elapsed if elapsed != 1 else gamma
    root = math.sqrt(weight)
    rls_round(theta, factor, discount, root, fields.x, fields.y, 0, out, 0, v, gain)
    if floor > 0:
        leaky = buffer[LEAKY] != 0
        restore_ridge(theta, factor, discount, gamma, floor, leaky, gain, v)
    buffer[COUNT] += 1
    prediction = out[0, 0]
    for j in range(theta.shape[1]):
        if not abs(out[0, j]) < math.inf:
            # θ was not finite. The update has limited it: it must not seem sound now.
            theta[0, j] = np.nan
            prediction = REFUSAL
    if weight > 0 and prediction == prediction:
        _store_errors(buffer, fields)
    return prediction


@kernel(inline=True)
def _store_errors(buffer, fields):
    place = int(buffer[ERROR_COUNT]) % ERROR_WINDOW
    for j in range(fields.y.shape[1]):
        fields.errors[place, j] = fields.y[0, j] - fields.prediction[0, j]
    buffer[ERROR_COUNT] += 1


@kernel(ieee_division=True)
def learn_rows(addresses, starts, rows, x, y, weight, elapsed, predictions, learnt):
    """Let many buffers of one target learn rows, each its own, one after the other.

    addresses              (K,) of the buffers
    starts                 (K + 1,) buffer k has rows[starts[k] : starts[k + 1]]
    rows                   (T,) indices of rows, those of a buffer in their order
    x, y, weight, elapsed  (T, n) and three times (T,): see ``call``
    predictions            (T,) becomes the predictions of the rows that were learnt
    learnt                 (K,) becomes how many each buffer has learnt: all, or those
                           before the first that it refuses
    """
    for k in range(addresses.size):
        buffer = _buffer_at(addresses[k])
        learnt[k] = 0
        for at in range(starts[k], starts[k + 1]):
            row = rows[at]
            prediction = call(buffer, x[row], y[row], weight[row], elapsed[row], True)
            if not prediction == prediction:
                break
            predictions[row] = prediction
            learnt[k] += 1


@kernel
def measure_states(addresses, features, errors, sizes):
    """What ``gather_states`` will write of each of K buffers.

    features    (K,) becomes n
    errors      (K,) becomes the number of errors
    sizes       (K,) becomes that of all numbers
    """
    for k in range(addresses.size):
        buffer = _buffer_at(addresses[k])
        at = _offsets(0, int(buffer[N]), 1)
        features[k], errors[k] = buffer[N], min(buffer[ERROR_COUNT], ERROR_WINDOW)
        sizes[k] = at.errors - at.theta + errors[k]


@kernel
def gather_states(addresses, starts, numbers, has_nan):
    """Write what later rounds need of many buffers of one target into one array.

    Of each: θ, factor, unexcited rounds, then the errors, oldest first.

    addresses    (K,) of the buffers
    starts       (K,) where in ``numbers`` those of each begin
    numbers      the array to write to
    has_nan      (K,) becomes whether one of them is NaN
    """
    for k in range(addresses.size):
        buffer, at = _buffer_at(addresses[k]), starts[k]
        n, count = int(buffer[N]), int(buffer[ERROR_COUNT])
        first, ring = _offsets(0, n, 1).theta, _offsets(0, n, 1).errors
        stored, oldest = min(count, ERROR_WINDOW), max(count - ERROR_WINDOW, 0)
        is_number = True
        for i in range(first, ring):
            numbers[at] = buffer[i]
            is_number &= buffer[i] == buffer[i]
            at += 1
        for i in range(oldest, oldest + stored):
            error = buffer[ring + i % ERROR_WINDOW]
            numbers[at] = error
            is_number &= error == error
            at += 1
        has_nan[k] = not is_number


@kernel
def _buffer_at(address):
    """The buffer at an address; its own header says how large it is."""
    n = int(array_at(address, HEADER_SIZE)[N])
    return array_at(address, _offsets(0, n, 1).errors + ERROR_WINDOW)
