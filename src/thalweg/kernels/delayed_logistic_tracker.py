"""The logistic Tracker where labels come late: one row is predicted, another learnt."""

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.logistic_tracker import (
    mix_predictions,
    move_experts,
    standardise,
    update_scale,
    update_weights,
)


@kernel(ieee_division=True, nogil=True)
def delayed_logistic_tracker(
    theta, factor, weights, scale, gamma, rate, certainty, x, due_x, due_y, is_due,
    elapsed, out,
):  # fmt: skip
    """In each round predict the row x[t], then learn the row due_x[t] if one is due.

    Where every row is due at once this is ``logistic_tracker``, to the last bit.
    Shapes: as there; x and due_x (T, n), due_y, is_due (1: a row is due) and elapsed
    (T,), out (T,): the probability of the label 1 of each row of x.
    """
    experts, size = theta.shape
    z, v, gain = np.empty(size), np.empty(size), np.empty(size)
    scores, expert_predictions = np.empty(experts), np.empty(experts)
    for t in range(len(x)):
        standardise(scale, x, t, z)
        out[t] = mix_predictions(
            theta, weights, certainty, z, scores, expert_predictions
        )
        if is_due[t] == 0:
            continue
        standardise(scale, due_x, t, z)
        mix_predictions(theta, weights, certainty, z, scores, expert_predictions)
        update_scale(scale, due_x, t)
        update_weights(weights, expert_predictions, due_y[t], 1.0, scale[0, 0])
        move_experts(
            theta, factor, gamma, rate, z, scores, due_y[t], 1.0, elapsed[t], v, gain
        )
