"""The logistic Tracker one call at a time, with all that it needs in one buffer.

As in rls_live.py, the buffer holds everything: ``LogisticBuffer``. The round is that of
logistic_tracker.py.
"""

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
from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.layout import Layout, Shape
from thalweg.kernels.logistic_tracker import (
    mix_predictions,
    move_experts,
    standardise,
    update_scale,
    update_weights,
)
from thalweg.kernels.losses import logit, sigmoid
from thalweg.kernels.ud_factor import EXTRA_ROWS

CERTAINTY, NEWTON_EXPERTS, GRADIENT_EXPERTS, PROBABILITY = range(SETTINGS, SETTINGS + 4)
"""Entries of the header: the smallest probability, the numbers of experts, and the
probability of the round learnt last."""


class LogisticBuffer(NamedTuple):
    """The fields of the buffer; N Newton experts and G that take gradient steps."""

    header: Annotated[np.ndarray, Shape(HEADER_SIZE)]  # kernels/call_header.py
    x: Annotated[np.ndarray, Shape(1, "n")]
    z: Annotated[np.ndarray, Shape("n + 1")]  # x standardised, then a constant 1
    v: Annotated[np.ndarray, Shape("n + 1")]  # √(weight · curvature) z
    gain: Annotated[np.ndarray, Shape("n + 1")]
    scores: Annotated[np.ndarray, Shape("N + G")]  # the experts' log-odds
    expert_predictions: Annotated[np.ndarray, Shape("N + G")]
    gamma: Annotated[np.ndarray, Shape("N")]  # forgetting factors
    rate: Annotated[np.ndarray, Shape("G")]  # step sizes
    points: Annotated[np.ndarray, Shape("N + G", "n + 1")]
    factors: Annotated[np.ndarray, Shape("N", f"n + {1 + EXTRA_ROWS}", "n + 1")]
    weights: Annotated[np.ndarray, Shape("N + G")]
    scale: Annotated[np.ndarray, Shape(3, "n")]
    unexcited_rounds: Annotated[np.ndarray, Shape("n")]  # since a feature was not zero


LAYOUT = Layout(
    "live logistic buffer", LogisticBuffer, version=1, dimensions=("n", "N", "G")
)
_unpack = LAYOUT.unpack


@kernel(ieee_division=True)
def call(buffer, x, y, weight, elapsed, learning):
    """The probability of the label 1 at x; then, if ``learning``, learn the label y.

    Returns ``REFUSAL``, and changes nothing, if a number is not legal, y is not in
    [0, 1] or ``buffer`` is closed.
    """
    max_value = max_legal_value(buffer, weight, elapsed)
    n = copy_features(buffer, x, max_value) if 0 <= y <= 1 and y <= max_value else -1
    if n < 0:
        return REFUSAL
    newton, gradient = int(buffer[NEWTON_EXPERTS]), int(buffer[GRADIENT_EXPERTS])
    fields = _unpack(buffer, 0, n, newton, gradient)
    scale, weights, z = fields.scale, fields.weights, fields.z
    scores, expert_predictions = fields.scores, fields.expert_predictions
    standardise(scale, fields.x, 0, z)
    probability = mix_predictions(
        fields.points, weights, buffer[CERTAINTY], z, scores, expert_predictions
    )
    # The way through the log-odds, the learner's prediction, gives the same bits.
    probability = finite_or_refusal(sigmoid(logit(probability)))
    if learning and probability == probability:  # else it is a REFUSAL
        count_unexcited(fields.x[0], fields.unexcited_rounds)
        update_scale(scale, fields.x, 0)
        update_weights(weights, expert_predictions, y, weight, scale[0, 0])
        move_experts(
            fields.points, fields.factors, fields.gamma, fields.rate, z, scores,
            y, weight, elapsed, fields.v, fields.gain,
        )  # fmt: skip
        buffer[PROBABILITY] = probability
        buffer[COUNT] += 1
    return probability
