"""One round of the Tracker, prequential (test-then-train): predict, then learn.

predict   deviations → experts → clip → rules → forecast, pooled with an external one
learn     rules, pool, recent errors; means → moments → factors → coefficients;
          range of labels, season, past rounds; rarely a restart or a replay
"""

import numpy as np

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import (
    WIDTH,
    broadcast,
    fma,
    load,
    select_greater,
    sqrt,
    store,
)
from thalweg.kernels.tracker import mixture
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.autoregressive import (
    learn_lags,
    predict_autoregressive,
    set_lag_deviations,
    set_lag_factors,
)
from thalweg.kernels.tracker.clipping import (
    clip_limits,
    clip_predictions,
    limit_after_jump,
    update_jump,
    update_label_range,
)
from thalweg.kernels.tracker.curvature import (
    correct,
    learn_correction,
    learn_curvature,
    set_context,
    set_hinges,
    update_change,
)
from thalweg.kernels.tracker.distributed_lag import (
    learn_distributed_lag,
    set_distributed_deviations,
)
from thalweg.kernels.tracker.external_forecast import learn_pool, pool_forecasts
from thalweg.kernels.tracker.pending_labels import pop_pending, push_pending
from thalweg.kernels.tracker.prediction_interval import learn_error
from thalweg.kernels.tracker.replay import WARM_UP, is_replay_due
from thalweg.kernels.tracker.restart import (
    is_check_due,
    restart_after_outlier,
    update_max_steps,
)
from thalweg.kernels.tracker.ridge_experts import (
    learn_experts,
    predict_experts,
    predict_shrunk,
    set_deviations,
    set_factors,
    step_anchored,
)
from thalweg.kernels.tracker.seasonality import (
    push_inverse_count,
    push_round,
    update_season,
)

MAX_WEIGHTED_SQUARE = 1e300
"""Upper limit of a weighted squared error, to keep sums finite."""
DOUBT = 0.04
"""The factor 1/5² of a squared leverage in the confidence."""
LANE_OF_MEMORY = np.array(
    [list(layout.MEMORIES).index(m) for m in layout.DISTRIBUTED_MEMORIES]
)
"""The lane of the light level that has the memory of each distributed-lag expert."""


@inner_function
def predict(s, x, workspace):
    """The forecast of y at ``x``; leaves in the workspace what ``learn`` builds on."""
    t = s.counters[layout.ROUNDS]
    if t == 0:
        return 0.0
    rules, counters = workspace.rules, s.counters
    set_all_deviations(s, x, workspace, 0)
    if workspace.experts.status[layout.HAS_FACTORS] == 0:
        set_all_factors(s, workspace)
    predict_all_experts(s, workspace)
    low, high = clip_limits(
        counters, workspace.lags.labels, rules.expert_predictions,
        workspace.experts.sorted_predictions,
    )  # fmt: skip
    low, high = limit_after_jump(counters, low, high)
    clip_predictions(low, high, rules.expert_predictions, layout.LAST_VALUE)
    set_active_experts(s.active_from, t, rules)
    mixture.set_weights(s.rules, rules, rules.confidences)
    mixture.set_rule_predictions(
        rules.expert_predictions, rules.active, rules.expert_weights,
        rules.rule_predictions,
    )  # fmt: skip
    curvature = workspace.curvature
    curvature.committee[layout.COMMITTEE_MEAN] = rules.rule_predictions[
        layout.COMMITTEE
    ]
    if counters[layout.HINGE_COUNT] > 0:
        store(curvature.candidate_mask, 0, load(layout.CANDIDATE_MASK, 0))
        set_context(s, x, workspace.lags.labels, curvature.context)
        set_hinges(s.curvature, curvature.context, curvature.features)
        correct(s, curvature, rules, low, high)
    own = mixture.mix(rules.rule_predictions, rules.rule_weights)
    return pool_forecasts(counters, s.pool, x, own, low, high, workspace.pool)


@inline_function
def set_all_deviations(s, x, workspace, age):
    """Set the deviations of all kinds of experts; ``age`` as in ``set_deviations``."""
    counters, past_x, past_y = s.counters, s.past_x, s.past_y
    own, lags, wide = workspace.experts, workspace.lags, workspace.distributed_lag
    u, origin = own.deviations, own.origin
    set_deviations(counters, past_x, past_y, s.experts.mean, x, u, origin, age)
    u, labels = lags.deviations, lags.labels
    set_lag_deviations(counters, past_y, s.lags.mean, labels, u, age)
    mean, u, origin = s.distributed_lag.mean, wide.deviations, wide.origin
    set_distributed_deviations(counters, past_x, past_y, mean, x, u, origin, age)


@inline_function
def set_all_factors(s, workspace):
    """Factor the moments of the shrunk and of the autoregressive experts."""
    set_factors(s.experts, workspace.experts)
    set_lag_factors(s.lags, workspace.lags, workspace.experts)
    workspace.experts.status[layout.HAS_FACTORS] = 1.0


