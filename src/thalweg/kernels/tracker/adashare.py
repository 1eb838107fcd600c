r"""AdaShare: exponential weights with fixed share, and a rate learnt from its own gaps.

Also known as: Hedge (exponentially weighted average) with fixed share (Herbster &
Warmuth), here with a share of 1/(t+1), and with a rate set by the mixability gap, as
in AdaHedge (de Rooij, van Erven, Grünwald & Koolen, 2014).

With ℓ_i the half squared errors, w the weights, ζ = 1 - 1/(t+1) and η = 1/Δ,

.. math:: m = -\tfrac1\eta \ln \sum_i w_i e^{-\eta \ell_i}, \quad
          U' = \max(0, \zeta U + f - m), \quad \Delta' = \max(\zeta \Delta, U'), \quad
          w' = \zeta v + (1-\zeta) \pi, \quad
          v_i \propto \pi_i (w_i e^{-\eta \ell_i}/\pi_i)^{\min(1, \Delta/\Delta')}

f is the loss of the weighted mean, f - m its mixability gap, π the prior: over the
experts active next in proportion to ``prior``. No constant, range or horizon enters. On
every interval [a, b] the loss of the mean exceeds that of any expert active throughout
by at most ``adashare_regret`` of learners/tracker/regret_bound.py.

Where a shock has made Δ large, it takes t rounds more to halve it. With a ``fade``
below one Δ and U fade at least so fast: weights are soon unequal again, but nothing is
proven.

``rule_state`` holds a weight for every expert, padding included, then Δ and U.
"""

import math

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import (
    MIN_LOG_ARGUMENT,
    WIDTH,
    broadcast,
    exp,
    fma,
    load,
    log,
    maximum,
    minimum,
    reduce_min,
    reduce_sum,
    select_greater,
    store,
)

STEADY_FADE, QUICK_FADE = 1.0, 0.97
"""Values of ``fade`` of the two rules: the steady one has a proven bound."""
MIN_EXPONENT = -1e300
"""Lower limit of an exponent: times a power of 0 an infinite one is not a number."""
MIN_DIVISOR = 1e-300
"""Lower limit of a divisor: the inverse of a smaller one may be infinite."""


@inner_function
def set_weights(rule_state, active, weights):
    """Set the weights of the active experts, which sum to one: w_k / Σ_active w."""
    scale = 1 / active_weight(rule_state, active)
    for k in range(0, active.size, WIDTH):
        store(weights, k, scale * load(rule_state, k) * load(active, k))


@inner_function
def learn(
    rule_state, active, active_next, prior, own, losses, lowest, t, fade, posterior
):
    """Learn the experts' losses and ``own``; ``lowest`` is that of the best active.

    ``posterior`` is to work in.
    """
    k = active.size
    delta, cumulative_gap = rule_state[k], rule_state[k + 1]
    gap = own - lowest
    if delta > 0:
        gap += _log_mean_exp(rule_state, active, losses, lowest, delta, posterior)
    zeta = min(1 - 1 / (t + 1), fade)
    cumulative_gap = max(0.0, zeta * cumulative_gap + gap)
    new_delta = max(zeta * delta, cumulative_gap)
    if delta > 0:
        power = delta / new_delta
        if power < 1:
            _raise_to_power(rule_state, active, prior, losses, lowest, delta, power)
        else:
            for i in range(0, active.size, WIDTH):
                store(rule_state, i, load(posterior, i))
    rule_state[k], rule_state[k + 1] = new_delta, cumulative_gap
    share_weight(rule_state, active, active_next, prior, t)


@inner_function
def raise_loss_scale(rule_state, active, prior, largest):
    """Raise Δ to 3E²/2, E² ``largest``: weights become as equal as the proof allows.

    The proof needs no more of Δ than U ≤ Δ ≤ 3E²/2 (docs/derivations/tracker.md).
    """
    delta, max_delta = rule_state[active.size], 1.5 * largest
    if 0 < delta < max_delta:
        _raise_weights_to_power(rule_state, active, prior, delta / max_delta)
        rule_state[active.size] = max_delta


