r"""The definition of the Tracker: one round after the other, in plain NumPy.

Also known as: reference implementation, executable specification.

``Tracker.update`` runs this file; ``run`` and ``Online`` run the kernels of
kernels/tracker, which are held to it by tests and are about a thousand times faster.
Both work on the same packed state, through the views of
kernels/tracker/tracker_layout.py. A function here has the name of the kernels' that
computes the same: where ``set_x`` there fills an array, ``x`` here returns it, and
``learn_boa`` and ``boa_weights`` are ``learn`` and ``set_weights`` of boa.py.

A round (``observe``):

1. ``predict``. 75 ridge regressions predict y from x and the past, as deviations from
   an origin (a discounted mean, the last round, or the round a season ago); the 76th
   expert predicts the last label (definition_experts.py). Predictions are clipped, and
   seven rules and a committee of them mix them, each expert trusted by its leverage.
   The committee is corrected for curvature (definition_curvature.py), and a meta-rule
   mixes it with the rules into one forecast (definition_rules.py). Where a feature
   is a forecast of y, that is pooled with it (definition_external_forecast.py).
2. Where labels come late (``delay``), the round waits until its label is due
   (definition_pending.py).
3. ``learn``. The rules learn from the predictions made in that round, the prediction
   intervals from the forecast's error, the experts from the deviations; the season is
   estimated again.
4. Every 128 rounds: restart, where old values are far larger than all recent ones.
"""

import math
from typing import Any

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.prediction_interval import (
    MAX_SCORE,
    OVERLAP,
    QUICK_SCALE_MEMORY,
    SCALE_MEMORY,
)
from thalweg.kernels.tracker.round import MAX_WEIGHTED_SQUARE
from thalweg.learners.tracker.definition_adashare import adashare_weights
from thalweg.learners.tracker.definition_clipping import (
    clip_limits,
    clip_predictions,
    limit_after_jump,
    update_jump,
    update_label_range,
)
from thalweg.learners.tracker.definition_curvature import (
    context,
    correct,
    learn_correction,
    learn_curvature,
    update_change,
)
from thalweg.learners.tracker.definition_experts import (
    LEVEL,
    confidences,
    deviations,
    feature_factors,
    lag_factors,
    learn_experts,
    predict_experts,
)
from thalweg.learners.tracker.definition_external_forecast import (
    learn_pool,
    pool_forecasts,
)
from thalweg.learners.tracker.definition_pending import (
    LabelledRound,
    pop_pending,
    push_pending,
)
from thalweg.learners.tracker.definition_replay import (
    ReplayRound,
    is_replay_due,
    learn_block_loss,
    replay,
)
from thalweg.learners.tracker.definition_restart import (
    is_check_due,
    restart_after_outlier,
    update_max_steps,
)
from thalweg.learners.tracker.definition_rules import (
    IS_RULE,
    Mixture,
    active_experts,
    expert_weights,
    learn_rules,
    mix,
    rule_predictions,
)
from thalweg.learners.tracker.definition_season import (
    push_inverse_count,
    push_round,
    update_season,
)
from thalweg.learners.tracker.definition_solve import (
    back_substitute,
)
from thalweg.types import FloatArray

# Numbers near the limits of float64 overflow here as they do in the kernels; the
# results are clipped or set to zero where they are used.
ignore_overflow = np.errstate(all="ignore")


@ignore_overflow
def predict(s: Any, x: FloatArray) -> Mixture:
    """The forecast of y at ``x``, and the predictions it is mixed from.

    Before any label was learnt the forecast is 0. The state's views ``s`` are not
    changed.
    """
    t = s.counters[layout.ROUNDS]
    if t == 0:
        experts, rules = np.zeros(layout.PADDED_EXPERTS), np.zeros(layout.PADDED_RULES)
        no_context = np.zeros(len(x) + layout.CONTEXT_LABELS)
        nothing = (np.zeros(2), np.zeros(layout.CANDIDATES), no_context)
        return Mixture(0.0, experts, rules, experts, *nothing, np.zeros(2))
    u, active = deviations(s, x, rounds_late=0), active_experts(s, t)
    q, h = predict_experts(s, u)
    low, high = clip_limits(s.counters, u.labels, q)
    low, high = limit_after_jump(s.counters, low, high)
    q, trust = clip_predictions(low, high, q), confidences(h)
    weights = expert_weights(s.rules, active, trust)
    predictions = rule_predictions(weights, q, active)
    z = context(s, x, u.labels)
    mean = float(predictions[layout.COMMITTEE])
    correction, candidates = correct(s, mean, z, low, high)
    predictions[layout.COMMITTEE] = mean + correction
    own = mix(predictions, adashare_weights(s.rules.meta, IS_RULE))
    forecast, external = pool_forecasts(s, x, own, low, high)
    committee = np.array([mean, correction])
    pool = np.array([own, external])
    return Mixture(forecast, q, predictions, trust, committee, candidates, z, pool)


