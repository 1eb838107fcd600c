r"""BOA, Bernstein online aggregation: a rate for every expert, from its own regrets.

With g_k = 2(f - y)(f - q_k), the regret of the mix f linearised in the expert's q_k,
and everything older fading by ζ = 1 - 1/(t+1),

.. math:: V_k \gets \zeta V_k + g_k^2, \quad E_k \gets \max(\zeta E_k, |g_k|), \quad
          \eta_k = \min(1/2E_k, \sqrt{\ln(K+1)/V_k}), \quad
          w_k \propto w_k^{\min(1, \eta_k / \eta'_k)} e^{\eta_k g_k - (\eta_k g_k)^2}

with η' the rate before; then 1/(t+1) of all weight is shared. The mix weighs the
experts by η_k w_k.
Wintenberger (2017), *Optimal learning with Bernstein online aggregation*; the fading
and the sharing are ours, and with them nothing is proven.

``rule_state`` is (4, K): weight, √V, E and rate. √V because V is a fourth power of
errors, which float64 cannot hold for all legal labels.
"""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import (
    WIDTH,
    above,
    exp,
    fused,
    larger,
    least,
    load,
    log,
    most,
    root,
    size,
    smaller,
    spread,
    store,
    total,
)

LEAST = 1e-290
"""Regrets below this are not learnt from: one over them may be beyond float64."""
NEVER = -1e300
"""The log weight of an empty seat."""


@inner_function
def set_weights(rule_state, active, weights):
    """η_k w_k, normalised; a newborn takes the least rate of the others."""
    lowest = spread(math.inf)
    for k in range(0, active.size, WIDTH):
        rate = load(rule_state, (3, k))
        lowest = smaller(lowest, above(rate, 0.0, rate, math.inf))
    newborn = least(lowest)
    if newborn == math.inf:
        newborn = 1.0
    largest = spread(0.0)
    for k in range(0, active.size, WIDTH):
        rate = load(rule_state, (3, k))
        rate = above(rate, 0.0, rate, newborn)
        share = load(rule_state, (0, k)) * rate * load(active, k)
        store(weights, k, share)
        largest = larger(largest, share)
    normalise(weights, most(largest))


@inline_function
def normalise(weights, largest):
    """Make them sum to one; first in units of the largest, which may be huge or tiny.

    Rates are as large as the labels are small.
    """
    whole = spread(0.0)
    for k in range(0, weights.size, WIDTH):
        share = load(weights, k) / largest
        store(weights, k, share)
        whole += share
    scale = 1 / total(whole)
    for k in range(0, weights.size, WIDTH):
        store(weights, k, scale * load(weights, k))


@inner_function
def learn(rule_state, predictions, active, experts, mix, y, w, t):
    """Learn the label ``y`` after these predictions and the rule's ``mix``.

    ``experts`` is the number of all experts.
    """
    keep, bound, voters = 1 - 1 / (t + 1), math.log(experts + 1.0), spread(0.0)
    for k in range(0, active.size, WIDTH):
        voters += load(active, k)
    count = total(voters)
    level = -math.log(count)
    largest = spread(NEVER)
    for k in range(0, active.size, WIDTH):
        regret = 2 * w * (mix - y) * (mix - load(predictions, k))
        raised = _log_weight(rule_state, k, regret, load(active, k), keep, bound, level)
        store(rule_state, (0, k), raised)
        largest = larger(largest, raised)
    _share(rule_state, active, most(largest), keep, count)


@inline_function
def _log_weight(rule_state, k, regret, active, keep, bound, level):
    """Update V, E and the rate of the experts from seat k on: their new log weights."""
    log_weight, former = log(load(rule_state, (0, k))), load(rule_state, (3, k))
    spent = grown(load(rule_state, (1, k)), keep, regret)
    widest = larger(keep * load(rule_state, (2, k)), size(regret))
    # The lesser of 1/2E and √(ln(K+1)/V), by one division.
    workspace = 2 * math.sqrt(bound)
    rate = above(spent, workspace * widest, workspace, 1.0) / (
        2.0 * above(spent, workspace * widest, spent, widest)
    )
    slowed = fused(log_weight - level, rate / former, level)
    step = rate * regret
    raised = above(former, rate, slowed, log_weight) + (step - step * step)
    # Nothing is learnt from next to nothing, nor of those that do not vote.
    learnt = above(widest, LEAST, active, 0.0)
    store(rule_state, (1, k), above(active, 0.0, spent, load(rule_state, (1, k))))
    store(rule_state, (2, k), above(active, 0.0, widest, load(rule_state, (2, k))))
    store(rule_state, (3, k), above(learnt, 0.0, rate, former))
    return above(active, 0.0, above(learnt, 0.0, raised, log_weight), NEVER)


@inner_function
def grown(before, keep, value):
    """√(keep·before² + value²), neither of them squared as it is."""
    unit = larger(larger(before, size(value)), LEAST)
    per_unit = 1.0 / unit
    part, new = before * per_unit, value * per_unit
    return unit * root(fused(keep * part, part, new * new))


@inline_function
def _share(rule_state, active, largest, keep, voters):
    """From log weights to weights, 1/(t+1) of which is given to all in equal parts."""
    whole = spread(0.0)
    for k in range(0, active.size, WIDTH):
        weight = exp(load(rule_state, (0, k)) - largest)
        store(rule_state, (0, k), weight)
        whole += weight
    kept, given = keep / total(whole), (1 - keep) / voters
    for k in range(0, active.size, WIDTH):
        weight = fused(kept, load(rule_state, (0, k)), given)
        store(rule_state, (0, k), above(load(active, k), 0.0, weight, 1 / voters))
