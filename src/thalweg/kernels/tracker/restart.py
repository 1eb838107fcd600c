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
from thalweg.kernels.tracker.late import invalidate_pending
from thalweg.kernels.tracker.layout import (
    BASE_RULES,
    ERROR_COUNT,
    ERROR_SCALE,
    EXPERTS,
    HIGHEST_LABEL,
    LEVEL_LANES,
    LOWEST_LABEL,
    MAX_LABEL_STEP,
    MAX_LOSS,
    MAX_SEASON,
    PADDED_EXPERTS,
    ROUNDS,
    STEP_LANE,
    TOTAL_WEIGHT,
)
from thalweg.kernels.tracker.past import newest, row
from thalweg.kernels.tracker.rules import adashare
from thalweg.kernels.tracker.season import reset_season

EVERY = 128
"""Rounds between two looks. A look goes over the last 512 rounds."""
LABELS_OUTGROWN, FEATURES_OUTGROWN = 100.0, 1000.0
"""Times the longest step of late. Labels matter sooner: they are in every loss."""


@inline_function
def note_steps(max_feature_steps, u):
    """Remember the longest step of every feature, (n,)."""
    for j in range(max_feature_steps.size):
        max_feature_steps[j] = max(max_feature_steps[j], abs(u[j, STEP_LANE]))


@inline_function
def is_time(counters):
    """Whether to look: now and then, once the last rounds are all there."""
    rounds = int(counters[ROUNDS])
    return rounds >= MAX_SEASON and rounds % EVERY == 0


@inline_function
def restart_if_outgrown(s, rule_workspace, recent_steps):
    """To be called when it ``is_time``; ``recent_steps`` is room for (n,)."""
    counters = s.counters
    low, high, step = _labels_of_late(counters, s.past_y)
    _steps_of_late(counters, s.past_x, recent_steps)
    outgrown = 0 < step * LABELS_OUTGROWN < counters[MAX_LABEL_STEP]
    for j in range(recent_steps.size):  # a feature at rest may yet move as it did
        if 0 < recent_steps[j] * FEATURES_OUTGROWN < s.max_feature_steps[j]:
            outgrown = True
    if outgrown:
        counters[LOWEST_LABEL], counters[HIGHEST_LABEL], counters[MAX_LABEL_STEP] = (
            low,
            high,
            step,
        )
        for j in range(recent_steps.size):
            s.max_feature_steps[j] = recent_steps[j]
        counters[TOTAL_WEIGHT] = 0.0
        counters[ERROR_SCALE], counters[ERROR_COUNT] = 0.0, 0.0
        reset_season(counters, s.season_differences, s.inverse_counts)
        s.recent_errors.fill(0.0)
        invalidate_pending(s.pending)
        _forget_fits(s.experts, s.past_x[row(counters, 1)], s.past_y[newest(counters)])
        _forget_regrets(s.rules)
        largest = counters[MAX_LOSS]
        adashare.raise_loss_scale(
            s.rules.adashare[0], rule_workspace.active_next, largest
        )
        adashare.raise_loss_scale(s.rules.meta, rule_workspace.rule_mask, largest)


@inline_function
def _labels_of_late(counters, past_y):
    """The lowest, the highest, and the longest step between two."""
    start = newest(counters)
    low, high, step = past_y[start], past_y[start], 0.0
    for i in range(start + 1, start + MAX_SEASON):
        low, high = min(low, past_y[i]), max(high, past_y[i])
        step = max(step, abs(past_y[i] - past_y[i - 1]))
    return low, high, step


@inline_function
def _steps_of_late(counters, past_x, recent_steps):
    """The longest step of every feature."""
    recent_steps.fill(0.0)
    for lag in range(1, MAX_SEASON):
        after, before = row(counters, lag), row(counters, lag + 1)
        for j in range(recent_steps.size):
            recent_steps[j] = max(
                recent_steps[j], abs(past_x[after, j] - past_x[before, j])
            )


# ``fill`` throughout: assigning to slices takes the compiler seconds.
@inline_function
def _forget_fits(experts, last_x, last_y):
    """As after a first round: every expert says the last label."""
    experts.mean.fill(0.0)
    for lane in range(LEVEL_LANES):
        for j in range(len(experts.mean)):
            experts.mean[j, lane] = last_x[j] if j < last_x.size else last_y
    experts.weight.fill(0.0)
    experts.overall_mean.fill(0.0)
    experts.spread.fill(0.0)
    experts.moments.fill(0.0)
    experts.shrunk.fill(0.0)
    experts.anchored.fill(0.0)
    experts.autoregressive.fill(0.0)


@inline_function
def _forget_regrets(rules):
    """The rules of which nothing is proven, as before their first round."""
    quick = rules.adashare[1]
    quick.fill(0.0)
    rules.boa.fill(0.0)
    for k in range(PADDED_EXPERTS):
        quick[k], rules.boa[0, k] = 1 / EXPERTS, 1 / EXPERTS
    rules.mlpoly.fill(0.0)
    rules.softmax.fill(0.0)
    rules.committee.fill(0.0)
    for k in range(BASE_RULES):
        rules.committee[0, k] = 1 / BASE_RULES
