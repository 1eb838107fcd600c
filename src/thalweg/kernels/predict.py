"""Sums in the kernels' own order, so that single calls agree with runs bit by bit."""

import math

from numba import njit


@njit(cache=True)
def dot(x, theta, out):
    """x·θ for every target; shapes x (n,), theta (n, k), out (k,)."""
    for j in range(theta.shape[1]):
        p = theta.dtype.type(0)
        for i in range(x.size):
            p += x[i] * theta[i, j]
        out[j] = p


@njit(cache=True)
def mixture(log_weights, predictions, out):
    """Σ w_i p_i; shapes log_weights (N,), predictions (N, k), out (k,)."""
    out[:] = 0
    for i in range(log_weights.size):
        share = math.exp(log_weights[i])
        for j in range(out.size):
            out[j] += share * predictions[i, j]
