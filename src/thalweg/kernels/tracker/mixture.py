"""From what the experts say to one forecast: rules, their committee, one on top."""

import math

from numba import njit

from thalweg.kernels.tracker.layout import COMMITTEE, RULES, SINGLE_RULES
from thalweg.kernels.tracker.rules import adashare, boa, mlpoly, softmax

SLOW, FAST = 0.999, 0.99
"""Discounts of the two softmax rules."""
ROUNDING = 1e-12
"""Rules that differ by less, in units of what the experts differ by, agree."""


@njit(cache=True)
def weigh(rules, votes):
    """Fill ``votes.shares`` and ``votes.top`` with the weights of the coming round."""
    active, shares, top = votes.active, votes.shares, votes.top
    adashare.weigh(rules.adashare[0], active, shares[0])
    adashare.weigh(rules.adashare[1], active, shares[1])
    boa.weigh(rules.boa, active, shares[2])
    mlpoly.weigh(rules.mlpoly, active, shares[3])
    softmax.weigh(rules.softmax[0], active, shares[4])
    softmax.weigh(rules.softmax[1], active, shares[5])
    boa.weigh(rules.committee, votes.all_rules[:SINGLE_RULES], top)
    combine(top, shares[:SINGLE_RULES], shares[COMMITTEE])
    adashare.weigh(rules.top, votes.all_rules, top)


@njit(cache=True)
def mix(said, active, shares, top, mixes):
    """Fill ``mixes``, what each rule says; returns the forecast.

    Sums are taken from the lowest prediction up, so that their rounding is small
    against what the experts differ by: where all agree, so do all mixes, exactly.
    """
    low, _ = span(said, active)
    forecast = 0.0
    for r in range(RULES):
        above = 0.0
        for k in range(said.size):
            above += shares[r, k] * (said[k] - low)
        mixes[r] = low + above
        forecast += top[r] * above
    return low + forecast


@njit(cache=True)
def span(said, active):
    """The lowest and the highest prediction of those that vote."""
    low, high = math.inf, -math.inf
    for k in range(said.size):
        if active[k] > 0:
            low, high = min(low, said[k]), max(high, said[k])
    return low, high


@njit(cache=True)
def learn(rules, votes, forecast, y, w, t):
    """Let every rule, and the rule on top, learn the label of round ``t``.

    Where all experts agree nothing is to be learnt: their losses differ by the
    rounding of each rule's own sum, and scale-free rules would act on that. Likewise
    the rule on top where all rules agree, as in their first round.
    Returns the largest w(y - q)² of an expert that votes.
    """
    said, active, mixes, loss = votes.said, votes.active, votes.mixes, votes.loss
    following, every = votes.following, votes.all_rules
    low, high = span(said, active)
    if low == high:
        adashare.share(rules.adashare[0], active, following, t)
        adashare.share(rules.adashare[1], active, following, t)
        return w * (y - low) ** 2
    for i, fade in enumerate((adashare.STEADY, adashare.QUICK)):
        memo = rules.adashare[i]
        adashare.learn(memo, said, active, following, mixes[i], y, w, t, fade, loss)
    boa.learn(rules.boa, said, active, mixes[2], y, w, t)
    mlpoly.learn(rules.mlpoly, said, active, mixes[3], y, w)
    softmax.learn(rules.softmax[0], said, SLOW, y, w)
    softmax.learn(rules.softmax[1], said, FAST, y, w)
    lowest, highest = span(mixes, every)
    if highest - lowest > ROUNDING * (high - low):
        single = every[:SINGLE_RULES]
        boa.learn(rules.committee, mixes, single, mixes[COMMITTEE], y, w, t)
        steady = adashare.STEADY
        adashare.learn(rules.top, mixes, every, every, forecast, y, w, t, steady, loss)
    return w * max((y - low) ** 2, (y - high) ** 2)


@njit(cache=True)
def combine(outer, shares, out):
    """The weight of every expert, where rules weigh the experts and ``outer`` them."""
    out[:] = 0.0
    for r in range(len(shares)):
        for k in range(out.size):
            out[k] += outer[r] * shares[r, k]
