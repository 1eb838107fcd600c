"""Exponential weights over some experts (Hedge), as in learners/exponential_weights.py.

One expert after the other; rls_bank/exponential_weights.py weighs eight at a time.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.rls_bank.exponential_weights import MAX_LOSS


@kernel(counts_references=False)
def mean_point(log_weights, points, order, count, out):
    """Σ w_i θ_i into ``out`` (n,), of the first ``count`` in order; points (S, n)."""
    out.fill(0)
    for i in range(count):
        w = out.dtype.type(math.exp(log_weights[i]))
        for j in range(out.size):
            out[j] += w * points[order[i], j]


@kernel(counts_references=False)
def update_log_weights(log_weights, losses, rate, count):
    """The Hedge update, as in learners/exponential_weights.py: normalised."""
    best = MAX_LOSS
    for i in range(count):
        best = min(losses[i], best)
    for i in range(count):
        excess = rate * (min(losses[i], MAX_LOSS) - best)
        log_weights[i] -= min(excess, MAX_LOSS)
    normalise(log_weights, count)
    for i in range(count):
        log_weights[i] = max(log_weights[i], -MAX_LOSS)


@kernel(counts_references=False)
def normalise(log_weights, count):
    """Subtract the logarithm of the sum of the weights."""
    highest, total = -np.inf, 0.0
    for i in range(count):
        highest = max(highest, log_weights[i])
    for i in range(count):
        log_weights[i] -= highest
        total += math.exp(log_weights[i])
    log_total = math.log(total)
    for i in range(count):
        log_weights[i] -= log_total
