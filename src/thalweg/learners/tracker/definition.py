r"""The definition of the Tracker: one round after the other, in plain NumPy.

Also known as: reference implementation, executable specification.

``Tracker.update`` runs this file; ``run`` and ``Online`` run the kernels of
kernels/tracker, which are held to it by tests and are about a thousand times faster.
Both work on the same packed state, through the views of
kernels/tracker/tracker_layout.py. A function here has the name of the kernels' that
computes the same: where ``set_x`` there fills an array, ``x`` here returns it, and
``learn_boa`` and ``boa_weights`` are ``learn`` and ``set_weights`` of boa.py.

A round (``observe``):

1. ``predict``. 70 ridge regressions predict y from x, both as deviations from an origin
   (a discounted mean, the last round, or the round a season ago); the 71st expert
   predicts the last label (definition_experts.py). Predictions are clipped, and six
   rules, a committee of them and a meta-rule mix them into one forecast
   (definition_rules.py).
2. Where labels come late (``delay``), the round waits until its label is due.
3. ``learn``. The rules learn from the predictions made in that round, the prediction
   intervals from the forecast's error, the experts from the deviations; the season is
   estimated again.
4. Every 128 rounds: start anew, where old values are far larger than all recent ones.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.tracker.prediction_interval import MAX_SCORE, SCALE_MEMORY
from thalweg.kernels.tracker.restart import (
    CHECK_INTERVAL,
    MAX_FEATURE_RATIO,
    MAX_LABEL_RATIO,
)
from thalweg.kernels.tracker.round import MAX_WEIGHTED_SQUARE
from thalweg.kernels.tracker.tracker_layout import (
    BASE_RULES,
    DELAY,
    ELAPSED,
    ERROR_COUNT,
    ERROR_SCALE,
    EXPERTS,
    HAS_PREDICTION,
    HIGHEST_LABEL,
    LAST_VALUE,
    LOWEST_LABEL,
    MAX_LABEL_STEP,
    MAX_LOSS,
    MAX_SEASON,
    MEMORIES,
    MEMORY_COUNT,
    OLDEST_PENDING,
    PADDED_EXPERTS,
    PADDED_RULES,
    PENDING_COUNT,
    PENDING_ELAPSED,
    PENDING_FEATURES,
    PENDING_FORECAST,
    PENDING_PREDICTIONS,
    PENDING_SCALE,
    PENDING_WEIGHT,
    PENDING_Y,
    RECENT_ERRORS,
    ROUNDS,
    RULES,
    SEASON_LANE,
    STEP_LANE,
    TOTAL_WEIGHT,
)
from thalweg.learners.tracker.definition_experts import (
    LEVEL,
    LIGHT,
    clip_predictions,
    deviations,
    learn_experts,
    past_features,
    past_labels,
    predict_experts,
    push_inverse_count,
    push_round,
    reset_season,
    update_label_range,
    update_season,
)
from thalweg.learners.tracker.definition_rules import (
    IS_RULE,
    Mask,
    Mixture,
    learn_rules,
    mix,
    raise_loss_scale,
)
from thalweg.types import FloatArray

# Numbers near the limits of float64 overflow in here as they do in the kernels; what
# comes of it is clipped or set to zero where it is used.
ignore_overflow = np.errstate(all="ignore")


class LabelledRound(NamedTuple):
    """A round whose label is known, with the predictions that were made in it."""

    x: FloatArray  # (n,)
    y: float
    weight: float
    elapsed: float
    forecast: float
    expert_predictions: FloatArray  # (PADDED_EXPERTS,)
    rule_predictions: FloatArray  # (PADDED_RULES,)
    has_prediction: bool  # False: nothing was known then, or it is to be ignored
    error_scale: float  # the mean size of errors, as far as known then


@ignore_overflow
def predict(s: Any, x: FloatArray) -> Mixture:
    """The forecast of y at ``x``, and the predictions it is mixed from.

    Before any label was learnt the forecast is 0. The state's views ``s`` are not
    changed.
    """
    t = s.counters[ROUNDS]
    if t == 0:
        experts, rules = np.zeros(PADDED_EXPERTS), np.zeros(PADDED_RULES)
        weights = np.zeros((RULES, PADDED_EXPERTS))
        return Mixture(0.0, experts, rules, weights, np.zeros(RULES))
    q = predict_experts(s.experts, *deviations(s, x, rounds_late=0))
    return mix(s.rules, clip_predictions(s.counters, q), active_experts(s, t))


@ignore_overflow
def observe(s: Any, x: FloatArray, y: float, weight: float, elapsed: float) -> None:
    """Play one round, changing the state in place.

    With a delay of d rounds, what is learnt is the round d before this one.
    """
    mixture, counters = predict(s, x), s.counters
    known, scale = bool(counters[ROUNDS] > 0), float(counters[ERROR_SCALE])
    played = LabelledRound(x, y, weight, elapsed, *mixture[:3], known, scale)
    if counters[DELAY] == 0:
        learn(s, played, rounds_late=0)
        return
    push_pending(s, played)
    if counters[PENDING_COUNT] > counters[DELAY]:
        learn(s, pop_pending(s), rounds_late=int(counters[DELAY]))


def learn(s: Any, played: LabelledRound, rounds_late: int) -> None:
    """Learn that ``y`` came at ``x``, with a weight, after ``forecast``.

    A round of weight zero teaches nothing; that it passed is remembered, so that
    seasons go on, with the forecast in place of its label, unless it took no time.
    """
    x, y, w, elapsed, forecast = played[:5]
    counters, first = s.counters, s.counters[ROUNDS] == 0
    counters[ELAPSED] += elapsed
    if w > 0:
        u, origin = deviations(s, x, rounds_late)
        if not first:
            w = capped_weight(counters, y, w, u)
            counters[TOTAL_WEIGHT] += w
            if played.has_prediction:
                learn_predictions(s, played, w)
            learn_experts(s, x, y, w, u, origin)
            update_max_steps(s.max_feature_steps, u)
        update_label_range(counters, y, last_y=origin[STEP_LANE])
        counters[ELAPSED] = 0.0
        update_season(s, y)
    elif elapsed == 0 or first:
        return
    push_round(s, x, y if w > 0 else forecast)
    push_inverse_count(s, learnt=w > 0)
    if w > 0:
        counters[ROUNDS] += 1
        if is_check_due(counters):
            restart_after_outlier(s)


def learn_predictions(s: Any, played: LabelledRound, w: float) -> None:
    """Let rules and intervals learn from the predictions made in this round."""
    counters, t = s.counters, s.counters[ROUNDS]
    active, active_next = active_experts(s, t), active_experts(s, t + 1)
    largest = learn_rules(
        s.rules, played.expert_predictions, played.rule_predictions, played.forecast,
        played.y, w, t, active, active_next,
    )  # fmt: skip
    counters[MAX_LOSS] = max(counters[MAX_LOSS], largest)
    learn_error(s, played.y - played.forecast, played.error_scale)


def active_experts(s: Any, t: float) -> Mask:
    """Which experts take part in round t: an expert of memory M from round M/2 on."""
    return np.asarray(s.active_from <= t)


def capped_weight(counters: FloatArray, y: float, w: float, u: FloatArray) -> float:
    """The weight, or as much of it as keeps w times any square within float64."""
    if w <= 1:
        return w
    labels = max(counters[HIGHEST_LABEL], y) - min(counters[LOWEST_LABEL], y)
    widest = max(labels, abs(u[:, [STEP_LANE, SEASON_LANE]]).max(), 1.0)
    return float(min(w, MAX_WEIGHTED_SQUARE / widest / widest))


# The Tracker's own errors, and its prediction intervals.


def learn_error(s: Any, error: float, scale: float) -> None:
    """Remember one error of the forecast, in units of the error scale known then.

    Where none was known then, the present scale is used, as late labels arrive one by
    one. The scale is a running mean of |error| over about the last 32.
    """
    counters, seen = s.counters, int(s.counters[ERROR_COUNT])
    scale = scale or counters[ERROR_SCALE]
    score = error / scale if scale > 0 else math.copysign(1.0, error)
    ring, ordered = s.recent_errors
    ring[seen % RECENT_ERRORS] = min(max(score, -MAX_SCORE), MAX_SCORE)
    count = min(seen + 1, RECENT_ERRORS)
    ordered[:count] = np.sort(ring[:count])
    counters[ERROR_COUNT] = seen + 1
    change = abs(error) - counters[ERROR_SCALE]
    counters[ERROR_SCALE] += change / min(seen + 1, SCALE_MEMORY)


def interval_offsets(s: Any, coverage: float) -> tuple[float, float]:
    """How far below and above the forecast y may lie, at this coverage.

    Conformal quantiles: the next error is as likely to fall into each of the count + 1
    gaps between the remembered ones.
    """
    scale, count = s.counters[ERROR_SCALE], int(s.counters[ERROR_COUNT])
    ordered = s.recent_errors[1, : min(count, RECENT_ERRORS)]
    if count == 0:
        return 0.0, 0.0
    outside = math.floor((1 - coverage) / 2 * (len(ordered) + 1))
    below = ordered[max(outside - 1, 0)]
    above = ordered[min(len(ordered) - outside, len(ordered) - 1)]
    return min(0.0, scale * below), max(0.0, scale * above)


# Labels that come late.


def push_pending(s: Any, played: LabelledRound) -> None:
    """Let a round wait for its label, with the predictions made in it."""
    counters = s.counters
    slot = int(counters[OLDEST_PENDING] + counters[PENDING_COUNT]) % len(s.pending)
    row = s.pending[slot]
    row[PENDING_Y], row[PENDING_WEIGHT] = played.y, played.weight
    row[PENDING_ELAPSED], row[PENDING_FORECAST] = played.elapsed, played.forecast
    row[HAS_PREDICTION], row[PENDING_SCALE] = played.has_prediction, played.error_scale
    predictions = (played.expert_predictions, played.rule_predictions)
    row[PENDING_PREDICTIONS:PENDING_FEATURES] = np.concatenate(predictions)
    row[PENDING_FEATURES:] = played.x
    counters[PENDING_COUNT] += 1


def pop_pending(s: Any) -> LabelledRound:
    """The oldest round that waits, whose label is due."""
    counters = s.counters
    row = s.pending[int(counters[OLDEST_PENDING])].copy()
    counters[OLDEST_PENDING] = (counters[OLDEST_PENDING] + 1) % len(s.pending)
    counters[PENDING_COUNT] -= 1
    predictions = row[PENDING_PREDICTIONS:PENDING_FEATURES]
    return LabelledRound(
        row[PENDING_FEATURES:], row[PENDING_Y], row[PENDING_WEIGHT],
        row[PENDING_ELAPSED], row[PENDING_FORECAST], predictions[:PADDED_EXPERTS],
        predictions[PADDED_EXPERTS:], bool(row[HAS_PREDICTION]), row[PENDING_SCALE],
    )  # fmt: skip


def invalidate_pending(pending: FloatArray) -> None:
    """Let no round that waits be learnt from by its predictions: they are outdated."""
    pending[:, HAS_PREDICTION] = 0.0


# Starting anew.


def update_max_steps(max_feature_steps: FloatArray, u: FloatArray) -> None:
    """Remember the longest step of every feature, (n,)."""
    steps = abs(u[:-1, STEP_LANE])
    max_feature_steps[:] = np.maximum(max_feature_steps, steps)


def is_check_due(counters: FloatArray) -> bool:
    """Whether to check in this round: now and then, once 512 rounds are remembered."""
    t = int(counters[ROUNDS])
    return t >= MAX_SEASON and t % CHECK_INTERVAL == 0


def restart_after_outlier(s: Any) -> None:
    """Start anew where the longest step ever is far longer than all recent steps.

    One label or feature of 1e12 would stay in means, moments, ranges and scales for as
    long as they last. So the longest step of the label and of every feature is compared
    with the longest of the last 512 rounds. A feature that does not move at all may yet
    move as it did, and counts for nothing.
    """
    labels, features = past_labels(s), past_features(s)
    label_step = abs(np.diff(labels)).max()
    feature_steps = abs(np.diff(features, axis=0)).max(axis=0)
    label_outlier = 0 < label_step * MAX_LABEL_RATIO < s.counters[MAX_LABEL_STEP]
    limits = feature_steps * MAX_FEATURE_RATIO
    feature_outliers = (limits > 0) & (limits < s.max_feature_steps)
    if label_outlier or feature_outliers.any():
        s.counters[LOWEST_LABEL], s.counters[HIGHEST_LABEL] = labels.min(), labels.max()
        s.counters[MAX_LABEL_STEP] = label_step
        s.max_feature_steps[:] = feature_steps
        restart(s, features[0], labels[0])


def restart(s: Any, last_x: FloatArray, last_y: float) -> None:
    """Forget all but the last rounds and the two AdaShares of the guarantee.

    Their proof does not allow for a new start, only for a larger Δ. The rounds that
    wait for labels keep them, but their predictions are not learnt from.
    """
    counters = s.counters
    counters[TOTAL_WEIGHT] = counters[ERROR_SCALE] = counters[ERROR_COUNT] = 0.0
    s.recent_errors[:] = 0.0
    invalidate_pending(s.pending)
    reset_season(s)
    reset_experts(s.experts, last_x, last_y)
    reset_rules(s.rules)
    active_next = active_experts(s, counters[ROUNDS])
    raise_loss_scale(s.rules.adashare[0], active_next, counters[MAX_LOSS])
    raise_loss_scale(s.rules.meta, IS_RULE, counters[MAX_LOSS])


# Arrays are reset by name, here as in the kernels. Whether a restart resets it is asked
# of every array of the layout by tests/kernels/tracker/test_restart.py.


def reset_experts(experts: Any, last_x: FloatArray, last_y: float) -> None:
    """Set the experts as after a first round: each predicts the last label."""
    experts.mean[:] = 0.0
    experts.mean[:, LEVEL] = np.append(last_x, [last_y, last_y])[:, None]
    experts.weight[:] = 0.0
    experts.overall_mean[:] = 0.0
    experts.spread[:] = 0.0
    experts.moments[:] = 0.0
    experts.shrunk[:] = 0.0
    experts.anchored[:] = 0.0
    experts.autoregressive[:] = 0.0


def reset_rules(states: Any) -> None:
    """Set the rules of which nothing is proven as before their first round."""
    quick = states.adashare[1]
    quick[:] = 0.0
    quick[:PADDED_EXPERTS] = 1 / EXPERTS
    states.boa[:] = 0.0
    states.boa[0] = 1 / EXPERTS
    states.mlpoly[:] = 0.0
    states.softmax[:] = 0.0
    states.committee[:] = 0.0
    states.committee[0, :BASE_RULES] = 1 / BASE_RULES


# What the Tracker knows about itself.


def slope(s: Any, forecast_weights: FloatArray) -> FloatArray:
    """How the forecast moves with x: the weighted mean of coefficients, (n,)."""
    experts, n = s.experts, len(s.experts.shrunk)
    theta = np.hstack([
        experts.shrunk, experts.anchored[:, LEVEL],
        experts.autoregressive[:n, LIGHT],
    ])  # fmt: skip
    return np.asarray(theta @ forecast_weights[:LAST_VALUE])


def effective_memory(s: Any, forecast_weights: FloatArray) -> float:
    """exp Σ w_k ln min(M_k, t), the last value's M being 1; 0 before any label."""
    t = s.counters[ROUNDS]
    if t == 0:
        return 0.0
    memories = np.tile(np.minimum(MEMORIES, t), LAST_VALUE // MEMORY_COUNT)
    return math.exp(forecast_weights[:LAST_VALUE] @ np.log(memories))