@inline_function
def predict_all_experts(s, workspace):
    """Set the predictions of all experts, not clipped yet, and the confidences."""
    own, lags, wide = workspace.experts, workspace.lags, workspace.distributed_lag
    rules, u, origin = workspace.rules, own.deviations, own.origin
    padded = rules.padded_predictions
    # The order matters: the last lanes of a kind belong to no expert, and what is
    # written there is overwritten by the next kind.
    predict_shrunk(
        own.lower, u, origin, s.experts.weight, own.projection, own.leverage, padded
    )
    predict_experts(s.experts.anchored, u, origin, padded, layout.ANCHORED)
    predict_autoregressive(lags, own, padded)
    theta = s.distributed_lag.theta
    predict_experts(theta, wide.deviations, wide.origin, padded, layout.DISTRIBUTED_LAG)
    for k in range(layout.LAST_VALUE, layout.PADDED_EXPERTS):
        padded[k] = origin[layout.STEP_LANE]
    last_leverage, confidences = (
        s.distributed_lag.last_leverage,
        rules.padded_confidences,
    )
    set_confidences(own.leverage, lags.leverage, last_leverage, confidences)


@inner_function
def set_confidences(leverage, lag_leverage, last_leverage, confidences):
    """Set the confidence 1/√(1 + h + (h/5)²) in every expert, h its leverage.

    √(1 + h) is how much wider than the noise an expert's error is expected to be, as
    long as it is right that y is linear in x; the square is for rows so far from all
    others that this is anyone's guess.
    """
    for lane in range(0, layout.LANES, WIDTH):
        store(confidences, layout.SHRUNK + lane, load(leverage, lane))
    for lane in range(0, layout.ANCHORED_LANES, WIDTH):
        store(confidences, layout.ANCHORED + lane, load(leverage, lane))
    for lane in range(0, layout.AUTOREGRESSIVE_LANES, WIDTH):
        store(confidences, layout.AUTOREGRESSIVE + lane, load(lag_leverage, lane))
    for i in range(layout.DISTRIBUTED_COUNT):
        lane = LANE_OF_MEMORY[i]
        confidences[layout.DISTRIBUTED_LAG + i] = (
            lag_leverage[lane] + last_leverage[lane]
        )
    for k in range(layout.LAST_VALUE, layout.PADDED_EXPERTS):
        confidences[k] = 0.0
    for k in range(0, layout.PADDED_EXPERTS, WIDTH):
        h = load(confidences, k)
        store(confidences, k, 1.0 / sqrt(fma(DOUBT * h, h, h + 1.0)))


@inline_function
def set_active_experts(active_from, t, rules):
    """Set which experts are active in round t, and which in the next; all rules are.

    active_k = 1 if active_from_k ≤ t, else 0; ``rules`` is the workspace of the rules.
    """
    for k in range(0, active_from.size, WIDTH):
        first = load(active_from, k)
        store(rules.active, k, select_greater(first, t, 0.0, 1.0))
        store(rules.active_next, k, select_greater(first, t + 1, 0.0, 1.0))
    store(rules.rule_mask, 0, load(layout.RULE_MASK, 0))
    store(rules.base_rule_mask, 0, load(layout.BASE_RULE_MASK, 0))
    for k in range(0, layout.PADDED_EXPERTS, WIDTH):
        store(rules.full_confidence, k, broadcast(1.0))


@inline_function
def observe(s, x, y, w, elapsed, forecast, workspace):
    """Learn the round that was just forecast; or, where labels are late, the round
    whose label is known by now. Returns whether the last rounds are to be replayed.
    """
    counters = s.counters
    has_prediction, row, scale = (
        counters[layout.ROUNDS] > 0,
        x,
        counters[layout.ERROR_SCALE],
    )
    if counters[layout.DELAY] > 0:
        rules, experts = workspace.rules, workspace.experts
        if not push_pending(
            counters, s.pending, x, y, w, elapsed, forecast, rules,
            workspace.curvature, workspace.pool,
        ):  # fmt: skip
            return False
        row = experts.pending_x
        y, w, elapsed, forecast, has_prediction, scale = pop_pending(
            counters, s.pending, rules, workspace.curvature, workspace.pool, row
        )
        set_all_deviations(s, row, workspace, int(counters[layout.DELAY]))
        predict_shrunk(  # for the leverages of the features in that round
            experts.lower, experts.deviations, experts.origin, s.experts.weight,
            experts.projection, experts.leverage, experts.sorted_predictions,
        )  # fmt: skip
        if counters[layout.HINGE_COUNT] > 0:
            curvature = workspace.curvature
            store(curvature.candidate_mask, 0, load(layout.CANDIDATE_MASK, 0))
            set_hinges(s.curvature, curvature.context, curvature.features)
        set_active_experts(s.active_from, counters[layout.ROUNDS], rules)
    return learn(s, row, y, w, elapsed, forecast, has_prediction, scale, workspace)


