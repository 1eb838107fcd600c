r"""Cauchy weights: what an expert lost counts by its logarithm, so that shocks pass.

.. math:: L_k \gets d L_k + \ln(1 + e_k / s^2), \quad
          e_k = c_k (y - q_k)^2 + (1 - c_k)(y - f)^2, \quad w_k \propto \exp(-L_k)

and of all weight 1/1000 is shared equally; then each is multiplied by c_k, the
confidence in the expert in this round. Also known as: dynamic model averaging (Bayesian
model averaging with a forgetting factor), here under a Cauchy likelihood, whose scale s
is the size of the rule's own recent errors. A rule on squared losses is blind for as
long as it remembers a shock; here that is about 1/(1 - d) = 20 rounds. Nothing is
proven of it.

``rule_state`` holds L for every expert, padding included, then s² and the number of
errors that it is a mean of.
"""

import math

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.compiler.simd import (
    WIDTH,
    broadcast,
    exp,
    fma,
    load,
    log,
    minimum,
    reduce_min,
    reduce_sum,
    select_greater,
    store,
)
from thalweg.kernels.tracker.adashare import MIN_DIVISOR
from thalweg.kernels.tracker.softmax import share_uniformly

CAUCHY_DISCOUNT = 0.95
"""d, of the logarithms."""
SQUARE_DISCOUNT, SQUARE_MEMORY = 0.97, 32.0
"""Discount of a square's count, and number of rounds in the mean s²."""
MAX_SQUARE = 16.0
"""Limit of a squared error in s², in units of s²."""
MAX_RATIO = 1e300
"""Upper limit of e/s²."""


@inner_function
def set_weights(rule_state, active, confidence, weights):
    """Set the weights of the active experts, as in the formula above."""
    size = active.size
    lowest = broadcast(math.inf)
    for k in range(0, size, WIDTH):
        here = select_greater(load(active, k), 0.0, load(rule_state, k), math.inf)
        lowest = minimum(lowest, here)
    best, sums = reduce_min(lowest), broadcast(0.0)
    for k in range(0, size, WIDTH):
        behind = minimum(best - load(rule_state, k), 0.0)
        weight = exp(behind) * load(active, k)
        store(weights, k, weight)
        sums += weight
    share_uniformly(weights, reduce_sum(sums), active, confidence)


@inner_function
def learn(rule_state, predictions, confidence, mean, y, w):
    """Learn the label ``y`` after these predictions and the rule's own, ``mean``.

    L_k ← d L_k + w ln(1 + e_k/s²), with s² of before; nothing before s² is known.
    """
    size, own = predictions.size, (y - mean) ** 2
    square = rule_state[size]
    if square > 0:
        per_square = 1 / max(square, MIN_DIVISOR)
        for k in range(0, size, WIDTH):
            error, trust = y - load(predictions, k), load(confidence, k)
            charged = fma(trust, error * error, (1.0 - trust) * own)
            ratio = minimum(per_square * charged, MAX_RATIO)
            loss = w * log(ratio + 1.0)
            store(rule_state, k, fma(CAUCHY_DISCOUNT, load(rule_state, k), loss))
        own = min(own, MAX_SQUARE * square)
    count = SQUARE_DISCOUNT * rule_state[size + 1] + 1
    rule_state[size] += (own - square) / min(count, SQUARE_MEMORY)
    rule_state[size + 1] = count
