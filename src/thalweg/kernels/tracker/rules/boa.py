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

``memo`` holds weight, √V, E and rate, (4, K): √V because V is a fourth power of
errors, which float64 cannot hold for all legal labels.
"""

import math

from numba import njit

LEAST = 1e-290
"""Regrets below this are not learnt from: one over them may be beyond float64."""


@njit(cache=True)
def weigh(memo, active, shares):
    """η_k w_k, normalised; a newborn takes the least rate of the others."""
    least = math.inf
    for k in range(active.size):
        if memo[3, k] > 0:
            least = min(least, memo[3, k])
    if least == math.inf:
        least = 1.0
    largest = 0.0
    for k in range(active.size):
        rate = memo[3, k] if memo[3, k] > 0 else least
        shares[k] = memo[0, k] * rate * active[k]
        largest = max(largest, shares[k])
    total = 0.0
    for k in range(active.size):
        shares[k] /= largest  # rates may be as large as the labels are small
        total += shares[k]
    for k in range(active.size):
        shares[k] /= total


@njit(cache=True)
def learn(memo, said, active, mix, y, w, t):
    """Learn that ``y`` came where the experts ``said`` and the rule said ``mix``."""
    keep, room, voters = 1 - 1 / (t + 1), math.log(active.size + 1.0), 0.0
    for k in range(active.size):
        voters += active[k]
    level = -math.log(voters)
    largest = -math.inf
    for k in range(active.size):
        if active[k] > 0:
            regret = 2 * w * (mix - y) * (mix - said[k])
            memo[0, k] = _log_weight(memo, k, regret, keep, room, level)
            largest = max(largest, memo[0, k])
    _share(memo[0], active, largest, keep, voters)


@njit(cache=True)
def _log_weight(memo, k, regret, keep, room, level):
    """Update V, E and the rate of expert ``k``; returns its new log weight."""
    log_weight, former = math.log(memo[0, k]), memo[3, k]
    memo[1, k] = grown(memo[1, k], keep, regret)
    memo[2, k] = max(keep * memo[2, k], abs(regret))
    if memo[2, k] < LEAST:
        return log_weight
    rate = min(0.5 / memo[2, k], math.sqrt(room) / memo[1, k])
    if 0 < rate < former:
        log_weight = level + (log_weight - level) * (rate / former)
    memo[3, k] = rate
    step = rate * regret
    return log_weight + (step - step * step)


@njit(cache=True)
def grown(root, keep, value):
    """√(keep·root² + value²), without squaring either."""
    size = abs(value)
    if size == 0:
        return math.sqrt(keep) * root
    if size > root:
        return size * math.sqrt(1 + keep * (root / size) ** 2)
    return root * math.sqrt(keep + (size / root) ** 2)


@njit(cache=True)
def _share(weights, active, largest, keep, voters):
    """From log weights to weights, 1/(t+1) of which is given to all in equal parts."""
    total = 0.0
    for k in range(active.size):
        if active[k] > 0:
            weights[k] = math.exp(weights[k] - largest)
            total += weights[k]
    kept, given = keep / total, (1 - keep) / voters
    for k in range(active.size):
        weights[k] = kept * weights[k] + given if active[k] > 0 else 1 / voters
