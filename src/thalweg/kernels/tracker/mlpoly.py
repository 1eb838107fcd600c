r"""ML-Poly: weight in proportion to the regret towards an expert, if positive.

.. math:: R_k \gets R_k + g_k, \quad V_k \gets V_k + g_k^2, \quad B = \max_k g_k^2,
          \quad w_k \propto c_k (R_k)_+ / (B + V_k)

with g_k = 2c_k(f - y)(f - q_k), f the weighted mean of the predictions q_k and c_k the
confidence in an expert in this round. Also known
as: polynomially weighted averages with multiple learning rates. Gaillard, Stoltz & van
Erven (2014), *A second-order bound with excess losses*, with B over all rounds and
experts.

``rule_state`` is (2, K + 1): R, and √V with √B behind it.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.compiler.simd import (
    WIDTH,
    absolute,
    broadcast,
    fma,
    load,
    maximum,
    reduce_max,
    reduce_sum,
    select_greater,
    store,
)
from thalweg.kernels.tracker.boa import MIN_REGRET, discounted_norm


@inner_function
def set_weights(rule_state, active, confidence, weights):
    """Set the weights of the active experts; c_k alone where no regret is positive.

    In units of √B, as B + V itself may be beyond float64: with r = R/√B and s = √V/√B,
    w_k = c_k max(r_k, 0) / (1 + s_k²), divided by their sum.
    """
    unit, sums = 1 / max(rule_state[1, active.size], MIN_REGRET), broadcast(0.0)
    for k in range(0, active.size, WIDTH):
        root_v = unit * load(rule_state, (1, k))
        regret = unit * load(rule_state, (0, k)) * load(active, k)
        weight = select_greater(regret, 0.0, regret / fma(root_v, root_v, 1.0), 0.0)
        weight = weight * load(confidence, k)
        store(weights, k, weight)
        sums += weight
    total = reduce_sum(sums)
    if total < MIN_REGRET:  # nothing, or too little to divide by
        for k in range(0, active.size, WIDTH):
            weight = load(active, k) * load(confidence, k)
            store(weights, k, weight)
            sums += weight
        total = reduce_sum(sums)
    scale = 1 / total
    for k in range(0, active.size, WIDTH):
        store(weights, k, scale * load(weights, k))


@inner_function
def learn(rule_state, predictions, active, confidence, mean, y, w):
    """Learn the label ``y`` after these predictions and the rule's own, ``mean``.

    R_k ← R_k + g_k and √V_k ← √(V_k + g_k²), g_k = 2w c_k (f - y)(f - q_k), or 0 where
    k is not active.
    """
    widest = broadcast(rule_state[1, active.size])
    for k in range(0, active.size, WIDTH):
        ahead = (mean - load(predictions, k)) * load(active, k) * load(confidence, k)
        regret = 2 * w * (mean - y) * ahead
        store(rule_state, (0, k), load(rule_state, (0, k)) + regret)
        root_v = discounted_norm(load(rule_state, (1, k)), 1.0, regret)
        store(rule_state, (1, k), root_v)
        widest = maximum(widest, absolute(regret))
    rule_state[1, active.size] = reduce_max(widest)
