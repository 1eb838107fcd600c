"""Labels that come late: a ring of rounds between their forecast and their label.

A row of ``pending`` holds y, weight, elapsed time, the forecast, whether the experts
made predictions, the scale of errors known then, the committee's own prediction, its
correction and the candidates for it, the predictions of every expert and of every rule,
the confidences in experts, what the forecast was pooled of, the features and the
context (``PENDING_Y`` … in tracker_layout.py). A rule learns from the predictions made
when the forecast was asked for, not from those it would make now.
"""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.tracker.given_forecast import set_pooled
from thalweg.kernels.tracker.tracker_layout import (
    CANDIDATES,
    COMMITTEE_MEAN,
    CORRECTION,
    DELAY,
    ERROR_SCALE,
    GIVEN,
    HAS_PREDICTION,
    OLDEST_PENDING,
    OWN,
    PADDED_EXPERTS,
    PADDED_RULES,
    PENDING_CANDIDATES,
    PENDING_CONFIDENCES,
    PENDING_CORRECTION,
    PENDING_COUNT,
    PENDING_ELAPSED,
    PENDING_FEATURES,
    PENDING_FORECAST,
    PENDING_GIVEN,
    PENDING_MEAN,
    PENDING_OWN,
    PENDING_PREDICTIONS,
    PENDING_RULES,
    PENDING_SCALE,
    PENDING_WEIGHT,
    PENDING_Y,
    ROUNDS,
)


@inner_function
def push_pending(
    counters, pending, x, y, w, elapsed, forecast, workspace, curvature, pool
):
    """Add a round whose label is still to come; returns whether the oldest is due.

    ``workspace`` is that of the rules, ``curvature`` that of the correction, ``pool``
    that of the pool.
    """
    slot = (int(counters[OLDEST_PENDING]) + int(counters[PENDING_COUNT])) % len(pending)
    row = pending[slot]
    row[PENDING_Y], row[PENDING_WEIGHT], row[PENDING_ELAPSED] = y, w, elapsed
    row[PENDING_FORECAST], row[PENDING_SCALE] = forecast, counters[ERROR_SCALE]
    row[HAS_PREDICTION] = 1.0 if counters[ROUNDS] > 0 else 0.0
    for k in range(PADDED_EXPERTS):
        row[PENDING_PREDICTIONS + k] = workspace.expert_predictions[k]
        row[PENDING_CONFIDENCES + k] = workspace.confidences[k]
    for k in range(PADDED_RULES):
        row[PENDING_RULES + k] = workspace.rule_predictions[k]
    row[PENDING_MEAN] = curvature.committee[COMMITTEE_MEAN]
    row[PENDING_CORRECTION] = curvature.committee[CORRECTION]
    for k in range(CANDIDATES):
        row[PENDING_CANDIDATES + k] = curvature.candidates[k]
    row[PENDING_OWN], row[PENDING_GIVEN] = pool.forecasts[OWN], pool.forecasts[GIVEN]
    for j in range(x.size):
        row[PENDING_FEATURES + j] = x[j]
    for j in range(curvature.context.size):
        row[PENDING_FEATURES + x.size + j] = curvature.context[j]
    counters[PENDING_COUNT] += 1
    return counters[PENDING_COUNT] > counters[DELAY]


@inner_function
def pop_pending(counters, pending, workspace, curvature, pool, x):
    """Remove the oldest round; returns its y, weight, elapsed time, forecast, whether
    it has predictions, and its scale.

    Its features are put into ``x``, its predictions into the ``workspace`` of rules,
    its candidates and its context into that of the correction, ``curvature``,
    and what was pooled into that of the ``pool``.
    """
    row = pending[int(counters[OLDEST_PENDING])]
    for k in range(PADDED_EXPERTS):
        workspace.expert_predictions[k] = row[PENDING_PREDICTIONS + k]
        workspace.confidences[k] = row[PENDING_CONFIDENCES + k]
    for k in range(PADDED_RULES):
        workspace.rule_predictions[k] = row[PENDING_RULES + k]
    curvature.committee[COMMITTEE_MEAN] = row[PENDING_MEAN]
    curvature.committee[CORRECTION] = row[PENDING_CORRECTION]
    for k in range(CANDIDATES):
        curvature.candidates[k] = row[PENDING_CANDIDATES + k]
    for j in range(curvature.context.size):
        curvature.context[j] = row[PENDING_FEATURES + x.size + j]
    set_pooled(pool.forecasts, row[PENDING_OWN], row[PENDING_GIVEN])
    counters[OLDEST_PENDING] = (counters[OLDEST_PENDING] + 1) % len(pending)
    counters[PENDING_COUNT] -= 1
    for j in range(x.size):
        x[j] = row[PENDING_FEATURES + j]
    y, w, elapsed = row[PENDING_Y], row[PENDING_WEIGHT], row[PENDING_ELAPSED]
    forecast, scale = row[PENDING_FORECAST], row[PENDING_SCALE]
    return y, w, elapsed, forecast, row[HAS_PREDICTION] > 0, scale


@inner_function
def invalidate_pending(pending):
    """Keep the rules from learning the predictions of the rounds that wait."""
    for slot in range(len(pending)):
        pending[slot, HAS_PREDICTION] = 0.0
