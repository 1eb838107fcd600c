r"""AdaShare: exponential weights that learn their own rate, and share a little.

With ℓ_i the half squared errors, w the weights, ζ = 1 - 1/(t+1) and η = 1/Δ,

.. math:: m = -\tfrac1\eta \ln \sum_i w_i e^{-\eta \ell_i}, \quad
          U' = \max(0, \zeta U + f - m), \quad \Delta' = \max(\zeta \Delta, U'), \quad
          w' = \zeta v + (1-\zeta) \pi, \quad
          v_i \propto (w_i e^{-\eta \ell_i})^{\min(1, \Delta/\Delta')}

f is the mix's loss, π uniform on the experts active next. No constant, range or
horizon enters. On every interval [a, b] the loss of the mix exceeds that of any
expert active throughout by at most ``adashare_regret`` of learners/tracker.

Where a shock has made Δ large, it takes t rounds more to halve it. With a ``fade``
below one Δ and U fade at least so fast: quick to trust again, but nothing is proven.

``memo`` holds the K weights, then Δ and U.
"""

import math

from numba import njit

STEADY, QUICK = 1.0, 0.97
"""Values of ``fade``."""


@njit(cache=True)
def weigh(memo, active, shares):
    """The weights of the active experts, which sum to one."""
    total = 0.0
    for k in range(active.size):
        shares[k] = memo[k] * active[k]
        total += shares[k]
    for k in range(active.size):
        shares[k] /= total


@njit(cache=True)
def learn(memo, said, active, following, mix, y, w, t, fade, loss):
    """Learn that ``y`` came where the experts ``said`` and the rule said ``mix``."""
    k = active.size
    delta, debt = memo[k], memo[k + 1]
    least = _losses(said, active, y, w, loss)
    gap = 0.5 * w * (y - mix) ** 2 - least
    if delta > 0:
        gap += _tilt(memo, active, loss, least, delta)
    keep = min(1 - 1 / (t + 1), fade)
    debt = max(0.0, keep * debt + gap)
    slower = max(keep * delta, debt)
    if 0 < delta < slower:
        _temper(memo, active, delta / slower)
    memo[k], memo[k + 1] = slower, debt
    share(memo, active, following, t)


@njit(cache=True)
def doubt(memo, active, largest):
    """Raise Δ to 3E²/2, E² ``largest``: weights become as equal as the proof allows.

    It needs no more of Δ than U ≤ Δ ≤ 3E²/2: docs/derivations/tracker.md, step 3.
    """
    delta, most = memo[active.size], 1.5 * largest
    if 0 < delta < most:
        _temper(memo, active, delta / most)
        memo[active.size] = most


@njit(cache=True)
def share(memo, active, following, t):
    """Give 1/(t+1) of all weight in equal parts to those active in the next round."""
    weight, voters = 0.0, 0.0
    for k in range(active.size):
        weight += memo[k] * active[k]
        voters += following[k]
    keep = 1 - 1 / (t + 1)
    kept, given = keep / weight, (1 - keep) / voters
    for k in range(active.size):
        memo[k] = kept * memo[k] * active[k] + given * following[k]


@njit(cache=True)
def _losses(said, active, y, w, loss):
    least = math.inf
    for k in range(active.size):
        loss[k] = 0.5 * w * (y - said[k]) ** 2
        if active[k] > 0:
            least = min(least, loss[k])
    return least


@njit(cache=True)
def _tilt(memo, active, loss, least, delta):
    """w_i ← w_i e^{-η(ℓ_i - least)}; returns least - m = Δ ln Σ w_i e^….

    Their sum cannot vanish: the best expert keeps its weight, a share at least.
    """
    before, after = 0.0, 0.0
    for k in range(active.size):
        before += memo[k] * active[k]
        if active[k] > 0:
            memo[k] *= math.exp(-(loss[k] - least) / delta)
            after += memo[k]
    return delta * math.log(after / before)


@njit(cache=True)
def _temper(memo, active, power):
    """w_i ← w_i^power: the rate has fallen, so earlier losses count for less."""
    total = 0.0
    for k in range(active.size):
        total += memo[k] * active[k]
    for k in range(active.size):
        memo[k] = (memo[k] * active[k] / total) ** power
