r"""ML-Poly: weight in proportion to the regret towards an expert, if positive.

.. math:: R_k \gets R_k + g_k, \quad V_k \gets V_k + g_k^2, \quad B = \max_k g_k^2,
          \quad w_k \propto (R_k)_+ / (B + V_k)

with g_k = 2(f - y)(f - q_k). Gaillard, Stoltz & van Erven (2014), *A second-order
bound with excess losses*, with B over all rounds and experts.

``memo`` holds R and √V, (2, seats + 1), and √B as the last of the second row.
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
def weigh(memo, active, shares):
    """The weights of the active experts; equal where no regret is positive."""
    # In units of √B: B + V itself may be beyond float64.
    unit, whole = 1 / max(memo[1, active.size], LEAST), spread(0.0)
    for k in range(0, active.size, WIDTH):
        spent = unit * load(memo, (1, k))
        regret = unit * load(memo, (0, k)) * load(active, k)
        share = above(regret, 0.0, regret / fused(spent, spent, 1.0), 0.0)
        store(shares, k, share)
        whole += share
    weight = total(whole)
    if weight == 0:
        for k in range(0, active.size, WIDTH):
            store(shares, k, load(active, k))
            whole += load(active, k)
        weight = total(whole)
    scale = 1 / weight
    for k in range(0, active.size, WIDTH):
        store(shares, k, scale * load(shares, k))


@inner_function
def learn(memo, said, active, mix, y, w):
    """Learn that ``y`` came where the experts ``said`` and the rule said ``mix``."""
    widest = spread(memo[1, active.size])
    for k in range(0, active.size, WIDTH):
        regret = 2 * w * (mix - y) * (mix - load(said, k)) * load(active, k)
        store(memo, (0, k), load(memo, (0, k)) + regret)
        store(memo, (1, k), grown(load(memo, (1, k)), 1.0, regret))
        widest = larger(widest, size(regret))
    memo[1, active.size] = most(widest)
