r"""The Tracker's rules: how the experts' predictions become one forecast.

Seven base rules weigh the experts, a committee (BOA) weighs the base rules, and a
meta-rule (AdaShare) weighs the seven and the committee, corrected for curvature
(definition_curvature.py):

    AdaShare            exponential weights (Hedge) with a learnt rate and a share
    AdaShare, quick     the same with a fading rate: quick to trust again after a shock
    BOA                 Bernstein online aggregation: a rate for every expert
    ML-Poly             weights in proportion to positive regret
    softmax, twice      exponential weights on discounted losses, slow and fast
    Cauchy weights      the same on logarithms of losses, for which shocks count little

Each rule has its weights of the coming round (``…_weights``) and its learning
(``learn_…``), which changes the rule's state in place. Arrays run over all experts;
``active`` says which of them take part. Losses and regrets of the formulas:

.. math:: \ell_k = \tfrac w2 (y - q_k)^2, \qquad g_k = 2w c_k (f - y)(f - q_k)

with q_k an expert's prediction, f the rule's own, w the weight of the round and c_k the
confidence in the expert, in (0, 1], which AdaShare does without. t counts rounds from
1, and ζ = 1 - 1/(t+1). AdaShare, twice here and as the meta-rule, is in
definition_adashare.py.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.adashare import MIN_DIVISOR, QUICK_FADE, STEADY_FADE
from thalweg.kernels.tracker.boa import AGREEMENT as BOA_AGREEMENT
from thalweg.kernels.tracker.boa import MIN_REGRET
from thalweg.kernels.tracker.cauchy import (
    CAUCHY_DISCOUNT,
    MAX_RATIO,
    MAX_SQUARE,
    SQUARE_DISCOUNT,
    SQUARE_MEMORY,
)
from thalweg.kernels.tracker.mixture import AGREEMENT, FAST_DISCOUNT, SLOW_DISCOUNT
from thalweg.kernels.tracker.softmax import LEARNING_RATE, UNIFORM_SHARE
from thalweg.learners.tracker.definition_adashare import (
    Mask,
    adashare_weights,
    learn_adashare,
    share_weight,
)
from thalweg.types import FloatArray

IS_RULE, IS_BASE_RULE = layout.RULE_MASK > 0, layout.BASE_RULE_MASK > 0


class Mixture(NamedTuple):
    """The forecast of a round, and what it was made of."""

    forecast: float
    expert_predictions: FloatArray  # (PADDED_EXPERTS,) clipped
    rule_predictions: FloatArray  # (PADDED_RULES,) the committee's is corrected
    confidences: FloatArray  # (PADDED_EXPERTS,)
    committee: FloatArray  # (2,) its own prediction, and the correction of it
    candidates: FloatArray  # (CANDIDATES,) of the correction
    context: FloatArray  # (n + 2,)
    pool: FloatArray  # (2,) the own forecast, and the external one; 0 without one


def active_experts(s: Any, t: float) -> Mask:
    """Which experts take part in round t: an expert of memory M from round M/2 on."""
    return np.asarray(s.active_from <= t)


def expert_weights(rules: Any, active: Mask, confidence: FloatArray) -> FloatArray:
    """The weights of the experts under each rule, (RULES, PADDED_EXPERTS).

    In the kernels ``set_weights`` of mixture.py.
    """
    rows = [
        adashare_weights(rules.adashare[0], active),
        adashare_weights(rules.adashare[1], active),
        boa_weights(rules.boa, active, confidence),
        mlpoly_weights(rules.mlpoly, active, confidence),
        softmax_weights(rules.softmax[0], active, confidence),
        softmax_weights(rules.softmax[1], active, confidence),
        cauchy_weights(rules.cauchy, active, confidence),
    ]
    committee = boa_weights(rules.committee, IS_BASE_RULE, np.ones(layout.PADDED_RULES))
    return np.array([*rows, committee[: layout.BASE_RULES] @ np.array(rows)])


def rule_predictions(weights: FloatArray, q: FloatArray, active: Mask) -> FloatArray:
    r"""p_r = Σ_k w_{r,k} q_k of every rule and the committee, (PADDED_RULES,).

    Sums are taken from the lowest prediction up, so that their rounding is small
    against what the experts differ by: where all agree, so do all rules, exactly.
    """
    low = q[active].min()
    return np.asarray(low + weights[:, active] @ (q[active] - low))


def mix(predictions: FloatArray, rule_weights: FloatArray) -> float:
    """The forecast Σ_r v_r p_r, summed from the lowest prediction up."""
    low = predictions[: layout.RULES].min()
    return float(low + rule_weights @ (predictions[: layout.RULES] - low))


def learn_rules(
    rules: Any, q: FloatArray, f: FloatArray, committee_mean: float,
    confidence: FloatArray, forecast: float, y: float, w: float, t: float,
    active: Mask, active_next: Mask,
) -> float:  # fmt: skip
    """Let every rule learn that y came; f are the rules' predictions.

    ``committee_mean`` is what the committee predicted before it was corrected.

    Where all experts agree there is nothing to learn: their losses differ by the
    rounding of each rule's own sum, and scale-free rules would act on that. AdaShare
    still shares weight with experts that become active. Likewise the committee and the
    meta-rule where all rules agree, as in their first round. Returns the largest
    w(y - p)² of an active expert and of the corrected committee.
    """
    low, high = q[active].min(), q[active].max()
    if low == high:
        for rule_state in rules.adashare:
            share_weight(rule_state, active, active_next, layout.EXPERT_PRIOR, t)
    else:
        learn_base_rules(rules, q, f, confidence, y, w, t, active, active_next)
    spread = float(np.ptp(f[IS_BASE_RULE]))
    if spread > AGREEMENT * (high - low):
        learn_boa(
            rules.committee,
            IS_BASE_RULE,
            np.ones(layout.PADDED_RULES),
            layout.BASE_RULES,
            f,
            committee_mean,
            spread,
            y,
            w,
            t,
        )
    if np.ptp(f[IS_RULE]) > AGREEMENT * (high - low):
        own, loss = 0.5 * w * (y - forecast) ** 2, 0.5 * w * (y - f) ** 2
        learn_adashare(
            rules.meta, IS_RULE, IS_RULE, layout.RULE_PRIOR, own, loss, t, STEADY_FADE
        )
    largest = max((y - low) ** 2, (y - high) ** 2)
    return float(w * max(largest, (y - f[layout.COMMITTEE]) ** 2))


def learn_base_rules(
    rules: Any, q: FloatArray, f: FloatArray, confidence: FloatArray, y: float,
    w: float, t: float, active: Mask, active_next: Mask,
) -> None:  # fmt: skip
    """Let the rules over the experts learn."""
    loss, spread = 0.5 * w * (y - q) ** 2, float(np.ptp(q[active]))
    for r, fade in enumerate((STEADY_FADE, QUICK_FADE)):
        own, state = 0.5 * w * (y - f[r]) ** 2, rules.adashare[r]
        learn_adashare(
            state, active, active_next, layout.EXPERT_PRIOR, own, loss, t, fade
        )
    learn_boa(rules.boa, active, confidence, layout.EXPERTS, q, f[2], spread, y, w, t)
    learn_mlpoly(rules.mlpoly, active, 2 * w * confidence * (f[3] - y) * (f[3] - q))
    for r, discount in ((4, SLOW_DISCOUNT), (5, FAST_DISCOUNT)):
        charged = confidence * (y - q) ** 2 + (1 - confidence) * (y - f[r]) ** 2
        learn_softmax(rules.softmax[r - 4], w * charged, w, discount)
    own = (y - f[6]) ** 2
    charged = confidence * (y - q) ** 2 + (1 - confidence) * own
    learn_cauchy(rules.cauchy, charged, own, w)


# BOA: ``state`` holds weight, √V, E and rate of each expert, (4, K).


def boa_weights(state: FloatArray, active: Mask, confidence: FloatArray) -> FloatArray:
    """η_k w_k c_k, normalised; an expert without a rate takes the least of others."""
    weights, _, _, rate = state
    known = rate > 0
    lowest = rate[known].min() if known.any() else 1.0
    shares = weights * np.where(known, rate, lowest) * active
    shares = shares / shares.max() * confidence  # rates may be huge or tiny
    return np.asarray(shares / shares.sum())


def learn_boa(
    state: FloatArray, active: Mask, confidence: FloatArray, experts: int,
    q: FloatArray, f: float, spread: float, y: float, w: float, t: float,
) -> None:  # fmt: skip
    r"""Bernstein online aggregation on the regrets g, everything older fading by ζ.

    An expert that agrees with f up to a small part of ``spread``, the range of all
    predictions, has no regret: it would be rounding.

    .. math:: V_k \gets \zeta V_k + g_k^2, \quad E_k \gets \max(\zeta E_k, |g_k|), \quad
              \eta_k = \min(1/2E_k, \sqrt{\ln(K+1)/V_k}), \quad
              \ln w_k \gets \ln\pi + (\ln w_k - \ln\pi) \min(1, \eta_k/\eta'_k)
              + \eta_k g_k - (\eta_k g_k)^2

    with η' the rate before and π = 1/|active|; then 1/(t+1) of all weight is shared. V
    is a fourth power of errors, so √V is what is remembered.
    """
    ahead = np.where(abs(f - q) > BOA_AGREEMENT * spread, f - q, 0.0)
    regret = 2 * w * (f - y) * (confidence * ahead)
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


def mlpoly_weights(
    state: FloatArray, active: Mask, confidence: FloatArray
) -> FloatArray:
    r"""w_k ∝ c_k (R_k)₊ / (B + V_k), in units of √B; c_k where no R_k is positive."""
    k = len(active)
    unit = max(state[1, k], MIN_REGRET)
    regret, root_v = state[0, :k] / unit, state[1, :k] / unit
    shares = np.maximum(regret * active, 0.0) / (1 + root_v**2) * confidence
    if shares.sum() < MIN_REGRET:  # nothing, or too little to divide by
        shares = active * confidence
    return np.asarray(shares / shares.sum())


def learn_mlpoly(state: FloatArray, active: Mask, regret: FloatArray) -> None:
    r"""R_k ← R_k + g_k, V_k ← V_k + g_k², B ← max(B, max g_k²), over active experts."""
    k, regret = len(active), regret * active
    state[0, :k] += regret
    state[1, :k] = np.hypot(state[1, :k], regret)
    state[1, k] = max(state[1, k], abs(regret).max())


# Softmax: ``state`` holds a discounted loss L of each of K experts, then N.


def softmax_weights(
    state: FloatArray, active: Mask, confidence: FloatArray
) -> FloatArray:
    r"""w_k ∝ exp(-max(N, 1)(L_k - L_min) / 10 L_min); 1/1000 of it in equal parts.

    Then each counts c_k times.
    Where the best expert has no loss, an expert with any loss gets its equal part only.
    """
    loss, count = state[: len(active)], state[len(active)]
    best = loss[active].min()
    behind = np.maximum(loss - best, 0.0)
    rate = LEARNING_RATE * max(count, 1.0) / best if best > 0 else math.inf
    shares = np.where(behind > 0, np.exp(-rate * behind), 1.0) * active
    equal = active / active.sum()
    mixed = (1 - UNIFORM_SHARE) * shares / shares.sum() + UNIFORM_SHARE * equal
    return np.asarray(mixed * confidence / (mixed * confidence).sum())


def learn_softmax(
    state: FloatArray, charged: FloatArray, w: float, discount: float
) -> None:
    """L ← dL + w(c(y - q)² + (1 - c)(y - f)²), N ← dN + w, ``charged`` being the sum.

    Experts are scored before they are active.
    """
    k = len(charged)
    state[:k] = discount * state[:k] + charged
    state[k] = discount * state[k] + w


# Cauchy weights: ``state`` holds a logarithm L of each of K experts, then s² and N.


def cauchy_weights(
    state: FloatArray, active: Mask, confidence: FloatArray
) -> FloatArray:
    r"""w_k ∝ exp(-L_k); 1/1000 of it in equal parts; then each counts c_k times."""
    logs = state[: len(active)]
    shares = np.exp(np.minimum(logs[active].min() - logs, 0.0)) * active
    equal = active / active.sum()
    mixed = (1 - UNIFORM_SHARE) * shares / shares.sum() + UNIFORM_SHARE * equal
    return np.asarray(mixed * confidence / (mixed * confidence).sum())


def learn_cauchy(state: FloatArray, charged: FloatArray, own: float, w: float) -> None:
    """L ← dL + w ln(1 + e/s²), e being ``charged``; s² follows the rule's own squares.

    Experts are scored before they are active; nothing is, before s² is known.
    """
    k, square = len(charged), float(state[len(charged)])
    if square > 0:
        ratio = np.minimum(charged / max(square, MIN_DIVISOR), MAX_RATIO)
        state[:k] = CAUCHY_DISCOUNT * state[:k] + w * np.log(ratio + 1)
        own = min(own, MAX_SQUARE * square)
    state[k + 1] = SQUARE_DISCOUNT * state[k + 1] + 1
    state[k] += (own - square) / min(state[k + 1], SQUARE_MEMORY)
