r"""ML-Poly: weight in proportion to the regret towards an expert, if positive.

.. math:: R_k \gets R_k + g_k, \quad V_k \gets V_k + g_k^2, \quad B = \max_k g_k^2,
          \quad w_k \propto (R_k)_+ / (B + V_k)

with g_k = 2(f - y)(f - q_k). Gaillard, Stoltz & van Erven (2014), *A second-order
bound with excess losses*, with B over all rounds and experts.

``memo`` holds R and √V, (2, K + 1), and √B as the last of the second row.
"""

import math

from numba import njit

from thalweg.kernels.tracker.rules.boa import grown


@njit(cache=True)
def weigh(memo, active, shares):
    """The weights of the active experts; equal where no regret is positive."""
    total = 0.0
    for k in range(active.size):
        shares[k] = 0.0
        if active[k] > 0 and memo[0, k] > 0:
            # In steps of one root: B + V itself may be beyond float64.
            root = math.hypot(memo[1, -1], memo[1, k])
            shares[k] = memo[0, k] / root * (memo[1, -1] / root)
            total += shares[k]
    if total == 0:
        for k in range(active.size):
            shares[k] = active[k]
            total += shares[k]
    for k in range(active.size):
        shares[k] /= total


@njit(cache=True)
def learn(memo, said, active, mix, y, w):
    """Learn that ``y`` came where the experts ``said`` and the rule said ``mix``."""
    for k in range(active.size):
        if active[k] > 0:
            regret = 2 * w * (mix - y) * (mix - said[k])
            memo[0, k] += regret
            memo[1, k] = grown(memo[1, k], 1.0, regret)
            memo[1, -1] = max(memo[1, -1], abs(regret))
