"""From what the experts say to one forecast: rules, their committee, one on top."""

import math

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import (
    WIDTH,
    above,
    fused,
    larger,
    least,
    load,
    most,
    smaller,
    spread,
    store,
    total,
)
from thalweg.kernels.tracker.layout import (
    BASE_RULES,
    COMMITTEE,
    EXPERTS,
    RULES,
)
from thalweg.kernels.tracker.rules import adashare, boa, mlpoly, softmax

SLOW, FAST = 0.999, 0.99
"""Discounts of the two softmax rules."""
ROUNDING = 1e-12
"""Rules that differ by less, in units of what the experts differ by, agree."""


@inline_function
def set_weights(rules, rule_workspace):
    """Fill ``votes.shares`` and ``votes.top`` with the weights of the coming round."""
    active, expert_weights, rule_weights = (
        rule_workspace.active,
        rule_workspace.expert_weights,
        rule_workspace.rule_weights,
    )
    adashare.set_weights(rules.adashare[0], active, expert_weights[0])
    adashare.set_weights(rules.adashare[1], active, expert_weights[1])
    boa.set_weights(rules.boa, active, expert_weights[2])
    mlpoly.set_weights(rules.mlpoly, active, expert_weights[3])
    softmax.set_weights(rules.softmax[0], active, expert_weights[4])
    softmax.set_weights(rules.softmax[1], active, expert_weights[5])
    boa.set_weights(rules.committee, rule_workspace.base_rule_mask, rule_weights)
    combine_weights(rule_weights, expert_weights, BASE_RULES, expert_weights[COMMITTEE])
    adashare.set_weights(rules.meta, rule_workspace.rule_mask, rule_weights)


@inner_function
def mix(expert_predictions, active, expert_weights, rule_weights, rule_predictions):
    """Fill ``rule_predictions``, what each rule says; returns the forecast.

    Sums are taken from the lowest prediction up, so that their rounding is small
    against what the experts differ by: where all agree, so do all mixes, exactly.
    """
    low, _ = prediction_range(expert_predictions, active)
    forecast = 0.0
    for r in range(RULES):
        expert_workspace = spread(0.0)
        for k in range(0, expert_predictions.size, WIDTH):
            expert_workspace = fused(
                load(expert_weights, (r, k)),
                load(expert_predictions, k) - low,
                expert_workspace,
            )
        above_low = total(expert_workspace)
        rule_predictions[r] = low + above_low
        forecast += rule_weights[r] * above_low
    return low + forecast


@inner_function
def prediction_range(expert_predictions, active):
    """The lowest and the highest prediction of those that vote."""
    low, high = spread(math.inf), spread(-math.inf)
    for k in range(0, expert_predictions.size, WIDTH):
        rule_workspace, here = load(active, k), load(expert_predictions, k)
        low = smaller(low, above(rule_workspace, 0.0, here, math.inf))
        high = larger(high, above(rule_workspace, 0.0, here, -math.inf))
    return least(low), most(high)


@inline_function
def learn(rules, rule_workspace, forecast, y, w, t):
    """Let every rule, and the rule on top, learn the label of round ``t``.

    Where all experts agree nothing is to be learnt: their losses differ by the
    rounding of each rule's own sum, and scale-free rules would act on that. Likewise
    the rule on top where all rules agree, as in their first round.
    Returns the largest w(y - q)² of an expert that votes.
    """
    expert_predictions, active, rule_predictions, losses = (
        rule_workspace.expert_predictions,
        rule_workspace.active,
        rule_workspace.rule_predictions,
        rule_workspace.losses,
    )
    active_next, rule_mask = rule_workspace.active_next, rule_workspace.rule_mask
    low, high = prediction_range(expert_predictions, active)
    if low == high:
        adashare.share(rules.adashare[0], active, active_next, t)
        adashare.share(rules.adashare[1], active, active_next, t)
        return w * (y - low) ** 2
    lowest = adashare.set_losses(expert_predictions, active, y, w, losses)
    for i, fade in enumerate((adashare.STEADY, adashare.QUICK)):
        own, rule_state = 0.5 * w * (y - rule_predictions[i]) ** 2, rules.adashare[i]
        adashare.learn(rule_state, active, active_next, own, losses, lowest, t, fade)
    boa.learn(
        rules.boa, expert_predictions, active, EXPERTS, rule_predictions[2], y, w, t
    )
    mlpoly.learn(rules.mlpoly, expert_predictions, active, rule_predictions[3], y, w)
    softmax.learn(rules.softmax[0], expert_predictions, SLOW, y, w)
    softmax.learn(rules.softmax[1], expert_predictions, FAST, y, w)
    first, last = prediction_range(rule_predictions, rule_mask)
    if last - first > ROUNDING * (high - low):
        single, mixed = rule_workspace.base_rule_mask, rule_predictions[COMMITTEE]
        boa.learn(rules.committee, rule_predictions, single, BASE_RULES, mixed, y, w, t)
        lowest, steady = (
            adashare.set_losses(rule_predictions, rule_mask, y, w, losses),
            adashare.STEADY,
        )
        own = 0.5 * w * (y - forecast) ** 2
        adashare.learn(rules.meta, rule_mask, rule_mask, own, losses, lowest, t, steady)
    return w * max((y - low) ** 2, (y - high) ** 2)


@inner_function
def combine_weights(outer, expert_weights, rules, out):
    """The weight of every expert, where rules weigh the experts and ``outer`` them."""
    for k in range(0, out.size, WIDTH):
        weight = spread(0.0)
        for r in range(rules):
            weight = fused(outer[r], load(expert_weights, (r, k)), weight)
        store(out, k, weight)
