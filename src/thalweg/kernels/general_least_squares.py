"""Least squares on several rows a round: see learners/general_least_squares.py.

A round forgets once and then makes a Bierman update for each row of A_t. Together they
are P_t = γP_{t-1} + A_tᵀA_t and θ_{t+1} = θ_t - P_t⁻¹A_tᵀ(A_tθ_t - y_t), since least
squares do not depend on the order of the rows.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.ud_factor import (
    bierman_update,
    clip,
    drop_all_overflow,
    forget,
    max_coefficient,
)
from thalweg.kernels.windup import cap_covariance


@kernel(ieee_division=True, nogil=True)
def general_least_squares(
    theta, factor, gamma, x, y, weight, elapsed, out, loss, played
):
    """Play the rounds (x, y), updating ``theta`` and ``factor`` in place.

    Shapes: theta (n,), factor (n+3, n), x (T, m, n), y (T, m), weight and elapsed (T,)
    or empty for all ones, out (T, m), loss (T,), played (T, n) or empty. All of one
    dtype and C-contiguous; the caller has checked them.
    """
    n = theta.size
    v, gain = np.empty(n, theta.dtype), np.empty(n, theta.dtype)
    limit = theta.dtype.type(max_coefficient(np.finfo(theta.dtype).max))
    for t in range(len(y)):
        for i in range(n if len(played) else 0):
            played[t, i] = theta[i]
        root = theta.dtype.type(math.sqrt(weight[t]) if len(weight) else 1.0)
        predict_rows(x[t], theta, out[t])
        loss[t] = 0
        for h in range(y.shape[1]):
            error = clip(root * (y[t, h] - out[t, h]), limit)
            loss[t] += theta.dtype.type(0.5) * error * error
        forget(factor, theta.dtype.type(gamma ** elapsed[t] if len(elapsed) else gamma))
        for h in range(y.shape[1]):
            _learn_row(theta, factor, root, x[t, h], y[t, h], v, gain, limit)
        cap_covariance(factor, gain, v)
    drop_all_overflow(factor)


@kernel
def predict_rows(x, theta, out):
    """x·θ for each row of x; shapes x (m, n), theta (n,), out (m,)."""
    for h in range(out.size):
        p = theta.dtype.type(0)
        for i in range(theta.size):
            p += x[h, i] * theta[i]
        out[h] = p


@kernel(ieee_division=True)
def _learn_row(theta, factor, root, x, y, v, gain, limit):
    """One row of a round, whose forgetting has been done: θ ← θ + P⁻¹x w(y - x·θ)."""
    p = theta.dtype.type(0)
    for i in range(theta.size):
        v[i] = root * x[i]
        p += x[i] * theta[i]
    inverse_alpha = bierman_update(factor, v, gain, factor.dtype.type(1))
    innovation = clip(root * (y - p), np.finfo(theta.dtype).max)
    step = theta.dtype.type(inverse_alpha * innovation)
    for i in range(theta.size):
        theta[i] = clip(theta[i] + gain[i] * step, limit)
