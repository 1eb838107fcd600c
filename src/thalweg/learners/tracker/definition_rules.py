r"""The Tracker's rules: how the experts' predictions become one forecast.

Six base rules weigh the experts, a committee (BOA) weighs the base rules, and a
meta-rule (AdaShare) weighs all seven:

    AdaShare            exponential weights (Hedge) with a learnt rate and a share
    AdaShare, quick     the same with a fading rate: quick to trust again after a shock
    BOA                 Bernstein online aggregation: a rate for every expert
    ML-Poly             weights in proportion to positive regret
    softmax, twice      exponential weights on discounted losses, slow and fast

Each rule has its weights of the coming round (``…_weights``) and its learning
(``learn_…``), which changes the rule's state in place. Arrays run over all experts;
``active`` says which of them take part. Losses and regrets of the formulas:

.. math:: \ell_k = \tfrac w2 (y - q_k)^2, \qquad g_k = 2w (f - y)(f - q_k)

with q_k an expert's prediction, f the rule's own, w the weight of the round. t counts
rounds from 1, and ζ = 1 - 1/(t+1). The proof of what AdaShare loses is in
docs/derivations/tracker.md.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.kernels.simd import MIN_LOG_ARGUMENT
from thalweg.kernels.tracker.adashare import MIN_DIVISOR, QUICK_FADE, STEADY_FADE
from thalweg.kernels.tracker.boa import MIN_REGRET
from thalweg.kernels.tracker.mixture import AGREEMENT, FAST_DISCOUNT, SLOW_DISCOUNT
from thalweg.kernels.tracker.softmax import LEARNING_RATE, UNIFORM_SHARE
from thalweg.kernels.tracker.tracker_layout import (
    BASE_RULE_MASK,
    BASE_RULES,
    COMMITTEE,
    EXPERTS,
    PADDED_RULES,
    RULE_MASK,
    RULES,
)
from thalweg.types import FloatArray

Mask = npt.NDArray[np.bool_]
IS_RULE, IS_BASE_RULE = RULE_MASK > 0, BASE_RULE_MASK > 0


class Mixture(NamedTuple):
    """The predictions of a round and the weights they were mixed with."""

    forecast: float
    expert_predictions: FloatArray  # (PADDED_EXPERTS,) clipped
    rule_predictions: FloatArray  # (PADDED_RULES,)
    expert_weights: FloatArray  # (RULES, PADDED_EXPERTS) of each rule, each sums to 1
    rule_weights: FloatArray  # (RULES,) of the meta-rule, sums to 1

    @property
    def forecast_weights(self) -> FloatArray:
        """The weight of every expert in the forecast, (PADDED_EXPERTS,)."""
        return np.asarray(self.rule_weights @ self.expert_weights)


def active_experts(s: Any, t: float) -> Mask:
    """Which experts take part in round t: an expert of memory M from round M/2 on."""
    return np.asarray(s.active_from <= t)


def mix(rules: Any, q: FloatArray, active: Mask) -> Mixture:
    r"""The forecast Σ_r v_r Σ_k w_{r,k} q_k from the experts' predictions q.

    Sums are taken from the lowest prediction up, so that their rounding is small
    against what the experts differ by: where all agree, so do all rules, exactly.
    """
    rows = [
        adashare_weights(rules.adashare[0], active),
        adashare_weights(rules.adashare[1], active),
        boa_weights(rules.boa, active),
        mlpoly_weights(rules.mlpoly, active),
        softmax_weights(rules.softmax[0], active),
        softmax_weights(rules.softmax[1], active),
    ]
    committee = boa_weights(rules.committee, IS_BASE_RULE)[:BASE_RULES]
    expert_weights = np.array([*rows, committee @ np.array(rows)])
    rule_weights = adashare_weights(rules.meta, IS_RULE)[:RULES]
    low = q[active].min()
    above_low = expert_weights[:, active] @ (q[active] - low)
    rule_predictions = np.zeros(PADDED_RULES)
    rule_predictions[:RULES] = low + above_low
    forecast = float(low + rule_weights @ above_low)
    return Mixture(forecast, q, rule_predictions, expert_weights, rule_weights)


def learn_rules(
    rules: Any, q: FloatArray, rule_predictions: FloatArray, forecast: float,
    y: float, w: float, t: float, active: Mask, active_next: Mask,
) -> float:  # fmt: skip
    """Let every rule learn that y came; returns the largest w(y - q_k)² of the active.

    Where all experts agree there is nothing to learn: their losses differ by the
    rounding of each rule's own sum, and scale-free rules would act on that. AdaShare
    still shares weight with experts that become active. Likewise the committee and the
    meta-rule where all rules agree, as in their first round.
    """
    low, high = q[active].min(), q[active].max()
    if low == high:
        for rule_state in rules.adashare:
            share_weight(rule_state, active, active_next, t)
        return float(w * (y - low) ** 2)
    f, loss = rule_predictions, 0.5 * w * (y - q) ** 2
    rule_loss = 0.5 * w * (y - f) ** 2
    for r, fade in enumerate((STEADY_FADE, QUICK_FADE)):
        own, state = rule_loss[r], rules.adashare[r]
        learn_adashare(state, active, active_next, own, loss, t, fade)
    learn_boa(rules.boa, active, 2 * w * (f[2] - y) * (f[2] - q), EXPERTS, t)
    learn_mlpoly(rules.mlpoly, active, 2 * w * (f[3] - y) * (f[3] - q))
    learn_softmax(rules.softmax[0], 2 * loss, w, SLOW_DISCOUNT)
    learn_softmax(rules.softmax[1], 2 * loss, w, FAST_DISCOUNT)
    if np.ptp(f[IS_RULE]) > AGREEMENT * (high - low):
        mixed = f[COMMITTEE]
        regret = 2 * w * (mixed - y) * (mixed - f)
        learn_boa(rules.committee, IS_BASE_RULE, regret, BASE_RULES, t)
        own = 0.5 * w * (y - forecast) ** 2
        learn_adashare(rules.meta, IS_RULE, IS_RULE, own, rule_loss, t, STEADY_FADE)
    return float(w * max((y - low) ** 2, (y - high) ** 2))


# AdaShare: ``state`` holds a weight for each of K experts, then Δ and U.


def adashare_weights(state: FloatArray, active: Mask) -> FloatArray:
    """The weights of the active experts, which sum to one."""
    weights = state[: len(active)] * active
    return np.asarray(weights / weights.sum())


def learn_adashare(
    state: FloatArray, active: Mask, active_next: Mask, own: float, loss: FloatArray,
    t: float, fade: float,
) -> None:  # fmt: skip
    r"""Exponential weights at the rate 1/Δ, where Δ follows the mixability gaps.

    .. math:: m = -\Delta \ln \sum_k w_k e^{-\ell_k/\Delta}, \quad
              U' = \max(0, \zeta U + f - m), \quad \Delta' = \max(\zeta\Delta, U'),
              \quad w'_k \propto (w_k e^{-\ell_k/\Delta})^{\min(1, \Delta/\Delta')}

    with f ``own``, the loss of the rule's own prediction; then weight is shared. Where
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
        weights[:] = posterior
    zeta = min(1 - 1 / (t + 1), fade)
    cumulative_gap = max(0.0, zeta * cumulative_gap + gap)
    new_delta = max(zeta * delta, cumulative_gap)
    if 0 < delta < new_delta:
        raise_weights_to_power(weights, active, delta / new_delta)
    state[k], state[k + 1] = new_delta, cumulative_gap
    share_weight(state, active, active_next, t)