@ignore_overflow
def observe(s: Any, x: FloatArray, y: float, weight: float, elapsed: float) -> None:
    """Play one round, changing the state in place.

    With a delay of d rounds, what is learnt is the round d before this one.
    """
    mixture, counters = predict(s, x), s.counters
    known = bool(counters[layout.ROUNDS] > 0)
    scale = float(counters[layout.ERROR_SCALE])
    played = LabelledRound(x, y, weight, elapsed, *mixture, known, scale)
    if counters[layout.DELAY] == 0:
        learn(s, played, rounds_late=0)
    else:
        push_pending(s, played)
        if counters[layout.PENDING_COUNT] > counters[layout.DELAY]:
            learn(s, pop_pending(s), rounds_late=int(counters[layout.DELAY]))


def play_again(s: Any, played: ReplayRound) -> float:
    """Play a round on a fresh state; returns its forecast."""
    forecast = predict(s, played[0]).forecast
    observe(s, *played)
    return forecast


def learn(s: Any, played: LabelledRound, rounds_late: int) -> None:
    """Learn the label ``y`` at ``x``, with a weight, after ``forecast``.

    Nothing is learnt from a round of weight zero, but it is stored with the forecast in
    place of its label, so that seasons continue, unless it took no time.
    """
    x, y, w, elapsed, forecast = played[:5]
    counters, first = s.counters, s.counters[layout.ROUNDS] == 0
    counters[layout.ELAPSED] += elapsed
    if w > 0:
        u = deviations(s, x, rounds_late)
        if not first:
            w = capped_weight(counters, y, w, u.x)
            counters[layout.TOTAL_WEIGHT] += w
            if played.has_prediction:
                learn_predictions(s, played, w)
            learn_experts(s, x, y, w, u)
            update_change(s, u.labels, w / counters[layout.TOTAL_WEIGHT])
            update_max_steps(s.max_feature_steps, u.x)
            if played.has_prediction:
                update_jump(counters, y, u.origin[layout.STEP_LANE], forecast)
        update_label_range(counters, y, last_y=u.origin[layout.STEP_LANE])
        counters[layout.ELAPSED] = 0.0
        update_season(s, y)
    elif elapsed == 0 or first:
        return
    push_round(s, x, y if w > 0 else forecast)
    push_inverse_count(s, learnt=w > 0)
    if w > 0:
        counters[layout.ROUNDS] += 1
        counters[layout.GAP_ROUNDS] = 0.0
        if is_check_due(counters):
            restart_after_outlier(s)
        if is_replay_due(s):
            replay(s, play_again)
    else:
        counters[layout.GAP_ROUNDS] += 1
        counters[layout.JUMP_ROUNDS] = 0.0  # where the label is now is not known


def learn_predictions(s: Any, played: LabelledRound, w: float) -> None:
    """Let rules and intervals learn from the predictions made in this round."""
    counters, t = s.counters, s.counters[layout.ROUNDS]
    active, active_next = active_experts(s, t), active_experts(s, t + 1)
    largest = learn_rules(
        s.rules, played.expert_predictions, played.rule_predictions,
        float(played.committee[0]), played.confidences, float(played.pool[0]), played.y,
        w, t, active, active_next,
    )  # fmt: skip
    own, external = map(float, played.pool)
    learn_pool(s, own, external, played.y, w)
    counters[layout.MAX_LOSS] = max(counters[layout.MAX_LOSS], largest)
    learn_error(s, played.y - played.forecast, played.error_scale)
    learn_block_loss(s, played.y - played.forecast)
    if counters[layout.HINGE_COUNT] > 0:
        mean, correction = map(float, played.committee)
        error = played.y - mean
        learn_correction(s, played.candidates, correction, error, w)
        learn_curvature(s, played.context, error, w, counters[layout.ELAPSED])


def capped_weight(counters: FloatArray, y: float, w: float, u: FloatArray) -> float:
    """The weight, or as much of it as keeps w times any square within float64."""
    if w <= 1:
        return w
    labels = max(counters[layout.HIGHEST_LABEL], y) - min(
        counters[layout.LOWEST_LABEL], y
    )
    widest = max(
        labels, abs(u[:, [layout.STEP_LANE, layout.SEASON_LANE]]).max(initial=0.0), 1.0
    )
    return float(min(w, MAX_WEIGHTED_SQUARE / widest / widest))


# The Tracker's own errors, and its prediction intervals.


