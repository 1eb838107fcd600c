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

from thalweg.kernels.jit import inline_function
from thalweg.kernels.tracker.late import disown
from thalweg.kernels.tracker.layout import (
    EXPERTS,
    HIGH,
    LARGEST_LOSS,
    LEVELS,
    LONGEST_SEASON,
    LONGEST_STEP,
    LOW,
    ROUNDS,
    SCALE,
    SCORED,
    SEATS,
    SINGLE_RULES,
    STEP,
    TOTAL_WEIGHT,
)
from thalweg.kernels.tracker.past import newest, row
from thalweg.kernels.tracker.rules import adashare
from thalweg.kernels.tracker.season import forget_season

EVERY = 128
"""Rounds between two looks. A look goes over the last 512 rounds."""
LABELS_OUTGROWN, FEATURES_OUTGROWN = 100.0, 1000.0
"""Times the longest step of late. Labels matter sooner: they are in every loss."""


@inline_function
def note_steps(longest, u):
    """Remember the longest step of every feature, (n,)."""
    for j in range(longest.size):
        longest[j] = max(longest[j], abs(u[j, STEP]))


@inline_function
def is_time(clock):
    """Whether to look: now and then, once the last rounds are all there."""
    rounds = int(clock[ROUNDS])
    return rounds >= LONGEST_SEASON and rounds % EVERY == 0


@inline_function
def restart_if_outgrown(s, votes, late):
    """To be called when it ``is_time``; ``late`` is room for (n,)."""
    clock = s.clock
    low, high, step = _labels_of_late(clock, s.past_y)
    _steps_of_late(clock, s.past_x, late)
    outgrown = 0 < step * LABELS_OUTGROWN < clock[LONGEST_STEP]
    for j in range(late.size):  # a feature at rest may yet move as it did
        if 0 < late[j] * FEATURES_OUTGROWN < s.longest[j]:
            outgrown = True
    if outgrown:
        clock[LOW], clock[HIGH], clock[LONGEST_STEP] = low, high, step
        for j in range(late.size):
            s.longest[j] = late[j]
        clock[TOTAL_WEIGHT] = 0.0
        clock[SCALE], clock[SCORED] = 0.0, 0.0
        forget_season(clock, s.unlike, s.per_count)
        s.recent.fill(0.0)
        disown(s.pending)
        _forget_fits(s.experts, s.past_x[row(clock, 1)], s.past_y[newest(clock)])
        _forget_regrets(s.rules)
        largest = clock[LARGEST_LOSS]
        adashare.doubt(s.rules.adashare[0], votes.following, largest)
        adashare.doubt(s.rules.top, votes.every, largest)


@inline_function
def _labels_of_late(clock, past_y):
    """The lowest, the highest, and the longest step between two."""
    start = newest(clock)
    low, high, step = past_y[start], past_y[start], 0.0
    for i in range(start + 1, start + LONGEST_SEASON):
        low, high = min(low, past_y[i]), max(high, past_y[i])
        step = max(step, abs(past_y[i] - past_y[i - 1]))
    return low, high, step


@inline_function
def _steps_of_late(clock, past_x, late):
    """The longest step of every feature."""
    late.fill(0.0)
    for lag in range(1, LONGEST_SEASON):
        after, before = row(clock, lag), row(clock, lag + 1)
        for j in range(late.size):
            late[j] = max(late[j], abs(past_x[after, j] - past_x[before, j]))


# ``fill`` throughout: assigning to slices takes the compiler seconds.
@inline_function
def _forget_fits(known, last_x, last_y):
    """As after a first round: every expert says the last label."""
    known.mean.fill(0.0)
    for lane in range(LEVELS):
        for j in range(len(known.mean)):
            known.mean[j, lane] = last_x[j] if j < last_x.size else last_y
    known.weight.fill(0.0)
    known.centre.fill(0.0)
    known.spread.fill(0.0)
    known.moments.fill(0.0)
    known.pulled.fill(0.0)
    known.unpulled.fill(0.0)
    known.labelled.fill(0.0)


@inline_function
def _forget_regrets(rules):
    """The rules of which nothing is proven, as before their first round."""
    quick = rules.adashare[1]
    quick.fill(0.0)
    rules.boa.fill(0.0)
    for k in range(SEATS):
        quick[k], rules.boa[0, k] = 1 / EXPERTS, 1 / EXPERTS
    rules.mlpoly.fill(0.0)
    rules.softmax.fill(0.0)
    rules.committee.fill(0.0)
    for k in range(SINGLE_RULES):
        rules.committee[0, k] = 1 / SINGLE_RULES
