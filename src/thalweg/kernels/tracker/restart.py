"""Restart after a shock: the stream is far smaller than what is remembered of it.

One label or feature of 1e12 would stay in means, moments, ranges and scales for as
long as they last: a discount of 1 - 1/M needs 55 M rounds to bring 1e24 down to 1. So
the longest step since the start, of the label and of every feature, is compared with
the longest of the last 512 rounds, and where it is out of all proportion everything
that may be spoilt is reset. Where it is not, nothing is changed by this. The limits
were chosen such that no public stream causes a restart: there the longest step
is at most 15 times the recent one for labels, and 320 times for features.

What stays: the last rounds, the recent errors in units of their scale, so that the next
prediction interval is neither infinite nor empty, and the two AdaShares of the
guarantee, over the experts and over the rules, whose proof does not allow for a new
start, only for a larger loss scale.
"""

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.tracker import adashare
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.pending_labels import invalidate_pending
from thalweg.kernels.tracker.seasonality import (
    feature_row,
    newest_label,
    reset_season,
)

CHECK_INTERVAL = 128
"""Rounds between two checks. A check goes over the last 512 rounds."""
MAX_LABEL_RATIO, MAX_FEATURE_RATIO = 100.0, 1000.0
"""Upper limits of the ratio of the longest step to the longest recent one. The limit of
labels is lower, since they are in every loss."""


@inline_function
def update_max_steps(max_feature_steps, u):
    """Remember the longest step of every feature, (n,)."""
    for j in range(max_feature_steps.size):
        max_feature_steps[j] = max(max_feature_steps[j], abs(u[j, layout.STEP_LANE]))


@inline_function
def is_check_due(counters):
    """Whether to check in this round: at intervals, after the first 512 rounds."""
    rounds = int(counters[layout.ROUNDS])
    return rounds >= layout.MAX_SEASON and rounds % CHECK_INTERVAL == 0


@inner_function
def restart_after_outlier(s, workspace, recent_steps):
    """Reset what may be spoilt if a past step is out of proportion to recent ones.

    It is called where ``is_check_due``. ``workspace`` is that of the rules, and
    ``recent_steps`` (n,) is overwritten. Returns whether there was a restart.
    """
    counters = s.counters
    low, high, step, mean_step = _recent_labels(counters, s.past_y)
    _set_recent_steps(counters, s.past_x, recent_steps)
    has_outlier = 0 < step * MAX_LABEL_RATIO < counters[layout.MAX_LABEL_STEP]
    for j in range(recent_steps.size):  # a feature at rest may move again
        if 0 < recent_steps[j] * MAX_FEATURE_RATIO < s.max_feature_steps[j]:
            has_outlier = True
    if has_outlier:
        counters[layout.LOWEST_LABEL], counters[layout.HIGHEST_LABEL] = low, high
        counters[layout.MAX_LABEL_STEP] = step
        for j in range(recent_steps.size):
            s.max_feature_steps[j] = recent_steps[j]
        counters[layout.TOTAL_WEIGHT], s.rules.meta[layout.EARLIER_LOSS] = 0.0, 0.0
        # Errors are remembered in units of their scale. That of the first forecasts,
        # which are the last label, is the mean step.
        counters[layout.ERROR_SCALE] = mean_step
        counters[layout.QUICK_ERROR_MEAN], counters[layout.SLOW_ERROR_MEAN] = (
            mean_step,
            mean_step,
        )
        counters[layout.ROOT_STEP], counters[layout.STEP_COUNT] = 0.0, 0.0
        counters[layout.JUMP_ROUNDS] = 0.0
        reset_season(counters, s.season_differences, s.inverse_counts)
        invalidate_pending(s.pending)
        last_x = s.past_x[feature_row(counters, 1)]
        _reset_experts(s, last_x, s.past_y[newest_label(counters)])
        _reset_rules(s.rules)
        _reset_curvature(s)
        s.pool.losses.fill(0.0)
        s.pool.weight.fill(0.0)
        largest = counters[layout.MAX_LOSS]
        active_next, mask = workspace.active_next, workspace.rule_mask
        steady, meta = s.rules.adashare[0], s.rules.meta
        adashare.raise_loss_scale(steady, active_next, layout.EXPERT_PRIOR, largest)
        adashare.raise_loss_scale(meta, mask, layout.RULE_PRIOR, largest)
    return has_outlier