def learn_error(s: Any, error: float, scale: float) -> None:
    """Remember one error of the forecast, in units of the error scale known then.

    Where none was known then, the present scale is used, as late labels arrive one by
    one. The scale is the geometric mean of two running means of |error|, over about the
    last 8 and the last 32. With labels d rounds late, errors of neighbours are alike:
    of those beyond the first 512 only every (1 + d // 8)th is remembered, and the
    quicker mean is over the last 8 (1 + d), or 32.
    """
    counters, seen = s.counters, int(s.counters[layout.ERROR_COUNT])
    delay, (ring, ordered) = int(counters[layout.DELAY]), s.recent_errors
    scale = scale or counters[layout.ERROR_SCALE]
    score = error / scale if scale > 0 else math.copysign(1.0, error)
    later, stride = max(seen - layout.RECENT_ERRORS, 0), 1 + delay // OVERLAP
    if later % stride == 0:
        place = (
            seen
            if seen < layout.RECENT_ERRORS
            else later // stride % layout.RECENT_ERRORS
        )
        ring[place] = min(max(score, -MAX_SCORE), MAX_SCORE)
    count = min(seen + 1, layout.RECENT_ERRORS)
    ordered[:count] = np.sort(ring[:count])
    counters[layout.ERROR_COUNT] = seen + 1
    quick = min(QUICK_SCALE_MEMORY * (1 + delay), SCALE_MEMORY)
    for mean, memory in (
        (layout.QUICK_ERROR_MEAN, quick),
        (layout.SLOW_ERROR_MEAN, SCALE_MEMORY),
    ):
        change = abs(error) - counters[mean]
        counters[mean] += change / min(seen + 1, memory)
    roots = np.sqrt(counters[[layout.QUICK_ERROR_MEAN, layout.SLOW_ERROR_MEAN]])
    counters[layout.ERROR_SCALE] = roots[0] * roots[1]


def interval_offsets(s: Any, coverage: float) -> tuple[float, float]:
    """The ends of the interval relative to the forecast, at this coverage.

    Conformal quantiles: the next error is as likely to fall into each of the count + 1
    gaps between the remembered ones. With labels d rounds late, 1 + d/2 errors in a row
    count as one, fewer the further apart those in the window are; quantiles are taken
    further out then, once the window is full. Before any error is known y may lie
    anywhere.
    """
    scale, count = s.counters[layout.ERROR_SCALE], int(s.counters[layout.ERROR_COUNT])
    ordered = s.recent_errors[1, : min(count, layout.RECENT_ERRORS)]
    if count == 0:
        return -math.inf, math.inf
    delay, share, alike = int(s.counters[layout.DELAY]), (1 - coverage) / 2, 1.0
    if len(ordered) == layout.RECENT_ERRORS:
        reach = min(count, layout.RECENT_ERRORS * (1 + delay // OVERLAP))
        alike = max(layout.RECENT_ERRORS * (1 + delay / 2) / reach, 1.0)
    outside = math.floor(share * (len(ordered) + 1) - (0.5 - share) * (alike - 1))
    below = ordered[max(outside - 1, 0)]
    above = ordered[min(len(ordered) - outside, len(ordered) - 1)]
    return min(0.0, scale * below), max(0.0, scale * above)


# What the Tracker knows about itself.


@ignore_overflow
def forecast_weights(s: Any) -> FloatArray:
    """The weight of every expert in the forecast, (PADDED_EXPERTS,); 0 at the start.

    With full confidence in every expert, so that they do not depend on x.
    """
    t = s.counters[layout.ROUNDS]
    if t == 0:
        return np.zeros(layout.PADDED_EXPERTS)
    weights = expert_weights(
        s.rules, active_experts(s, t), np.ones(layout.PADDED_EXPERTS)
    )
    return np.asarray(adashare_weights(s.rules.meta, IS_RULE) @ weights)


@ignore_overflow
def slope(s: Any, forecast_weights: FloatArray) -> FloatArray:
    """How the forecast moves with x: the weighted mean of coefficients, (n,)."""
    experts, n = s.experts, len(s.experts.anchored)
    own, both = feature_factors(experts), lag_factors(experts, s.lags)
    theta = np.hstack([
        back_substitute(own.lower, own.right), experts.anchored[:, LEVEL],
        back_substitute(both.lower, both.right)[:n],
        s.distributed_lag.theta[:n, :layout.DISTRIBUTED_COUNT],
    ])  # fmt: skip
    return np.asarray(theta @ forecast_weights[: layout.LAST_VALUE])


def effective_memory(s: Any, forecast_weights: FloatArray) -> float:
    """exp Σ w_k ln min(M_k, t), the last value's M being 1; 0 before any label."""
    t = s.counters[layout.ROUNDS]
    if t == 0:
        return 0.0
    tens = [layout.MEMORIES] * (layout.DISTRIBUTED_LAG // layout.MEMORY_COUNT)
    memories = np.minimum(np.concatenate([*tens, layout.DISTRIBUTED_MEMORIES]), t)
    return math.exp(forecast_weights[: layout.LAST_VALUE] @ np.log(memories))
