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

``rule_state`` holds a weight for every seat, then Δ and U.
"""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import (
    SMALLEST,
    WIDTH,
    above,
    exp,
    fused,
    larger,
    least,
    load,
    log,
    smaller,
    spread,
    store,
    total,
)

STEADY, QUICK = 1.0, 0.97
"""Values of ``fade``."""
LEAST = 1e-300
"""One over less may be beyond float64."""


@inner_function
def set_weights(rule_state, active, weights):
    """The weights of the active experts, which sum to one."""
    scale = 1 / held(rule_state, active)
    for k in range(0, active.size, WIDTH):
        store(weights, k, scale * load(rule_state, k) * load(active, k))


@inner_function
def learn(rule_state, active, active_next, own, loss, lowest, t, fade):
    """Learn the experts' losses and ``own``; ``lowest`` is that of the best active."""
    k = active.size
    delta, debt = rule_state[k], rule_state[k + 1]
    gap = own - lowest
    if delta > 0:
        gap += _tilt(rule_state, active, loss, lowest, delta)
    keep = min(1 - 1 / (t + 1), fade)
    debt = max(0.0, keep * debt + gap)
    slower = max(keep * delta, debt)
    if 0 < delta < slower:
        _temper(rule_state, active, delta / slower)
    rule_state[k], rule_state[k + 1] = slower, debt
    share(rule_state, active, active_next, t)


@inner_function
def raise_loss_scale(rule_state, active, largest):
    """Raise Δ to 3E²/2, E² ``largest``: weights become as equal as the proof allows.

    It needs no more of Δ than U ≤ Δ ≤ 3E²/2: docs/derivations/tracker.md, step 3.
    """
    delta, most = rule_state[active.size], 1.5 * largest
    if 0 < delta < most:
        _temper(rule_state, active, delta / most)
        rule_state[active.size] = most


@inner_function
def share(rule_state, active, active_next, t):
    """Give 1/(t+1) of all weight in equal parts to those active in the next round."""
    voters = spread(0.0)
    for k in range(0, active.size, WIDTH):
        voters += load(active_next, k)
    keep = 1 - 1 / (t + 1)
    kept, given = keep / held(rule_state, active), (1 - keep) / total(voters)
    for k in range(0, active.size, WIDTH):
        gift = given * load(active_next, k)
        store(rule_state, k, fused(kept * load(rule_state, k), load(active, k), gift))


@inner_function
def held(rule_state, active):
    """All weight of the active."""
    weight = spread(0.0)
    for k in range(0, active.size, WIDTH):
        weight = fused(load(rule_state, k), load(active, k), weight)
    return total(weight)


@inner_function
def set_losses(predictions, active, y, w, loss):
    """Fill ``loss`` with half squared errors; returns the lowest of the active."""
    lowest = spread(math.inf)
    for k in range(0, active.size, WIDTH):
        error = y - load(predictions, k)
        here = 0.5 * w * (error * error)
        store(loss, k, here)
        lowest = smaller(lowest, above(load(active, k), 0.0, here, math.inf))
    return least(lowest)


@inline_function
def _tilt(rule_state, active, loss, lowest, delta):
    """w_i ← w_i e^{-η(ℓ_i - lowest)}; returns lowest - m = Δ ln Σ w_i e^….

    Their sum cannot vanish: the best expert keeps its weight, a share at least.
    """
    before, after = held(rule_state, active), spread(0.0)
    eta = 1 / max(delta, LEAST)
    for k in range(0, active.size, WIDTH):
        # Those not active may have lost less; e^0 is soon multiplied by nothing.
        behind = smaller(eta * (lowest - load(loss, k)), 0.0)
        weight = load(rule_state, k) * load(active, k) * exp(behind)
        store(rule_state, k, weight)
        after += weight
    return delta * math.log(total(after) / before)


@inner_function
def _temper(rule_state, active, power):
    """w_i ← w_i^power: the rate has fallen, so earlier losses count for less."""
    scale = 1 / held(rule_state, active)
    for k in range(0, active.size, WIDTH):
        part = scale * load(rule_state, k) * load(active, k)
        raised = exp(power * log(larger(part, SMALLEST)))
        store(rule_state, k, above(part, SMALLEST, raised, 0.0))
