"""Rounds of the Tracker: predict, then learn. Inner loop of learners/tracker."""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import WIDTH, above, load, store
from thalweg.kernels.tracker import errors, mixture
from thalweg.kernels.tracker.clip import clip, update_label_range
from thalweg.kernels.tracker.deviations import set_deviations, update_means
from thalweg.kernels.tracker.kinds import anchored, autoregressive, shrunk
from thalweg.kernels.tracker.late import pop_pending, push_pending
from thalweg.kernels.tracker.layout import (
    ANCHORED,
    AUTOREGRESSIVE,
    BASE_RULE_MASK,
    DELAY,
    ELAPSED,
    ERROR_SCALE,
    HIGHEST_LABEL,
    LAST_VALUE,
    LOWEST_LABEL,
    MAX_LOSS,
    ROUNDS,
    RULE_MASK,
    SEASON_LANE,
    SHRUNK,
    STEP_LANE,
    TOTAL_WEIGHT,
)
from thalweg.kernels.tracker.moments import set_ridge, update_moments, update_spread
from thalweg.kernels.tracker.past import push
from thalweg.kernels.tracker.restart import is_time, note_steps, restart_if_outgrown
from thalweg.kernels.tracker.season import count, update_season
from thalweg.kernels.tracker.solve import factorise

MAX_WEIGHTED_SQUARE = 1e300
"""Of a weighted square."""


@inline_function
def predict(s, x, expert_workspace, rule_workspace):
    """What is said of y at ``x``; leaves in the rooms what ``learn`` builds on."""
    t = s.counters[ROUNDS]
    if t == 0:
        return 0.0
    expert_predictions, u, origin, experts = (
        rule_workspace.expert_predictions,
        expert_workspace.deviations,
        expert_workspace.origin,
        s.experts,
    )
    set_deviations(s.counters, s.past_x, s.past_y, experts.mean, x, u, origin, 0)
    predictions = rule_workspace.padded_predictions
    shrunk.predict(experts.shrunk, u, origin, predictions, SHRUNK)
    shrunk.predict(experts.anchored, u, origin, predictions, ANCHORED)
    shrunk.predict(experts.autoregressive, u, origin, predictions, AUTOREGRESSIVE)
    last_y = origin[STEP_LANE]
    expert_predictions[LAST_VALUE] = last_y
    clip(s.counters, last_y, expert_predictions)
    set_active(s.active_from, t, rule_workspace)
    mixture.set_weights(s.rules, rule_workspace)
    return mixture.mix(
        expert_predictions,
        rule_workspace.active,
        rule_workspace.expert_weights,
        rule_workspace.rule_weights,
        rule_workspace.rule_predictions,
    )


@inline_function
def observe(s, x, y, w, elapsed, forecast, expert_workspace, rule_workspace):
    """Learn the round of which ``forecast`` was just said; or, where labels are late,
    the one whose label is known by now.
    """
    counters = s.counters
    has_prediction, row, scale = counters[ROUNDS] > 0, x, counters[ERROR_SCALE]
    if counters[DELAY] > 0:
        if not push_pending(
            counters, s.pending, x, y, w, elapsed, forecast, rule_workspace
        ):
            return
        row, late, mean = (
            expert_workspace.pending_x,
            int(counters[DELAY]),
            s.experts.mean,
        )
        y, w, elapsed, forecast, has_prediction, scale = pop_pending(
            counters, s.pending, rule_workspace, row
        )
        set_deviations(
            counters,
            s.past_x,
            s.past_y,
            mean,
            row,
            expert_workspace.deviations,
            expert_workspace.origin,
            late,
        )
        set_active(s.active_from, counters[ROUNDS], rule_workspace)
    learn(
        s,
        row,
        y,
        w,
        elapsed,
        forecast,
        has_prediction,
        scale,
        expert_workspace,
        rule_workspace,
    )


