"""Online gradient descent with falling steps: the inner loop of learners/ogd.py."""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.gradient import gradient_round, point_gradient_round


@kernel(ieee_division=True, nogil=True)
def ogd(theta, rounds, step_size, formula, domain, data, trace):
    """Play the rounds, updating ``theta`` in place, after ``rounds`` before them.

    The step size is step_size/√t. Shapes, formula, domain, data and trace as in
    kernels/ader.py, the trace without log weights.
    """
    x, y, weight = data
    out, loss, played = trace
    (is_point, code, shape), (radius, low, high) = formula, domain
    step = np.empty_like(theta)
    for t in range(len(out)):
        for i in range(theta.size if len(played) else 0):
            played[t, i] = theta[i]
        w = weight[t] if len(weight) else 1.0
        inverse_step_size = math.sqrt(rounds + t + 1) / step_size
        if is_point:
            for i in range(theta.size):
                out[t, i] = theta[i]
            loss[t] = point_gradient_round(
                theta, inverse_step_size, radius, low, high, y, t, w, step
            )
        else:
            out[t, 0], loss[t] = gradient_round(
                theta, inverse_step_size, code, shape, radius, low, high,
                x, t, y[t, 0], w, step,
            )  # fmt: skip
