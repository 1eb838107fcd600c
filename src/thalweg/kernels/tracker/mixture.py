r"""From the predictions of the experts to one forecast, in three layers.

1. Seven base rules weigh the experts: AdaShare (twice: steady and quick), BOA, ML-Poly,
   softmax (twice: slow and fast), Cauchy weights.
2. A committee weighs the base rules by BOA; it is corrected for curvature
   (curvature.py).
3. The meta-rule weighs all eight by AdaShare.

.. math:: p_r = \sum_k w_{r,k} q_k, \quad \hat y = \sum_r v_r p_r
"""

import math

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import (
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
from thalweg.kernels.tracker import adashare, boa, cauchy, mlpoly, softmax
from thalweg.kernels.tracker import tracker_layout as layout

SLOW_DISCOUNT, FAST_DISCOUNT = 0.999, 0.99
"""Discounts of the two softmax rules."""
AGREEMENT = 1e-12
"""Rules whose predictions differ by less, in units of the range of the experts', agree:
the difference is rounding."""


@inline_function
def set_weights(states, workspace, confidence):
    """Set ``expert_weights`` and ``rule_weights`` of the coming round.

    ``states`` and ``workspace`` are those of the rules.
    """
    active, expert_weights = workspace.active, workspace.expert_weights
    rule_weights = workspace.rule_weights
    adashare.set_weights(states.adashare[0], active, expert_weights[0])
    adashare.set_weights(states.adashare[1], active, expert_weights[1])
    boa.set_weights(states.boa, active, confidence, expert_weights[2])
    mlpoly.set_weights(states.mlpoly, active, confidence, expert_weights[3])
    softmax.set_weights(states.softmax[0], active, confidence, expert_weights[4])
    softmax.set_weights(states.softmax[1], active, confidence, expert_weights[5])
    cauchy.set_weights(states.cauchy, active, confidence, expert_weights[6])
    mask, trust = workspace.base_rule_mask, workspace.full_confidence
    boa.set_weights(states.committee, mask, trust, rule_weights)
    combine_weights(
        rule_weights,
        expert_weights,
        layout.BASE_RULES,
        expert_weights[layout.COMMITTEE],
    )
    adashare.set_weights(states.meta, workspace.rule_mask, rule_weights)


@inner_function
def set_rule_predictions(predictions, active, expert_weights, rule_predictions):
    """Set ``rule_predictions``, p_r = Σ_k w_rk q_k; the last is the committee's.

    Sums are taken from the lowest prediction up, p_r = q_min + Σ_k w_rk (q_k - q_min),
    so that their rounding is small against the range of the predictions: where all
    experts agree, so do all rules, exactly.
    """
    low, _ = prediction_range(predictions, active)
    for r in range(layout.RULES):
        sums = broadcast(0.0)
        for k in range(0, predictions.size, WIDTH):
            sums = fma(load(expert_weights, (r, k)), load(predictions, k) - low, sums)
        rule_predictions[r] = low + reduce_sum(sums)


@inner_function
def mix(rule_predictions, rule_weights):
    """The forecast Σ_r v_r p_r; as above it is summed from the lowest prediction up."""
    low = rule_predictions[0]
    for r in range(1, layout.RULES):
        low = min(low, rule_predictions[r])
    forecast = 0.0
    for r in range(layout.RULES):
        forecast += rule_weights[r] * (rule_predictions[r] - low)
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
def learn(states, workspace, committee_mean, forecast, y, w, t):
    """Let every rule, the committee and the meta-rule learn the label of round ``t``.

    ``committee_mean`` is what the committee predicted before it was corrected.
    Where all experts agree nothing is to be learnt: their losses differ by the
    rounding of each rule's own sum, and scale-free rules would act on that. Likewise
    the committee and the meta-rule where all rules agree, as in their first round.
    Returns the largest w(y - p)² of an active expert and of the corrected committee.
    """
    predictions, active = workspace.expert_predictions, workspace.active
    low, high = prediction_range(predictions, active)
    if low == high:
        share_expert_weights(states.adashare, workspace, t)
    else:
        _learn_base_rules(states, workspace, high - low, y, w, t)
    rule_predictions, losses = workspace.rule_predictions, workspace.losses
    mask, trust = workspace.base_rule_mask, workspace.full_confidence
    first, last = prediction_range(rule_predictions, mask)
    if last - first > AGREEMENT * (high - low):
        boa.learn(
            states.committee,
            rule_predictions,
            mask,
            trust,
            layout.BASE_RULES,
            committee_mean,
            last - first,
            y,
            w,
            t,
        )
    mask = workspace.rule_mask
    first, last = prediction_range(rule_predictions, mask)
    if last - first > AGREEMENT * (high - low):
        lowest = adashare.set_losses(rule_predictions, mask, y, w, losses)
        own, fade = 0.5 * w * (y - forecast) ** 2, adashare.STEADY_FADE
        adashare.learn(
            states.meta, mask, mask, layout.RULE_PRIOR, own, losses, lowest, t, fade,
            workspace.posterior,
        )  # fmt: skip
    largest = max((y - low) ** 2, (y - high) ** 2)
    return w * max(largest, (y - rule_predictions[layout.COMMITTEE]) ** 2)


@inline_function
def share_expert_weights(rule_states, workspace, t):
    """Let both AdaShares share weight with the experts that become active."""
    active, active_next = workspace.active, workspace.active_next
    adashare.share_weight(rule_states[0], active, active_next, layout.EXPERT_PRIOR, t)
    adashare.share_weight(rule_states[1], active, active_next, layout.EXPERT_PRIOR, t)


@inline_function
def _learn_base_rules(states, workspace, spread, y, w, t):
    """Let the rules over the experts learn; ``spread`` is the experts' range."""
    predictions, active = workspace.expert_predictions, workspace.active
    active_next, means = workspace.active_next, workspace.rule_predictions
    losses, confidence = workspace.losses, workspace.confidences
    lowest = adashare.set_losses(predictions, active, y, w, losses)
    for i, fade in enumerate((adashare.STEADY_FADE, adashare.QUICK_FADE)):
        own, rule_state = 0.5 * w * (y - means[i]) ** 2, states.adashare[i]
        adashare.learn(
            rule_state,
            active,
            active_next,
            layout.EXPERT_PRIOR,
            own,
            losses,
            lowest,
            t,
            fade,
            workspace.posterior,
        )
    boa.learn(
        states.boa,
        predictions,
        active,
        confidence,
        layout.EXPERTS,
        means[2],
        spread,
        y,
        w,
        t,
    )
    mlpoly.learn(states.mlpoly, predictions, active, confidence, means[3], y, w)
    for i, discount in enumerate((SLOW_DISCOUNT, FAST_DISCOUNT)):
        rule_state, mean = states.softmax[i], means[4 + i]
        softmax.learn(rule_state, predictions, confidence, discount, mean, y, w)
    cauchy.learn(states.cauchy, predictions, confidence, means[6], y, w)


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