@inline_function
def _recent_labels(counters, past_y):
    """The lowest and the highest label of the last rounds, and their longest and mean
    step.
    """
    start = newest_label(counters)
    low, high, longest, mean = past_y[start], past_y[start], 0.0, 0.0
    for i in range(start + 1, start + layout.MAX_SEASON):
        low, high = min(low, past_y[i]), max(high, past_y[i])
        step = abs(past_y[i] - past_y[i - 1])
        longest, mean = max(longest, step), mean + step / (layout.MAX_SEASON - 1)
    return low, high, longest, mean


@inline_function
def _set_recent_steps(counters, past_x, recent_steps):
    """Set the longest step of every feature in the last rounds."""
    recent_steps.fill(0.0)
    for lag in range(1, layout.MAX_SEASON):
        after, before = feature_row(counters, lag), feature_row(counters, lag + 1)
        for j in range(recent_steps.size):
            step = abs(past_x[after, j] - past_x[before, j])
            recent_steps[j] = max(recent_steps[j], step)


# ``fill`` is used throughout, since assigning to slices takes the compiler seconds.
@inline_function
def _reset_experts(s, last_x, last_y):
    """Set the experts as after a first round: each predicts the last label."""
    experts, lags, wide = s.experts, s.lags, s.distributed_lag
    experts.mean.fill(0.0)
    for lane in range(layout.LEVEL_LANES):
        for j in range(len(experts.mean)):
            experts.mean[j, lane] = last_x[j] if j < last_x.size else last_y
    experts.weight.fill(0.0)
    experts.overall_mean.fill(0.0)
    experts.spread.fill(0.0)
    experts.moments.fill(0.0)
    experts.anchored.fill(0.0)
    lags.mean.fill(last_y)
    lags.moments.fill(0.0)
    lags.overall_mean.fill(0.0)
    lags.spread.fill(0.0)
    wide.weight.fill(0.0)
    wide.mean.fill(last_y)
    for j in range(2 * last_x.size):
        for lane in range(layout.DISTRIBUTED_LANES):
            wide.mean[j, lane] = last_x[j % last_x.size]
    wide.moments.fill(0.0)
    wide.theta.fill(0.0)
    wide.last_leverage.fill(0.0)


@inline_function
def _reset_rules(states):
    """Reset the rules without a proven bound to their state before the first round."""
    quick = states.adashare[1]
    quick.fill(0.0)
    states.boa.fill(0.0)
    for k in range(layout.PADDED_EXPERTS):
        quick[k], states.boa[0, k] = 1 / layout.EXPERTS, 1 / layout.EXPERTS
    states.mlpoly.fill(0.0)
    states.softmax.fill(0.0)
    states.cauchy.fill(0.0)
    states.committee.fill(0.0)
    for k in range(layout.BASE_RULES):
        states.committee[0, k] = 1 / layout.BASE_RULES
    states.correction.fill(0.0)
    for k in range(layout.CANDIDATES):
        states.correction[0, k] = 1 / layout.CANDIDATES


@inline_function
def _reset_curvature(s):
    """Forget what was learnt of curvature; the hinges stay as they were drawn."""
    curvature = s.curvature
    s.counters[layout.CORRECTION_SCALE], s.counters[layout.CORRECTION_COUNT] = 0.0, 0.0
    s.counters[layout.GRAM_SCALE] = 1.0
    curvature.gram.fill(0.0)
    curvature.target.fill(0.0)
    curvature.theta.fill(0.0)
    curvature.change_mean.fill(0.0)
    curvature.change_spread.fill(0.0)
