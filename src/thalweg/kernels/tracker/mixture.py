r"""From the predictions of the experts to one forecast, in three layers.

1. Six base rules weigh the experts: AdaShare (twice: steady and quick), BOA, ML-Poly,
   softmax (twice: slow and fast).
2. A committee weighs the base rules by BOA.
3. The meta-rule weighs all seven by AdaShare.

.. math:: p_r = \sum_k w_{r,k} q_k, \quad \hat y = \sum_r v_r p_r
"""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import (
    WIDTH,
    broadcast,
    fma,
    load,
    maximum,
    minimum,
    reduce_max,
    reduce_min,
    reduce_sum,
    select_greater,
    store,
)
from thalweg.kernels.tracker import adashare, boa, mlpoly, softmax
from thalweg.kernels.tracker.tracker_layout import BASE_RULES, COMMITTEE, EXPERTS, RULES

SLOW_DISCOUNT, FAST_DISCOUNT = 0.999, 0.99
"""Discounts of the two softmax rules."""
AGREEMENT = 1e-12
"""Rules whose predictions differ by less, in units of the range of the experts', agree:
the difference is rounding."""


@inline_function
def set_weights(states, workspace):
    """Set ``expert_weights`` and ``rule_weights`` of the coming round.

    ``states`` and ``workspace`` are those of the rules.
    """
    active, expert_weights = workspace.active, workspace.expert_weights
    rule_weights = workspace.rule_weights
    adashare.set_weights(states.adashare[0], active, expert_weights[0])
    adashare.set_weights(states.adashare[1], active, expert_weights[1])
    boa.set_weights(states.boa, active, expert_weights[2])
    mlpoly.set_weights(states.mlpoly, active, expert_weights[3])
    softmax.set_weights(states.softmax[0], active, expert_weights[4])
    softmax.set_weights(states.softmax[1], active, expert_weights[5])
    boa.set_weights(states.committee, workspace.base_rule_mask, rule_weights)
    combine_weights(rule_weights, expert_weights, BASE_RULES, expert_weights[COMMITTEE])
    adashare.set_weights(states.meta, workspace.rule_mask, rule_weights)


@inner_function
def mix(predictions, active, expert_weights, rule_weights, rule_predictions):
    """Set ``rule_predictions``, p_r = Σ_k w_rk q_k; returns the forecast Σ_r v_r p_r.

    Sums are taken from the lowest prediction up, p_r = q_min + Σ_k w_rk (q_k - q_min),
    so that their rounding is small against the range of the predictions: where all
    experts agree, so do all rules, exactly.
    """
    low, _ = prediction_range(predictions, active)
    forecast = 0.0
    for r in range(RULES):
        sums = broadcast(0.0)
        for k in range(0, predictions.size, WIDTH):
            sums = fma(load(expert_weights, (r, k)), load(predictions, k) - low, sums)
        above_low = reduce_sum(sums)
        rule_predictions[r] = low + above_low
        forecast += rule_weights[r] * above_low
    return low + forecast


@inner_function
def prediction_range(predictions, active):
    """The lowest and the highest prediction of the active: min q_k and max q_k."""
    low, high = broadcast(math.inf), broadcast(-math.inf)
    for k in range(0, predictions.size, WIDTH):
        is_active, here = load(active, k), load(predictions, k)
        low = minimum(low, select_greater(is_active, 0.0, here, math.inf))
        high = maximum(high, select_greater(is_active, 0.0, here, -math.inf))
    return reduce_min(low), reduce_max(high)


@inline_function
def learn(states, workspace, forecast, y, w, t):
    """Let every rule, the committee and the meta-rule learn the label of round ``t``.

    Where all experts agree nothing is to be learnt: their losses differ by the
    rounding of each rule's own sum, and scale-free rules would act on that. Likewise
    the committee and the meta-rule where all rules agree, as in their first round.
    Returns the largest w(y - q)² of an active expert.
    """
    predictions, active = workspace.expert_predictions, workspace.active
    active_next, rule_mask = workspace.active_next, workspace.rule_mask
    rule_predictions, losses = workspace.rule_predictions, workspace.losses
    low, high = prediction_range(predictions, active)
    if low == high:
        adashare.share_weight(states.adashare[0], active, active_next, t)
        adashare.share_weight(states.adashare[1], active, active_next, t)
        return w * (y - low) ** 2
    lowest = adashare.set_losses(predictions, active, y, w, losses)
    for i, fade in enumerate((adashare.STEADY_FADE, adashare.QUICK_FADE)):
        own, rule_state = 0.5 * w * (y - rule_predictions[i]) ** 2, states.adashare[i]
        adashare.learn(rule_state, active, active_next, own, losses, lowest, t, fade)
    boa.learn(states.boa, predictions, active, EXPERTS, rule_predictions[2], y, w, t)
    mlpoly.learn(states.mlpoly, predictions, active, rule_predictions[3], y, w)
    softmax.learn(states.softmax[0], predictions, SLOW_DISCOUNT, y, w)
    softmax.learn(states.softmax[1], predictions, FAST_DISCOUNT, y, w)
    first, last = prediction_range(rule_predictions, rule_mask)
    if last - first > AGREEMENT * (high - low):
        mask, mean = workspace.base_rule_mask, rule_predictions[COMMITTEE]
        boa.learn(states.committee, rule_predictions, mask, BASE_RULES, mean, y, w, t)
        lowest = adashare.set_losses(rule_predictions, rule_mask, y, w, losses)
        own, fade = 0.5 * w * (y - forecast) ** 2, adashare.STEADY_FADE
        adashare.learn(states.meta, rule_mask, rule_mask, own, losses, lowest, t, fade)
    return w * max((y - low) ** 2, (y - high) ** 2)


@inner_function
def combine_weights(rule_weights, expert_weights, rules, out):
    """Set the weight of every expert in a mean of the first ``rules`` rules.

    out_k = Σ_r v_r w_rk.
    """
    for k in range(0, out.size, WIDTH):
        weight = broadcast(0.0)
        for r in range(rules):
            weight = fma(rule_weights[r], load(expert_weights, (r, k)), weight)
        store(out, k, weight)