@inner_function
def share_weight(rule_state, active, active_next, prior, t):
    """Share 1/(t+1) of all weight among those active in the next round, by the prior.

    w_k ← ζ w_k / Σ_active w + (1 - ζ) π_k, and 0 for ζ's part where k is not active.
    """
    count = broadcast(0.0)
    for k in range(0, active.size, WIDTH):
        count = fma(load(active_next, k), load(prior, k), count)
    zeta = 1 - 1 / (t + 1)
    scale = zeta / active_weight(rule_state, active)
    share = (1 - zeta) / reduce_sum(count)
    for k in range(0, active.size, WIDTH):
        received = share * load(prior, k) * load(active_next, k)
        weight = scale * load(rule_state, k)
        store(rule_state, k, fma(weight, load(active, k), received))


@inner_function
def active_weight(rule_state, active):
    """The weight of all active experts, Σ_active w."""
    weight = broadcast(0.0)
    for k in range(0, active.size, WIDTH):
        weight = fma(load(rule_state, k), load(active, k), weight)
    return reduce_sum(weight)


@inner_function
def set_losses(predictions, active, y, w, losses):
    """Set the losses ½w(y - q_k)²; returns the lowest of the active."""
    lowest = broadcast(math.inf)
    for k in range(0, active.size, WIDTH):
        error = y - load(predictions, k)
        here = 0.5 * w * (error * error)
        store(losses, k, here)
        lowest = minimum(lowest, select_greater(load(active, k), 0.0, here, math.inf))
    return reduce_min(lowest)


@inline_function
def _log_mean_exp(rule_state, active, losses, lowest, delta, posterior):
    """lowest - m = Δ ln Σ w_i e^{-η(ℓ_i - lowest)}, for w that sum to one.

    The sum cannot vanish: the best expert keeps its weight, a share at least. Its terms
    are left in ``posterior``.
    """
    before, after = active_weight(rule_state, active), broadcast(0.0)
    eta = 1 / max(delta, MIN_DIVISOR)
    for k in range(0, active.size, WIDTH):
        # An inactive expert may have a lower loss: its exponent is clipped, and its
        # weight is 0.
        behind = minimum(eta * (lowest - load(losses, k)), 0.0)
        weight = load(rule_state, k) * load(active, k) * exp(behind)
        store(posterior, k, weight)
        after += weight
    return delta * math.log(reduce_sum(after) / before)


@inner_function
def _raise_to_power(rule_state, active, prior, losses, lowest, delta, power):
    """w_i ← π_i (w_i e^{-η(ℓ_i - lowest)} / π_i)^power, for w that sum to one.

    The rate has fallen, and with it what earlier losses and this one count for. After a
    shock e^{-ηℓ} may be beyond float64, its power is not. Factors that all have in
    common do not matter.
    """
    eta = 1 / max(delta, MIN_DIVISOR)
    scale = 1 / active_weight(rule_state, active)
    for k in range(0, active.size, WIDTH):
        here, behind = load(prior, k), minimum(eta * (lowest - load(losses, k)), 0.0)
        weight = scale * load(rule_state, k) * load(active, k) / here
        behind = maximum(behind, MIN_EXPONENT)
        exponent = log(maximum(weight, MIN_LOG_ARGUMENT)) + behind
        raised = here * exp(power * exponent)
        store(rule_state, k, select_greater(weight, 0.0, raised, 0.0))


@inner_function
def _raise_weights_to_power(rule_state, active, prior, power):
    """w_i ← π_i (w_i / π_i)^power, as in ``_raise_to_power``."""
    scale = 1 / active_weight(rule_state, active)
    for k in range(0, active.size, WIDTH):
        here = load(prior, k)
        weight = scale * load(rule_state, k) * load(active, k) / here
        raised = here * exp(power * log(maximum(weight, MIN_LOG_ARGUMENT)))
        store(rule_state, k, select_greater(weight, 0.0, raised, 0.0))
