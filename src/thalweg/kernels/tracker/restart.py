"""Starting anew where the world has become far smaller than what is remembered.

One label or feature of 1e12 would stay in means, moments, ranges and scales for as
long as they last: a discount of 1 - 1/M needs 55 M rounds to bring 1e24 down to 1. So
the longest step since the start, of the label and of every feature, is held against
the longest of the last rounds, and where it is out of all proportion all that may be
spoilt is begun afresh. Where it is not, nothing is changed by this. The limits were
set with the public streams in view, so that none restarts: there the longest step is at
most 15 times that of late for labels, and 320 times for features.

What stays: the last rounds, and the two AdaShares of the guarantee, over the experts
and on top, whose proof does not allow for a new start; only for more doubt.
"""

from numba import njit

from thalweg.kernels.tracker.layout import (
    EXPERTS,
    HIGH,
    LAG,
    LARGEST_LOSS,
    LONGEST_SEASON,
    LONGEST_STEP,
    LOW,
    ROUNDS,
    SCALE,
    SCORED,
    SINGLE_RULES,
    SPANS,
    STEP,
    TOTAL_WEIGHT,
)
from thalweg.kernels.tracker.past import newest, row
from thalweg.kernels.tracker.rules import adashare

EVERY = 128
"""Rounds between two looks. A look goes over the last 512 rounds."""
LABELS_OUTGROWN, FEATURES_OUTGROWN = 100.0, 1000.0
"""Times the longest step of late. Labels matter sooner: they are in every loss."""


@njit(cache=True)
def note_steps(longest, u):
    """Remember the longest step of every feature, (n,)."""
    for j in range(longest.size):
        longest[j] = max(longest[j], abs(u[j, STEP]))


@njit(cache=True)
def restart_if_outgrown(s, votes, late):
    """To be called after every round; ``late`` is room for (n,)."""
    clock = s.clock
    if clock[ROUNDS] < LONGEST_SEASON or clock[ROUNDS] % EVERY != 0:
        return
    low, high, step = _labels_of_late(clock, s.past_y)
    _steps_of_late(clock, s.past_x, late)
    outgrown = 0 < step * LABELS_OUTGROWN < clock[LONGEST_STEP]
    for j in range(late.size):  # a feature at rest may yet move as it did
        if 0 < late[j] * FEATURES_OUTGROWN < s.longest[j]:
            outgrown = True
    if outgrown:
        clock[LOW], clock[HIGH], clock[LONGEST_STEP] = low, high, step
        s.longest[:] = late
        clock[LAG], clock[TOTAL_WEIGHT] = 1, 0.0
        clock[SCALE], clock[SCORED] = 0.0, 0.0
        s.unlike[:] = 0.0
        s.recent[:] = 0.0
        _forget_fits(s.experts, s.past_x[row(clock, 1)], s.past_y[newest(clock)])
        _forget_regrets(s.rules)
        largest = clock[LARGEST_LOSS]
        adashare.doubt(s.rules.adashare[0], votes.following, largest)
        adashare.doubt(s.rules.top, votes.all_rules, largest)


@njit(cache=True)
def _labels_of_late(clock, past_y):
    """The lowest, the highest, and the longest step between two."""
    start = newest(clock)
    low, high, step = past_y[start], past_y[start], 0.0
    for i in range(start + 1, start + LONGEST_SEASON):
        low, high = min(low, past_y[i]), max(high, past_y[i])
        step = max(step, abs(past_y[i] - past_y[i - 1]))
    return low, high, step


@njit(cache=True)
def _steps_of_late(clock, past_x, late):
    """The longest step of every feature."""
    late[:] = 0.0
    for lag in range(1, LONGEST_SEASON):
        after, before = row(clock, lag), row(clock, lag + 1)
        for j in range(late.size):
            late[j] = max(late[j], abs(past_x[after, j] - past_x[before, j]))


@njit(cache=True)
def _forget_fits(known, last_x, last_y):
    """As after a first round: every expert says the last label."""
    known.weight[:] = 0.0
    for g in range(SPANS):
        known.mean[: last_x.size, g] = last_x
        known.mean[last_x.size :, g] = last_y
    known.centre[:] = 0.0
    known.spread[:] = 0.0
    known.moments[:] = 0.0
    known.pulled[:] = 0.0
    known.unpulled[:] = 0.0
    known.labelled[:] = 0.0


@njit(cache=True)
def _forget_regrets(rules):
    """The rules of which nothing is proven, as before their first round."""
    rules.adashare[1, :EXPERTS] = 1 / EXPERTS
    rules.adashare[1, EXPERTS:] = 0.0
    rules.boa[0] = 1 / EXPERTS
    rules.boa[1:] = 0.0
    rules.mlpoly[:] = 0.0
    rules.softmax[:] = 0.0
    rules.committee[0] = 1 / SINGLE_RULES
    rules.committee[1:] = 0.0
