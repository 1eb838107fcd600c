"""AdaShare, the Tracker's rule with a proven bound: docs/derivations/tracker.md.

Also known as: exponential weights (Hedge) with the learning rate of AdaHedge and a
fixed share. ``state`` holds a weight for each of K experts, then Δ and U.
"""

import math

import numpy as np
import numpy.typing as npt

from thalweg.kernels.compiler.simd import MIN_LOG_ARGUMENT
from thalweg.kernels.tracker.adashare import MIN_DIVISOR, MIN_EXPONENT
from thalweg.types import FloatArray

Mask = npt.NDArray[np.bool_]


def adashare_weights(state: FloatArray, active: Mask) -> FloatArray:
    """The weights of the active experts, which sum to one."""
    weights = state[: len(active)] * active
    return np.asarray(weights / weights.sum())


def learn_adashare(
    state: FloatArray, active: Mask, active_next: Mask, prior: FloatArray, own: float,
    loss: FloatArray, t: float, fade: float,
) -> None:  # fmt: skip
    r"""Exponential weights at the rate 1/Δ, where Δ follows the mixability gaps.

    .. math:: m = -\Delta \ln \sum_k w_k e^{-\ell_k/\Delta}, \quad
              U' = \max(0, \zeta U + f - m), \quad \Delta' = \max(\zeta\Delta, U'),
              \quad w'_k \propto
              \pi_k (w_k e^{-\ell_k/\Delta} / \pi_k)^{\min(1, \Delta/\Delta')}

    with f ``own``, the loss of the rule's own prediction, and π ``prior``, up to a
    factor; then weight is shared. Where
    Δ = 0, m is the least loss and weights stay. ``fade`` below 1 lets Δ and U fade at
    least so fast.
    """
    k = len(active)
    weights, delta, cumulative_gap = state[:k], state[k], state[k + 1]
    best = loss[active].min()
    gap = own - best
    if delta > 0:
        # Losses are taken from the best one up, which cancels: e^{-ℓ/Δ} may vanish.
        exponents = np.minimum((best - loss) / max(delta, MIN_DIVISOR), 0.0)
        posterior = weights * active * np.exp(exponents)
        gap += delta * math.log(posterior.sum() / weights[active].sum())
    zeta = min(1 - 1 / (t + 1), fade)
    cumulative_gap = max(0.0, zeta * cumulative_gap + gap)
    new_delta = max(zeta * delta, cumulative_gap)
    if delta >= new_delta > 0:
        weights[:] = posterior
    elif delta > 0:
        raise_weights_to_power(weights, active, prior, delta / new_delta, exponents)
    state[k], state[k + 1] = new_delta, cumulative_gap
    share_weight(state, active, active_next, prior, t)


def share_weight(
    state: FloatArray, active: Mask, active_next: Mask, prior: FloatArray, t: float
) -> None:
    """Fixed share: w ← ζw + (1-ζ)π, with π the prior on the experts active next."""
    k, zeta = len(active), 1 - 1 / (t + 1)
    shares = active_next * prior
    shares = shares / shares.sum()
    state[:k] = zeta * adashare_weights(state, active) + (1 - zeta) * shares


def raise_weights_to_power(
    weights: FloatArray, active: Mask, prior: FloatArray, power: float,
    exponents: FloatArray | float = 0.0,
) -> None:  # fmt: skip
    """w ← π(w e^{exponent}/π)^power, w normalised: at a lower rate losses count less.

    In the kernels ``_raise_to_power``, where there are exponents. Of a shock
    e^{exponent} may be beyond float64, its power is not.
    """
    parts = adashare_weights(weights, active) / prior
    logs = np.log(np.maximum(parts, MIN_LOG_ARGUMENT))
    logs = logs + np.maximum(exponents, MIN_EXPONENT)
    weights[:] = np.where(parts > 0, prior * np.exp(power * logs), 0.0)


def raise_loss_scale(
    state: FloatArray, active: Mask, prior: FloatArray, max_loss: float
) -> None:
    """Δ ← 3E²/2 with E² ``max_loss``: weights become as equal as the proof allows."""
    k = len(active)
    delta, max_delta = state[k], 1.5 * max_loss
    if 0 < delta < max_delta:
        raise_weights_to_power(state[:k], active, prior, delta / max_delta)
        state[k] = max_delta
