"""One round of the Tracker, prequential (test-then-train): predict, then learn.

predict   deviations → experts → clip → rules → forecast
learn     rules, recent errors; means → moments → factors → coefficients;
          range of labels, season, past rounds; now and then a restart or a replay
"""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import (
    WIDTH,
    absolute,
    load,
    maximum,
    minimum,
    select_greater,
    store,
)
from thalweg.kernels.tracker import mixture
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
    set_deviations,
)
from thalweg.kernels.tracker.seasonality import (
    push_inverse_count,
    push_round,
    update_season,
)
from thalweg.kernels.tracker.solve import MAX_FLOAT
from thalweg.kernels.tracker.tracker_layout import (
    ANCHORED,
    AUTOREGRESSIVE,
    BASE_RULE_MASK,
    BLOCK_LOSS,
    DELAY,
    ELAPSED,
    ERROR_SCALE,
    HIGHEST_LABEL,
    LAST_VALUE,
    LOWEST_LABEL,
    MAX_LABEL_STEP,
    MAX_LOSS,
    ROUNDS,
    RULE_MASK,
    SEASON_LANE,
    SHRUNK,
    STEP_LANE,
    STEP_LIMIT,
    TOTAL_WEIGHT,
)

MAX_WEIGHTED_SQUARE = 1e300
"""Upper limit of a weighted squared error, to keep sums finite."""
RANGE_MARGIN = 0.5
"""How far predictions may lie beyond all labels so far, in units of their range."""
STEP_MARGIN = 2.0
"""How far predictions may lie from the last label, in units of the largest step between
two labels so far."""


@inline_function
def predict(s, x, workspace):
    """The forecast of y at ``x``; leaves in the workspace what ``learn`` builds on."""
    t = s.counters[ROUNDS]
    if t == 0:
        return 0.0
    rules, experts = workspace.rules, s.experts
    u, origin = workspace.experts.deviations, workspace.experts.origin
    set_deviations(s.counters, s.past_x, s.past_y, experts.mean, x, u, origin, 0)
    # The order matters: the last lanes of a kind belong to no expert, and what is
    # written there is overwritten by the next kind.
    padded = rules.padded_predictions
    predict_experts(experts.shrunk, u, origin, padded, SHRUNK)
    predict_experts(experts.anchored, u, origin, padded, ANCHORED)
    predict_experts(experts.autoregressive, u, origin, padded, AUTOREGRESSIVE)
    last_y = origin[STEP_LANE]
    rules.expert_predictions[LAST_VALUE] = last_y
    clip_predictions(s.counters, last_y, rules.expert_predictions)
    set_active_experts(s.active_from, t, rules)
    mixture.set_weights(s.rules, rules)
    return mixture.mix(
        rules.expert_predictions,
        rules.active,
        rules.expert_weights,
        rules.rule_weights,
        rules.rule_predictions,
    )


@inner_function
def clip_predictions(counters, last_y, predictions):
    """Clip predictions to near the labels: a wild one can cost a whole stream.

    p ← min(high, max(low, p)), with the range of labels extended by ``RANGE_MARGIN``,
    and about the last label by ``STEP_MARGIN`` where the counters say so. An infinite p
    is replaced by the last label: there is nothing to be read from it, not even a sign.
    """
    lowest, highest = counters[LOWEST_LABEL], counters[HIGHEST_LABEL]
    beyond = RANGE_MARGIN * (highest - lowest)
    low, high = lowest - beyond, highest + beyond
    if counters[STEP_LIMIT] > 0:
        step = STEP_MARGIN * counters[MAX_LABEL_STEP]
        low, high = max(low, last_y - step), min(high, last_y + step)
    for k in range(0, predictions.size, WIDTH):
        expected = load(predictions, k)
        expected = select_greater(MAX_FLOAT, absolute(expected), expected, last_y)
        store(predictions, k, minimum(high, maximum(low, expected)))


@inline_function
def set_active_experts(active_from, t, rules):
    """Set which experts are active in round t, and which in the next; all rules are.

    active_k = 1 if active_from_k ≤ t, else 0; ``rules`` is the workspace of the rules.
    """
    for k in range(0, active_from.size, WIDTH):
        first = load(active_from, k)
        store(rules.active, k, select_greater(first, t, 0.0, 1.0))
        store(rules.active_next, k, select_greater(first, t + 1, 0.0, 1.0))
    store(rules.rule_mask, 0, load(RULE_MASK, 0))
    store(rules.base_rule_mask, 0, load(BASE_RULE_MASK, 0))


