r"""Softmax: exponential weights on discounted losses, in units of the lowest loss.

.. math:: L_k \gets d L_k + c_k (y - q_k)^2 + (1 - c_k)(y - f)^2, \quad
          N \gets d N + 1, \quad
          w_k \propto \exp(-\tfrac{1}{10} \max(N, 1) (L_k - L_{min}) / L_{min})

and of all weight 1/1000 is shared equally; then each is multiplied by c_k, the
confidence in the expert in this round. f is the weighted mean: as far as an expert is
not trusted, it is charged what the mean lost. Also known as: Hedge, or exponentially
weighted average, on discounted losses. Losses are counted from the first round on, also
of experts that are not active yet. Nothing is proven of it.

``rule_state`` holds L for every expert, padding included, then N.
"""

import math

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.compiler.simd import (
    WIDTH,
    broadcast,
    exp,
    fma,
    load,
    maximum,
    minimum,
    reduce_min,
    reduce_sum,
    select_greater,
    store,
)

LEARNING_RATE = 0.1
"""The factor 1/10 of the exponent above."""
UNIFORM_SHARE = 1e-3
"""The part of all weight that the active experts share equally."""


@inner_function
def set_weights(rule_state, active, confidence, weights):
    """Set the weights of the active experts, as in the formula above."""
    size = active.size
    lowest = broadcast(math.inf)
    for k in range(0, size, WIDTH):
        here = select_greater(load(active, k), 0.0, load(rule_state, k), math.inf)
        lowest = minimum(lowest, here)
    best, sums = reduce_min(lowest), broadcast(0.0)
    # If the best expert has no loss, all experts with a loss get no weight.
    rate = -LEARNING_RATE * max(rule_state[size], 1.0) / best if best > 0 else -math.inf
    for k in range(0, size, WIDTH):
        behind = maximum(load(rule_state, k) - best, 0.0)
        tilt = select_greater(behind, 0.0, rate * behind, 0.0)
        weight = exp(tilt) * load(active, k)
        store(weights, k, weight)
        sums += weight
    share_uniformly(weights, reduce_sum(sums), active, confidence)


@inner_function
def share_uniformly(weights, total, active, confidence):
    """Share 1/1000 of all weight, which is ``total``, equally among the active; then
    multiply each by the confidence, and divide by their sum.
    """
    active_count, sums = broadcast(0.0), broadcast(0.0)
    for k in range(0, active.size, WIDTH):
        active_count += load(active, k)
    scale, share = (1 - UNIFORM_SHARE) / total, UNIFORM_SHARE / reduce_sum(active_count)
    for k in range(0, active.size, WIDTH):
        weight = fma(share, load(active, k), scale * load(weights, k))
        weight = weight * load(confidence, k)
        store(weights, k, weight)
        sums += weight
    scale = 1 / reduce_sum(sums)
    for k in range(0, active.size, WIDTH):
        store(weights, k, scale * load(weights, k))


@inner_function
def learn(rule_state, predictions, confidence, discount, mean, y, w):
    """Learn the label ``y`` after these predictions and the rule's own, ``mean``.

    L_k ← d L_k + w(c_k (y - q_k)² + (1 - c_k)(y - f)²), N ← d N + w.
    """
    size, own = predictions.size, (y - mean) ** 2
    for k in range(0, size, WIDTH):
        error, trust = y - load(predictions, k), load(confidence, k)
        loss = w * fma(trust, error * error, (1.0 - trust) * own)
        store(rule_state, k, fma(discount, load(rule_state, k), loss))
    rule_state[size] = discount * rule_state[size] + w