def share_weight(state: FloatArray, active: Mask, active_next: Mask, t: float) -> None:
    """Fixed share: w ← ζw + (1-ζ)π, with π uniform on the experts active next."""
    k, zeta = len(active), 1 - 1 / (t + 1)
    uniform = active_next / active_next.sum()
    state[:k] = zeta * adashare_weights(state, active) + (1 - zeta) * uniform


def raise_weights_to_power(weights: FloatArray, active: Mask, power: float) -> None:
    """w ← w^power, for normalised w: at a lower rate earlier losses count for less."""
    parts = adashare_weights(weights, active)
    usable = parts > MIN_LOG_ARGUMENT  # what is less counts as zero
    weights[:] = np.where(usable, np.where(usable, parts, 1.0) ** power, 0.0)


def raise_loss_scale(state: FloatArray, active: Mask, max_loss: float) -> None:
    """Δ ← 3E²/2 with E² ``max_loss``: weights become as equal as the proof allows."""
    k = len(active)
    delta, max_delta = state[k], 1.5 * max_loss
    if 0 < delta < max_delta:
        raise_weights_to_power(state[:k], active, delta / max_delta)
        state[k] = max_delta


# BOA: ``state`` holds weight, √V, E and rate of each expert, (4, K).


def boa_weights(state: FloatArray, active: Mask) -> FloatArray:
    """η_k w_k, normalised; an expert without a rate takes the least of the others."""
    weights, _, _, rate = state
    known = rate > 0
    lowest = rate[known].min() if known.any() else 1.0
    shares = weights * np.where(known, rate, lowest) * active
    shares = shares / shares.max()  # rates are as large as the labels are small
    return np.asarray(shares / shares.sum())


