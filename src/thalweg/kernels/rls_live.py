"""Recursive least squares one call at a time, with all that it needs in one buffer.

Handing an argument from Python to compiled code costs more than a round of a small n,
so the buffer holds everything: ``RLSBuffer``. The round is that of rls.py. ``call`` is
for one target, a number; ``call_targets`` for k of them, arrays of length k.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels.call_header import (
    COUNT,
    HEADER_SIZE,
    REFUSAL,
    SETTINGS,
    copy_features,
    count_unexcited,
    finite_or_refusal,
    max_legal_value,
)
from thalweg.kernels.error_intervals import ERROR_WINDOW
from thalweg.kernels.jit import kernel
from thalweg.kernels.layout import Layout, Shape
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
