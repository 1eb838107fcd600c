r"""ML-Poly: weight in proportion to the regret towards an expert, if positive.

.. math:: R_k \gets R_k + g_k, \quad V_k \gets V_k + g_k^2, \quad B = \max_k g_k^2,
          \quad w_k \propto (R_k)_+ / (B + V_k)

with g_k = 2(f - y)(f - q_k). Gaillard, Stoltz & van Erven (2014), *A second-order
bound with excess losses*, with B over all rounds and experts.

``rule_state`` holds R and √V, (2, seats + 1), and √B as the last of the second row.
"""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import (
    WIDTH,
    above,
    fused,
    larger,
    load,
    most,
    size,
    spread,
    store,
    total,
)
from thalweg.kernels.tracker.rules.boa import LEAST, grown


@inner_function
def set_weights(rule_state, active, weights):
    """The weights of the active experts; equal where no regret is positive."""
    # In units of √B: B + V itself may be beyond float64.
    unit, whole = 1 / max(rule_state[1, active.size], LEAST), spread(0.0)
    for k in range(0, active.size, WIDTH):
        spent = unit * load(rule_state, (1, k))
        regret = unit * load(rule_state, (0, k)) * load(active, k)
        share = above(regret, 0.0, regret / fused(spent, spent, 1.0), 0.0)
        store(weights, k, share)
        whole += share
    weight = total(whole)
    if weight == 0:
        for k in range(0, active.size, WIDTH):
            store(weights, k, load(active, k))
            whole += load(active, k)
        weight = total(whole)
    scale = 1 / weight
    for k in range(0, active.size, WIDTH):
        store(weights, k, scale * load(weights, k))


@inner_function
def learn(rule_state, predictions, active, mix, y, w):
    """Learn the label ``y`` after these predictions and the rule's ``mix``."""
    widest = spread(rule_state[1, active.size])
    for k in range(0, active.size, WIDTH):
        regret = 2 * w * (mix - y) * (mix - load(predictions, k)) * load(active, k)
        store(rule_state, (0, k), load(rule_state, (0, k)) + regret)
        store(rule_state, (1, k), grown(load(rule_state, (1, k)), 1.0, regret))
        widest = larger(widest, size(regret))
    rule_state[1, active.size] = most(widest)