def learn_boa(
    state: FloatArray, active: Mask, regret: FloatArray, experts: int, t: float
) -> None:
    r"""Bernstein online aggregation on the regrets g, everything older fading by ζ.

    .. math:: V_k \gets \zeta V_k + g_k^2, \quad E_k \gets \max(\zeta E_k, |g_k|), \quad
              \eta_k = \min(1/2E_k, \sqrt{\ln(K+1)/V_k}), \quad
              \ln w_k \gets \ln\pi + (\ln w_k - \ln\pi) \min(1, \eta_k/\eta'_k)
              + \eta_k g_k - (\eta_k g_k)^2

    with η' the rate before and π = 1/|active|; then 1/(t+1) of all weight is shared. V
    is a fourth power of errors, so √V is what is remembered.
    """
    weights, root_v, largest, previous_rate = state.copy()
    zeta, prior = 1 - 1 / (t + 1), 1 / active.sum()
    root_v = np.hypot(math.sqrt(zeta) * root_v, regret)
    largest = np.maximum(zeta * largest, abs(regret))
    has_regret = active & (largest > MIN_REGRET)  # one over less may be beyond float64
    rate = np.minimum(0.5 / largest, math.sqrt(math.log(experts + 1)) / root_v)
    slower = has_regret & (rate < previous_rate)
    power = np.where(slower, rate / np.where(slower, previous_rate, 1.0), 1.0)
    log_weight = math.log(prior) + (np.log(weights) - math.log(prior)) * power
    log_weight += np.where(has_regret, rate * regret - (rate * regret) ** 2, 0.0)
    posterior = np.where(active, np.exp(log_weight - log_weight[active].max()), 0.0)
    posterior = zeta * posterior / posterior.sum() + (1 - zeta) * prior
    state[0] = np.where(active, posterior, prior)
    state[1:3] = np.where(active, [root_v, largest], state[1:3])
    state[3] = np.where(has_regret, rate, previous_rate)


# ML-Poly: ``state`` holds regret R and √V of each of K experts; √B is state[1, K].


def mlpoly_weights(state: FloatArray, active: Mask) -> FloatArray:
    r"""w_k ∝ (R_k)₊ / (B + V_k), in units of √B; equal where no regret is positive."""
    k = len(active)
    unit = max(state[1, k], MIN_REGRET)
    regret, root_v = state[0, :k] / unit, state[1, :k] / unit
    shares = np.maximum(regret * active, 0.0) / (1 + root_v**2)
    if not shares.any():
        shares = active.astype(np.float64)
    return np.asarray(shares / shares.sum())


def learn_mlpoly(state: FloatArray, active: Mask, regret: FloatArray) -> None:
    r"""R_k ← R_k + g_k, V_k ← V_k + g_k², B ← max(B, max g_k²), over active experts."""
    k, regret = len(active), regret * active
    state[0, :k] += regret
    state[1, :k] = np.hypot(state[1, :k], regret)
    state[1, k] = max(state[1, k], abs(regret).max())


# Softmax: ``state`` holds a discounted loss L of each of K experts, then N.


def softmax_weights(state: FloatArray, active: Mask) -> FloatArray:
    r"""w_k ∝ exp(-max(N, 1)(L_k - L_min) / 10 L_min); 1/1000 of it in equal parts.

    Where the best expert has no loss, an expert with any loss gets its equal part only.
    """
    loss, count = state[: len(active)], state[len(active)]
    best = loss[active].min()
    behind = np.maximum(loss - best, 0.0)
    rate = LEARNING_RATE * max(count, 1.0) / best if best > 0 else math.inf
    shares = np.where(behind > 0, np.exp(-rate * behind), 1.0) * active
    equal = active / active.sum()
    return np.asarray(
        (1 - UNIFORM_SHARE) * shares / shares.sum() + UNIFORM_SHARE * equal
    )


def learn_softmax(
    state: FloatArray, squared_error: FloatArray, w: float, discount: float
) -> None:
    """L ← dL + w(y - q)², N ← dN + w; experts are scored before they are active."""
    k = len(squared_error)
    state[:k] = discount * state[:k] + squared_error
    state[k] = discount * state[k] + w