@inline_function
def observe(s, x, y, w, elapsed, forecast, workspace):
    """Learn the round that was just forecast; or, where labels are late, the round
    whose label is known by now. Returns whether the last rounds are to be replayed.
    """
    counters = s.counters
    has_prediction, row, scale = counters[ROUNDS] > 0, x, counters[ERROR_SCALE]
    if counters[DELAY] > 0:
        rules, experts = workspace.rules, workspace.experts
        if not push_pending(counters, s.pending, x, y, w, elapsed, forecast, rules):
            return False
        row, age, mean = experts.pending_x, int(counters[DELAY]), s.experts.mean
        y, w, elapsed, forecast, has_prediction, scale = pop_pending(
            counters, s.pending, rules, row
        )
        u, origin = experts.deviations, experts.origin
        set_deviations(counters, s.past_x, s.past_y, mean, row, u, origin, age)
        set_active_experts(s.active_from, counters[ROUNDS], rules)
    return learn(s, row, y, w, elapsed, forecast, has_prediction, scale, workspace)


@inline_function
def learn(s, x, y, w, elapsed, forecast, has_prediction, scale, workspace):
    """Learn the label ``y`` at ``x``, with weight ``w``, after this ``forecast``.

    A round of weight zero teaches nothing. If it took time, it is remembered as passed:
    seasons go on, and the forecast stands for its label. ``has_prediction`` says
    whether the experts made predictions in this round, and ``scale`` is the mean size
    of the errors known at that time. Returns whether the last rounds are to be
    replayed.
    """
    counters, u = s.counters, workspace.experts.deviations
    counters[ELAPSED] += elapsed
    if w > 0:
        if counters[ROUNDS] > 0:
            w = capped_weight(counters, y, w, u)
            counters[TOTAL_WEIGHT] += w
            if has_prediction:
                largest = mixture.learn(
                    s.rules, workspace.rules, forecast, y, w, counters[ROUNDS]
                )
                counters[MAX_LOSS] = max(counters[MAX_LOSS], largest)
                learn_error(counters, s.recent_errors, y - forecast, scale)
                if counters[ROUNDS] >= WARM_UP:
                    s.rules.meta[BLOCK_LOSS] += (y - forecast) ** 2
            share, passed = w / counters[TOTAL_WEIGHT], counters[ELAPSED]
            learn_experts(s.experts, x, y, w, passed, share, workspace.experts)
            update_max_steps(s.max_feature_steps, u)
        update_label_range(counters, workspace.experts.origin[STEP_LANE], y)
        counters[ELAPSED] = 0.0
        update_season(counters, s.past_y, s.season_differences, s.inverse_counts, y)
    elif elapsed == 0 or counters[ROUNDS] == 0:
        return False
    push_round(counters, s.past_x, s.past_y, x, y if w > 0 else forecast)
    push_inverse_count(counters, s.inverse_counts, w > 0)
    if w == 0:
        return False
    counters[ROUNDS] += 1
    if is_check_due(counters):
        restart_after_outlier(s, workspace.rules, workspace.experts.recent_steps)
    return is_replay_due(s, workspace.experts.recent_steps)


@inner_function
def capped_weight(counters, y, w, u):
    """The weight, capped so that its product with any square of a round is finite."""
    if w <= 1:
        return w
    widest = max(counters[HIGHEST_LABEL], y) - min(counters[LOWEST_LABEL], y)
    for j in range(len(u) - 1):
        widest = max(widest, abs(u[j, STEP_LANE]), abs(u[j, SEASON_LANE]))
    return min(w, MAX_WEIGHTED_SQUARE / max(widest, 1.0) / max(widest, 1.0))


@inner_function
def update_label_range(counters, last_y, y):
    """Extend the range of labels and, after the first round, their largest step."""
    if counters[ROUNDS] == 0:
        counters[LOWEST_LABEL], counters[HIGHEST_LABEL] = y, y
        return
    counters[LOWEST_LABEL] = min(counters[LOWEST_LABEL], y)
    counters[HIGHEST_LABEL] = max(counters[HIGHEST_LABEL], y)
    counters[MAX_LABEL_STEP] = max(counters[MAX_LABEL_STEP], abs(y - last_y))
