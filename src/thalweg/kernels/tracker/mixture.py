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
    COMMITTEE,
    EXPERTS,
    RULES,
    SINGLE_RULES,
)
from thalweg.kernels.tracker.rules import adashare, boa, mlpoly, softmax

SLOW, FAST = 0.999, 0.99
"""Discounts of the two softmax rules."""
ROUNDING = 1e-12
"""Rules that differ by less, in units of what the experts differ by, agree."""


@inline_function
def weigh(rules, votes):
    """Fill ``votes.shares`` and ``votes.top`` with the weights of the coming round."""
    active, shares, top = votes.active, votes.shares, votes.top
    adashare.weigh(rules.adashare[0], active, shares[0])
    adashare.weigh(rules.adashare[1], active, shares[1])
    boa.weigh(rules.boa, active, shares[2])
    mlpoly.weigh(rules.mlpoly, active, shares[3])
    softmax.weigh(rules.softmax[0], active, shares[4])
    softmax.weigh(rules.softmax[1], active, shares[5])
    boa.weigh(rules.committee, votes.singles, top)
    combine(top, shares, SINGLE_RULES, shares[COMMITTEE])
    adashare.weigh(rules.top, votes.every, top)


@inner_function
def mix(said, active, shares, top, mixes):
    """Fill ``mixes``, what each rule says; returns the forecast.

    Sums are taken from the lowest prediction up, so that their rounding is small
    against what the experts differ by: where all agree, so do all mixes, exactly.
    """
    low, _ = span(said, active)
    forecast = 0.0
    for r in range(RULES):
        sums = spread(0.0)
        for k in range(0, said.size, WIDTH):
            sums = fused(load(shares, (r, k)), load(said, k) - low, sums)
        above_low = total(sums)
        mixes[r] = low + above_low
        forecast += top[r] * above_low
    return low + forecast


@inner_function
def span(said, active):
    """The lowest and the highest prediction of those that vote."""
    low, high = spread(math.inf), spread(-math.inf)
    for k in range(0, said.size, WIDTH):
        votes, here = load(active, k), load(said, k)
        low = smaller(low, above(votes, 0.0, here, math.inf))
        high = larger(high, above(votes, 0.0, here, -math.inf))
    return least(low), most(high)


@inline_function
def learn(rules, votes, forecast, y, w, t):
    """Let every rule, and the rule on top, learn the label of round ``t``.

    Where all experts agree nothing is to be learnt: their losses differ by the
    rounding of each rule's own sum, and scale-free rules would act on that. Likewise
    the rule on top where all rules agree, as in their first round.
    Returns the largest w(y - q)² of an expert that votes.
    """
    said, active, mixes, loss = votes.said, votes.active, votes.mixes, votes.loss
    following, every = votes.following, votes.every
    low, high = span(said, active)
    if low == high:
        adashare.share(rules.adashare[0], active, following, t)
        adashare.share(rules.adashare[1], active, following, t)
        return w * (y - low) ** 2
    lowest = adashare.losses(said, active, y, w, loss)
    for i, fade in enumerate((adashare.STEADY, adashare.QUICK)):
        own, memo = 0.5 * w * (y - mixes[i]) ** 2, rules.adashare[i]
        adashare.learn(memo, active, following, own, loss, lowest, t, fade)
    boa.learn(rules.boa, said, active, EXPERTS, mixes[2], y, w, t)
    mlpoly.learn(rules.mlpoly, said, active, mixes[3], y, w)
    softmax.learn(rules.softmax[0], said, SLOW, y, w)
    softmax.learn(rules.softmax[1], said, FAST, y, w)
    first, last = span(mixes, every)
    if last - first > ROUNDING * (high - low):
        single, mixed = votes.singles, mixes[COMMITTEE]
        boa.learn(rules.committee, mixes, single, SINGLE_RULES, mixed, y, w, t)
        lowest, steady = adashare.losses(mixes, every, y, w, loss), adashare.STEADY
        own = 0.5 * w * (y - forecast) ** 2
        adashare.learn(rules.top, every, every, own, loss, lowest, t, steady)
    return w * max((y - low) ** 2, (y - high) ** 2)


@inner_function
def combine(outer, shares, rules, out):
    """The weight of every expert, where rules weigh the experts and ``outer`` them."""
    for k in range(0, out.size, WIDTH):
        weight = spread(0.0)
        for r in range(rules):
            weight = fused(outer[r], load(shares, (r, k)), weight)
        store(out, k, weight)