@inline_function
def learn(
    s,
    x,
    y,
    w,
    elapsed,
    forecast,
    has_prediction,
    scale,
    expert_workspace,
    rule_workspace,
):
    """Learn that ``y`` came at ``x``, with weight ``w``, after ``forecast`` was said.

    A round of weight zero teaches nothing. If it took time, it is remembered as passed:
    seasons go on, and the forecast stands for its label. ``has_prediction`` says
    whether the experts made predictions in this round, and ``scale`` is the mean size
    of the errors known at that time.
    """
    counters = s.counters
    counters[ELAPSED] += elapsed
    if w > 0:
        if counters[ROUNDS] > 0:
            w = capped_weight(counters, y, w, expert_workspace.deviations)
            counters[TOTAL_WEIGHT] += w
            if has_prediction:
                largest = mixture.learn(
                    s.rules, rule_workspace, forecast, y, w, counters[ROUNDS]
                )
                counters[MAX_LOSS] = max(counters[MAX_LOSS], largest)
                errors.learn_error(counters, s.recent_errors, y - forecast, scale)
            share = w / counters[TOTAL_WEIGHT]
            learn_experts(
                s.experts, x, y, w, counters[ELAPSED], share, expert_workspace
            )
            note_steps(s.max_feature_steps, expert_workspace.deviations)
        update_label_range(counters, expert_workspace.origin[STEP_LANE], y)
        counters[ELAPSED] = 0.0
        update_season(counters, s.past_y, s.season_differences, s.inverse_counts, y)
    elif elapsed == 0 or counters[ROUNDS] == 0:
        return
    push(counters, s.past_x, s.past_y, x, y if w > 0 else forecast)
    count(counters, s.inverse_counts, w > 0)
    if w > 0:
        counters[ROUNDS] += 1
        if is_time(counters):
            restart_if_outgrown(s, rule_workspace, expert_workspace.recent_steps)


@inner_function
def capped_weight(counters, y, w, u):
    """The weight, or as much of it as times any square here is within float64."""
    if w <= 1:
        return w
    widest = max(counters[HIGHEST_LABEL], y) - min(counters[LOWEST_LABEL], y)
    for j in range(len(u) - 1):
        widest = max(widest, abs(u[j, STEP_LANE]), abs(u[j, SEASON_LANE]))
    return min(w, MAX_WEIGHTED_SQUARE / max(widest, 1.0) / max(widest, 1.0))


@inline_function
def learn_experts(experts, x, y, w, elapsed, share, expert_workspace):
    """Moments, their factors, and from them every kind's coefficients."""
    u, outer_weight, lower = (
        expert_workspace.deviations,
        expert_workspace.outer_weight,
        expert_workspace.lower,
    )
    update_means(
        experts.weight,
        experts.mean,
        y,
        w,
        elapsed,
        u,
        expert_workspace.origin,
        outer_weight,
        expert_workspace.decay,
    )
    last_y = expert_workspace.origin[STEP_LANE]
    update_spread(experts.overall_mean, experts.spread, x, last_y, u, share)
    update_moments(experts.moments, u, outer_weight, expert_workspace.decay)
    set_ridge(experts.spread, expert_workspace.ridge)
    factorise(experts.moments, expert_workspace.ridge, lower, expert_workspace.work)
    shrunk.learn(experts.shrunk, lower)
    anchored.learn(experts.anchored, u, outer_weight, lower, expert_workspace.gain)
    autoregressive.learn(experts.autoregressive, lower)


@inline_function
def set_active(active_from, t, rule_workspace):
    """Who votes in round t, and who in the next; of the rules always all."""
    for k in range(0, active_from.size, WIDTH):
        first = load(active_from, k)
        store(rule_workspace.active, k, above(first, t, 0.0, 1.0))
        store(rule_workspace.active_next, k, above(first, t + 1, 0.0, 1.0))
    store(rule_workspace.rule_mask, 0, load(RULE_MASK, 0))
    store(rule_workspace.base_rule_mask, 0, load(BASE_RULE_MASK, 0))
