r"""Exponential weights on discounted losses, in units of the least of them.

.. math:: L_k \gets d L_k + (y - q_k)^2, \quad N \gets d N + 1, \quad
          w_k \propto \exp(-\tfrac{1}{10} \max(N, 1) (L_k - L_{min}) / L_{min})

and of all weight 1/1000 is given in equal parts. Experts are scored from the first
round on, before they vote. Nothing is proven of it.

``rule_state`` holds a loss for every seat, then N.
"""

import math

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import (
    WIDTH,
    above,
    exp,
    fused,
    larger,
    least,
    load,
    smaller,
    spread,
    store,
    total,
)

RATE = 0.1
EQUAL_PART = 1e-3


@inner_function
def set_weights(rule_state, active, weights):
    """The weights of the active experts."""
    seats = active.size
    lowest, voters = spread(math.inf), spread(0.0)
    for k in range(0, seats, WIDTH):
        here = above(load(active, k), 0.0, load(rule_state, k), math.inf)
        lowest = smaller(lowest, here)
        voters += load(active, k)
    best, whole = least(lowest), spread(0.0)
    # Where the best has lost nothing, whoever has lost anything is out.
    rate = -RATE * max(rule_state[seats], 1.0) / best if best > 0 else -math.inf
    for k in range(0, seats, WIDTH):
        behind = larger(load(rule_state, k) - best, 0.0)
        tilt = above(behind, 0.0, rate * behind, 0.0)
        share = exp(tilt) * load(active, k)
        store(weights, k, share)
        whole += share
    scale, equal = (1 - EQUAL_PART) / total(whole), EQUAL_PART / total(voters)
    for k in range(0, seats, WIDTH):
        part = scale * load(weights, k)
        store(weights, k, fused(equal, load(active, k), part))


@inner_function
def learn(rule_state, predictions, discount, y, w):
    """Learn the label ``y`` after these predictions."""
    seats = predictions.size
    for k in range(0, seats, WIDTH):
        error = y - load(predictions, k)
        store(rule_state, k, fused(discount, load(rule_state, k), w * (error * error)))
    rule_state[seats] = discount * rule_state[seats] + w