@inner_function
def learn(s, x, y, w, elapsed, forecast, has_prediction, scale, workspace):
    """Learn the label ``y`` at ``x``, with weight ``w``, after this ``forecast``.

    A round of weight zero teaches nothing. If it took time, it is remembered as passed:
    seasons go on, and the forecast stands for its label. ``has_prediction`` says
    whether the experts made predictions in this round, and ``scale`` is the mean size
    of the errors known at that time. Returns whether the last rounds are to be
    replayed.
    """
    counters, u = s.counters, workspace.experts.deviations
    counters[layout.ELAPSED] += elapsed
    if w > 0:
        if counters[layout.ROUNDS] > 0:
            w = capped_weight(counters, y, w, u)
            counters[layout.TOTAL_WEIGHT] += w
            if has_prediction:
                mean = workspace.curvature.committee[layout.COMMITTEE_MEAN]
                t = counters[layout.ROUNDS]
                pooled = workspace.pool.forecasts
                largest = mixture.learn(
                    s.rules, workspace.rules, mean, pooled[layout.OWN], y, w, t
                )
                learn_pool(counters, s.pool, pooled, y, w)
                counters[layout.MAX_LOSS] = max(counters[layout.MAX_LOSS], largest)
                learn_error(counters, s.recent_errors, y - forecast, scale)
                if counters[layout.ROUNDS] >= WARM_UP:
                    s.rules.meta[layout.BLOCK_LOSS] += (y - forecast) ** 2
            share = w / counters[layout.TOTAL_WEIGHT]
            if has_prediction and counters[layout.HINGE_COUNT] > 0:
                curvature, passed = workspace.curvature, counters[layout.ELAPSED]
                learn_correction(
                    s.rules.correction, curvature, workspace.rules, y, w,
                    counters[layout.ROUNDS],
                )  # fmt: skip
                learn_curvature(s, curvature, y, w, passed)
            learn_all_experts(s, x, y, w, share, workspace)
            update_max_steps(s.max_feature_steps, u)
            if has_prediction:
                last_y = workspace.experts.origin[layout.STEP_LANE]
                update_jump(counters, last_y, y, forecast)
        update_label_range(counters, workspace.experts.origin[layout.STEP_LANE], y)
        counters[layout.ELAPSED] = 0.0
        update_season(counters, s.past_y, s.season_differences, s.inverse_counts, y)
    elif elapsed == 0 or counters[layout.ROUNDS] == 0:
        return False
    label = y if w > 0 else forecast
    push_round(counters, s.past_x, s.past_y, x, label)
    push_inverse_count(counters, s.inverse_counts, w > 0)
    if w == 0:
        counters[layout.GAP_ROUNDS] += 1
        counters[layout.JUMP_ROUNDS] = 0.0  # where the label is now is not known
        return False
    counters[layout.ROUNDS] += 1
    counters[layout.GAP_ROUNDS] = 0.0
    experts = workspace.experts
    if is_check_due(counters):
        if restart_after_outlier(s, workspace.rules, experts.recent_steps):
            experts.status[layout.HAS_FACTORS] = 0.0
    return is_replay_due(s, experts.recent_steps)


@inner_function
def learn_all_experts(s, x, y, w, share, workspace):
    """Let all kinds of experts learn the label; ``share`` as in ``learn_experts``."""
    own, lags, wide = workspace.experts, workspace.lags, workspace.distributed_lag
    elapsed, rounds = s.counters[layout.ELAPSED], s.counters[layout.ROUNDS]
    for lane in range(0, layout.AUTOREGRESSIVE_LANES, WIDTH):
        store(s.distributed_lag.last_leverage, lane, load(own.leverage, lane))
    learn_experts(s.experts, x, y, w, elapsed, share, own)
    outer_weight, decay, u = own.outer_weight, own.decay, own.deviations
    learn_lags(
        s.lags, u, s.experts.weight, outer_weight, decay, lags.labels, lags.deviations,
        w, share,
    )  # fmt: skip
    update_change(s.curvature, lags.labels, share)
    set_all_factors(s, workspace)
    step_anchored(s.experts.anchored, u, outer_weight, own.lower, own.solution)
    spread, lag_spread = s.experts.spread, s.lags.spread
    learn_distributed_lag(
        s.distributed_lag, wide, spread, lag_spread, y, w, elapsed, rounds
    )


@inner_function
def capped_weight(counters, y, w, u):
    """The weight, capped so that its product with any square of a round is finite."""
    if w <= 1:
        return w
    widest = max(counters[layout.HIGHEST_LABEL], y) - min(
        counters[layout.LOWEST_LABEL], y
    )
    for j in range(len(u) - 1):
        widest = max(widest, abs(u[j, layout.STEP_LANE]), abs(u[j, layout.SEASON_LANE]))
    return min(w, MAX_WEIGHTED_SQUARE / max(widest, 1.0) / max(widest, 1.0))
