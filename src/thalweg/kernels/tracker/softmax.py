r"""Softmax: exponential weights on discounted losses, in units of the lowest loss.

.. math:: L_k \gets d L_k + (y - q_k)^2, \quad N \gets d N + 1, \quad
          w_k \propto \exp(-\tfrac{1}{10} \max(N, 1) (L_k - L_{min}) / L_{min})

and of all weight 1/1000 is shared equally. Also known as: Hedge, or exponentially
weighted average, on discounted losses. Losses are counted from the first round on, also
of experts that are not active yet. Nothing is proven of it.

``rule_state`` holds L for every expert, padding included, then N.
"""

import math

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import (
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
def set_weights(rule_state, active, weights):
    """Set the weights of the active experts, as in the formula above."""
    size = active.size
    lowest, active_count = broadcast(math.inf), broadcast(0.0)
    for k in range(0, size, WIDTH):
        here = select_greater(load(active, k), 0.0, load(rule_state, k), math.inf)
        lowest = minimum(lowest, here)
        active_count += load(active, k)
    best, sums = reduce_min(lowest), broadcast(0.0)
    # If the best expert has no loss, all experts with a loss get no weight.
    rate = -LEARNING_RATE * max(rule_state[size], 1.0) / best if best > 0 else -math.inf
    for k in range(0, size, WIDTH):
        behind = maximum(load(rule_state, k) - best, 0.0)
        tilt = select_greater(behind, 0.0, rate * behind, 0.0)
        weight = exp(tilt) * load(active, k)
        store(weights, k, weight)
        sums += weight
    scale = (1 - UNIFORM_SHARE) / reduce_sum(sums)
    share = UNIFORM_SHARE / reduce_sum(active_count)
    for k in range(0, size, WIDTH):
        weight = scale * load(weights, k)
        store(weights, k, fma(share, load(active, k), weight))


@inner_function
def learn(rule_state, predictions, discount, y, w):
    """Learn the label ``y``: L_k ← d L_k + w(y - q_k)², N ← d N + w."""
    size = predictions.size
    for k in range(0, size, WIDTH):
        error = y - load(predictions, k)
        loss = w * (error * error)
        store(rule_state, k, fma(discount, load(rule_state, k), loss))
    rule_state[size] = discount * rule_state[size] + w
