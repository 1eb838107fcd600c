"""Inner loop of learners/experts.py where every expert is recursive least squares."""

import math

import numpy as np
from numba import njit

from thalweg.kernels.floor import top_up
from thalweg.kernels.rls import step

LARGEST_LOSS = 1e300  # as in learners/weights.py


@njit(cache=True, error_model="numpy", nogil=True)
def bank(
    theta, factor, log_weights, gamma, floor, pull, mixing_rate,
    x, y, weight, elapsed, out, loss, played, weights,
):  # fmt: skip
    """Play the rounds (x, y) with N experts, updating their states in place.

    Shapes: theta (N, n, k), factor (N, n+3, n), log_weights, gamma, floor, pull (N,),
    x (T, n), y (T, k), weight and elapsed (T,) or empty for all ones, out (T, k),
    loss (T,), played (T, n, k) or empty, weights (T, N) or empty.
    """
    experts, n, targets = theta.shape
    v = np.empty(n, theta.dtype)
    image = np.empty(n, theta.dtype)
    said = np.empty((experts, targets), theta.dtype)
    incurred = np.empty(experts)
    for t in range(len(y)):
        root = math.sqrt(weight[t]) if len(weight) else 1.0
        if len(played):
            played[t] = 0
        if len(weights):
            weights[t] = np.exp(log_weights)
        out[t] = 0
        for i in range(experts):
            share = math.exp(log_weights[i])
            if len(played):
                played[t] += share * theta[i]
            own, its = theta[i], factor[i]
            discount = gamma[i] ** elapsed[t] if len(elapsed) else gamma[i]
            incurred[i] = step(own, its, discount, root, x, y, t, said, i, v, image)
            if floor[i] > 0:
                top_up(own, its, discount, gamma[i], floor[i], pull[i], image, v)
            for j in range(targets):
                out[t, j] += share * said[i, j]
        loss[t] = 0
        for j in range(targets):
            loss[t] += 0.5 * (root * (y[t, j] - out[t, j])) ** 2
        _hedge(log_weights, incurred, mixing_rate)


@njit(cache=True)
def _hedge(log_weights, losses, rate):
    """log w_i ← log w_i - rate·loss_i, normalised; see learners/weights.py."""
    least = min(losses.min(), LARGEST_LOSS)
    for i in range(losses.size):
        log_weights[i] -= rate * (min(losses[i], LARGEST_LOSS) - least)
    log_weights -= log_weights.max()
    total = 0.0
    for i in range(losses.size):
        total += math.exp(log_weights[i])
    log_weights -= math.log(total)
