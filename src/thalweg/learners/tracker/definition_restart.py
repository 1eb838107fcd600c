"""The restart in the Tracker's definition, where old rounds dwarf all recent ones.

The kernel's twin is kernels/tracker/restart.py.
"""

from typing import Any

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.restart import (
    CHECK_INTERVAL,
    MAX_FEATURE_RATIO,
    MAX_LABEL_RATIO,
)
from thalweg.learners.tracker.definition_adashare import raise_loss_scale
from thalweg.learners.tracker.definition_experts import (
    LEVEL,
)
from thalweg.learners.tracker.definition_pending import invalidate_pending
from thalweg.learners.tracker.definition_rules import (
    IS_RULE,
    active_experts,
)
from thalweg.learners.tracker.definition_season import (
    past_features,
    past_labels,
    reset_season,
)
from thalweg.types import FloatArray


def update_max_steps(max_feature_steps: FloatArray, u: FloatArray) -> None:
    """Remember the longest step of every feature, (n,)."""
    steps = abs(u[:, layout.STEP_LANE])
    max_feature_steps[:] = np.maximum(max_feature_steps, steps)


def is_check_due(counters: FloatArray) -> bool:
    """Whether to check in this round: now and then, once 512 rounds are remembered."""
    t = int(counters[layout.ROUNDS])
    return t >= layout.MAX_SEASON and t % CHECK_INTERVAL == 0


def restart_after_outlier(s: Any) -> None:
    """Restart where the longest step ever is far longer than all recent steps.

    One label or feature of 1e12 would stay in means, moments, ranges and scales for as
    long as they last. So the longest step of the label and of every feature is compared
    with the longest of the last 512 rounds. A feature that does not move at all may yet
    move as it did, and counts for nothing.
    """
    labels, features = past_labels(s), past_features(s)
    label_step = abs(np.diff(labels)).max()
    feature_steps = abs(np.diff(features, axis=0)).max(axis=0)
    label_outlier = 0 < label_step * MAX_LABEL_RATIO < s.counters[layout.MAX_LABEL_STEP]
    limits = feature_steps * MAX_FEATURE_RATIO
    feature_outliers = (limits > 0) & (limits < s.max_feature_steps)
    if label_outlier or feature_outliers.any():
        s.counters[layout.LOWEST_LABEL] = labels.min()
        s.counters[layout.HIGHEST_LABEL] = labels.max()
        s.counters[layout.MAX_LABEL_STEP] = label_step
        s.max_feature_steps[:] = feature_steps
        restart(s, features[0], labels[0])


def restart(s: Any, last_x: FloatArray, last_y: float) -> None:
    """Forget all but the last rounds and the two AdaShares of the guarantee.

    Their proof does not allow for a new start, only for a larger Δ. The rounds that
    wait for labels keep them, but their predictions are not learnt from. Recent errors
    are in units of their scale, and stay; that becomes the mean step of the labels.
    """
    counters = s.counters
    mean_step = abs(np.diff(past_labels(s))).mean()
    counters[layout.ERROR_SCALE] = mean_step
    counters[layout.QUICK_ERROR_MEAN] = counters[layout.SLOW_ERROR_MEAN] = mean_step
    counters[layout.TOTAL_WEIGHT] = 0.0
    counters[layout.ROOT_STEP] = counters[layout.STEP_COUNT] = counters[
        layout.JUMP_ROUNDS
    ] = 0.0
    s.rules.meta[layout.EARLIER_LOSS] = 0.0
    invalidate_pending(s.pending)
    reset_season(s)
    reset_experts(s, last_x, last_y)
    reset_rules(s.rules)
    reset_curvature(s)
    s.pool.losses[:] = s.pool.weight[:] = 0.0
    active_next = active_experts(s, counters[layout.ROUNDS])
    steady, meta = s.rules.adashare[0], s.rules.meta
    raise_loss_scale(
        steady, active_next, layout.EXPERT_PRIOR, counters[layout.MAX_LOSS]
    )
    raise_loss_scale(meta, IS_RULE, layout.RULE_PRIOR, counters[layout.MAX_LOSS])


# Arrays are reset by name, here as in the kernels. Whether a restart resets it is asked
# of every array of the layout by tests/kernels/tracker/test_restart.py.


def reset_experts(s: Any, last_x: FloatArray, last_y: float) -> None:
    """Set the experts as after a first round: each predicts the last label."""
    experts, lags, wide = s.experts, s.lags, s.distributed_lag
    experts.mean[:] = 0.0
    experts.mean[:, LEVEL] = np.append(last_x, last_y)[:, None]
    experts.weight[:] = 0.0
    experts.overall_mean[:] = 0.0
    experts.spread[:] = 0.0
    experts.moments[:] = 0.0
    experts.anchored[:] = 0.0
    lags.mean[:] = last_y
    lags.moments[:] = 0.0
    lags.overall_mean[:] = 0.0
    lags.spread[:] = 0.0
    wide.weight[:] = 0.0
    wide.mean[:] = last_y
    wide.mean[: 2 * len(last_x)] = np.tile(last_x, 2)[:, None]
    wide.moments[:] = 0.0
    wide.theta[:] = 0.0
    wide.last_leverage[:] = 0.0


def reset_rules(states: Any) -> None:
    """Reset the rules without a proven bound to their state before the first round."""
    quick = states.adashare[1]
    quick[:] = 0.0
    quick[: layout.PADDED_EXPERTS] = 1 / layout.EXPERTS
    states.boa[:] = 0.0
    states.boa[0] = 1 / layout.EXPERTS
    states.mlpoly[:] = 0.0
    states.softmax[:] = 0.0
    states.cauchy[:] = 0.0
    states.committee[:] = 0.0
    states.committee[0, : layout.BASE_RULES] = 1 / layout.BASE_RULES
    states.correction[:] = 0.0
    states.correction[0, : layout.CANDIDATES] = 1 / layout.CANDIDATES


def reset_curvature(s: Any) -> None:
    """Forget what was learnt of curvature; the hinges stay as they were drawn."""
    curvature = s.curvature
    s.counters[layout.CORRECTION_SCALE] = s.counters[layout.CORRECTION_COUNT] = 0.0
    s.counters[layout.GRAM_SCALE] = 1.0
    curvature.gram[:] = 0.0
    curvature.target[:] = 0.0
    curvature.theta[:] = 0.0
    curvature.change_mean[:] = 0.0
    curvature.change_spread[:] = 0.0
