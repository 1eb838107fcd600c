"""What the Tracker knows about itself, from the weights of its coming forecast."""

import math

from numba import njit

from thalweg.kernels.tracker.layout import (
    LABELLED,
    LAST,
    LEVELS,
    MEMORIES,
    PULLED,
    ROUNDS,
    SPANS,
    UNPULLED,
)


@njit(cache=True)
def memory(clock, weights):
    """exp Σ w_k ln min(M_k, t), the last value's M being 1; 0 before any label."""
    t = clock[ROUNDS]
    if t == 0:
        return 0.0
    total = 0.0
    for k in range(LAST):
        total += weights[k] * math.log(min(MEMORIES[k % SPANS], t))
    return math.exp(total)


@njit(cache=True)
def slope(known, weights, out):
    """How the forecast moves with x: the mean of the experts' coefficients, (n,)."""
    for j in range(out.size):
        out[j] = 0.0
        for lane in range(known.pulled.shape[1]):
            out[j] += weights[PULLED + lane] * known.pulled[j, lane]
        for lane in range(LEVELS):
            out[j] += weights[UNPULLED + lane] * known.unpulled[j, lane]
        for g in range(SPANS):
            out[j] += weights[LABELLED + g] * known.labelled[j, g]
