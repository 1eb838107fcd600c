r"""BOA, Bernstein online aggregation: a rate for every expert, from its own regrets.

Also known as: exponential weights with a second-order (Bernstein) correction and
expert-specific learning rates.

With g_k = 2(f - y)(f - q_k), the regret of the weighted mean f linearised in the
expert's prediction q_k, and everything older discounted by ζ = 1 - 1/(t+1),

.. math:: V_k \gets \zeta V_k + g_k^2, \quad E_k \gets \max(\zeta E_k, |g_k|), \quad
          \eta_k = \min(1/2E_k, \sqrt{\ln(K+1)/V_k}), \quad
          w_k \propto w_k^{\min(1, \eta_k / \eta'_k)} e^{\eta_k g_k - (\eta_k g_k)^2}

with η' the rate before; then 1/(t+1) of all weight is shared. The mean weighs the
experts by η_k w_k c_k, c_k the confidence in an expert in this round, and g_k counts
c_k times.
Wintenberger (2017), *Optimal learning with Bernstein online aggregation*; the discount
and the sharing are ours, and with them nothing is proven.

``rule_state`` is (4, K): weight, √V, E and rate. √V because V is a fourth power of
errors, which float64 cannot hold for all legal labels.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import (
    WIDTH,
    absolute,
    broadcast,
    exp,
    fma,
    load,
    log,
    maximum,
    minimum,
    reduce_max,
    reduce_min,
    reduce_sum,
    select_greater,
    sqrt,
    store,
)
from thalweg.kernels.tracker import tracker_layout as layout

MIN_REGRET = 1e-290
"""Minimum regret that is learnt: the inverse of a smaller one may be infinite."""
AGREEMENT = 1e-9
"""Limit of the difference to the mean of an expert that agrees with it, in units of the
range of predictions."""
PADDING_LOG_WEIGHT = -1e300
"""The log weight of an expert that is not active, or of padding."""
LOGARITHMS = np.array([math.log(k) for k in range(1, layout.PADDED_EXPERTS + 2)])
"""ln 1, ln 2, … of all numbers of experts, plus one: two are needed in a round, and a
call of ``math.log`` takes longer than all else of a scalar kind in this file."""


@inner_function
def set_weights(rule_state, active, confidence, weights):
    """Set the weights η_k w_k c_k / Σ η w c of the active experts.

    An expert without a rate as yet takes the lowest rate of the others, or 1.
    """
    lowest = broadcast(math.inf)
    for k in range(0, active.size, WIDTH):
        rate = load(rule_state, (3, k))
        lowest = minimum(lowest, select_greater(rate, 0.0, rate, math.inf))
    first_rate = reduce_min(lowest)
    if first_rate == math.inf:
        first_rate = 1.0
    largest = broadcast(0.0)
    for k in range(0, active.size, WIDTH):
        rate = load(rule_state, (3, k))
        rate = select_greater(rate, 0.0, rate, first_rate)
        weight = load(rule_state, (0, k)) * rate * load(active, k)
        store(weights, k, weight)
        largest = maximum(largest, weight)
    normalise(weights, reduce_max(largest), confidence)


@inline_function
def normalise(weights, largest, confidence):
    """Multiply the weights by the confidences, and divide them by their sum.

    First by the largest, which may be huge or tiny: rates are as large as the labels
    are small.
    """
    sums = broadcast(0.0)
    for k in range(0, weights.size, WIDTH):
        weight = load(weights, k) / largest * load(confidence, k)
        store(weights, k, weight)
        sums += weight
    scale = 1 / reduce_sum(sums)
    for k in range(0, weights.size, WIDTH):
        store(weights, k, scale * load(weights, k))


@inner_function
def learn(rule_state, predictions, active, confidence, experts, mean, spread, y, w, t):
    """Learn the label ``y`` after these predictions and the rule's own, ``mean``.

    g_k = 2w c_k (f - y)(f - q_k) for every expert; ``experts`` is the number of them
    all, ``spread`` the range of their predictions. Where f - q_k is tiny beside it, it
    is set to 0: it is rounding, and a rate of one over it would be arbitrary.
    """
    zeta, bound, active_count = 1 - 1 / (t + 1), LOGARITHMS[experts], broadcast(0.0)
    for k in range(0, active.size, WIDTH):
        active_count += load(active, k)
    count = reduce_sum(active_count)
    prior = -LOGARITHMS[int(count) - 1]
    largest = broadcast(PADDING_LOG_WEIGHT)
    for k in range(0, active.size, WIDTH):
        ahead = mean - load(predictions, k)
        ahead = select_greater(absolute(ahead), AGREEMENT * spread, ahead, 0.0)
        regret = 2 * w * (mean - y) * (load(confidence, k) * ahead)
        raised = _log_weight(rule_state, k, regret, load(active, k), zeta, bound, prior)
        store(rule_state, (0, k), raised)
        largest = maximum(largest, raised)
    _share_weight(rule_state, active, reduce_max(largest), zeta, count)


@inline_function
def _log_weight(rule_state, k, regret, active, zeta, bound, prior):
    """Update V, E and the rate of the experts from k on; returns their log weights.

    ln w_k ← prior + (ln w_k - prior) min(1, η_k/η'_k) + η_k g_k - (η_k g_k)², where
    ``prior`` is that of equal weights, and ``bound`` is ln(K + 1).
    """
    log_weight, former = log(load(rule_state, (0, k))), load(rule_state, (3, k))
    root_v = discounted_norm(load(rule_state, (1, k)), zeta, regret)
    widest = maximum(zeta * load(rule_state, (2, k)), absolute(regret))
    # The smaller of 1/2E and √(ln(K+1)/V) takes one division.
    limit = 2 * math.sqrt(bound)
    rate = select_greater(root_v, limit * widest, limit, 1.0) / (
        2.0 * select_greater(root_v, limit * widest, root_v, widest)
    )
    tempered = fma(log_weight - prior, rate / former, prior)
    step = rate * regret
    raised = select_greater(former, rate, tempered, log_weight) + (step - step * step)
    # Regrets next to zero are not learnt from, and inactive experts do not learn.
    is_learnt = select_greater(widest, MIN_REGRET, active, 0.0)
    root_v = select_greater(active, 0.0, root_v, load(rule_state, (1, k)))
    store(rule_state, (1, k), root_v)
    widest = select_greater(active, 0.0, widest, load(rule_state, (2, k)))
    store(rule_state, (2, k), widest)
    store(rule_state, (3, k), select_greater(is_learnt, 0.0, rate, former))
    updated = select_greater(is_learnt, 0.0, raised, log_weight)
    return select_greater(active, 0.0, updated, PADDING_LOG_WEIGHT)


@inner_function
def discounted_norm(before, zeta, value):
    """√(ζ·before² + value²), with neither of them squared before it is scaled."""
    unit = maximum(maximum(before, absolute(value)), MIN_REGRET)
    per_unit = 1.0 / unit
    old, new = before * per_unit, value * per_unit
    return unit * sqrt(fma(zeta * old, old, new * new))


@inline_function
def _share_weight(rule_state, active, largest, zeta, count):
    """Turn log weights into weights; all share 1/(t+1) of the total equally.

    w_k ← ζ e^{l_k} / Σ e^l + (1 - ζ) / count; those not active get 1 / count.
    """
    sums = broadcast(0.0)
    for k in range(0, active.size, WIDTH):
        weight = exp(load(rule_state, (0, k)) - largest)
        store(rule_state, (0, k), weight)
        sums += weight
    scale, share = zeta / reduce_sum(sums), (1 - zeta) / count
    for k in range(0, active.size, WIDTH):
        weight = fma(scale, load(rule_state, (0, k)), share)
        weight = select_greater(load(active, k), 0.0, weight, 1 / count)
        store(rule_state, (0, k), weight)
