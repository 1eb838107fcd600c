"""Labels that come late: a ring of rounds between their forecast and their label.

A row of ``pending`` holds y, weight, elapsed time, the forecast, whether the experts
made predictions, the scale of errors known then, the committee's own prediction, its
correction and the candidates for it, the predictions of every expert and of every rule,
the confidences in experts, what the forecast was pooled of, the features and the
context (``PENDING_Y`` … in tracker_layout.py). A rule learns from the predictions made
when the forecast was asked for, not from those it would make now.
"""

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.external_forecast import set_pooled


@inner_function
def push_pending(
    counters, pending, x, y, w, elapsed, forecast, workspace, curvature, pool
):
    """Add a round whose label is still to come; returns whether the oldest is due.

    ``workspace`` is that of the rules, ``curvature`` that of the correction, ``pool``
    that of the pool.
    """
    slot = (
        int(counters[layout.OLDEST_PENDING]) + int(counters[layout.PENDING_COUNT])
    ) % len(pending)
    row = pending[slot]
    row[layout.PENDING_Y], row[layout.PENDING_WEIGHT], row[layout.PENDING_ELAPSED] = (
        y,
        w,
        elapsed,
    )
    row[layout.PENDING_FORECAST], row[layout.PENDING_SCALE] = (
        forecast,
        counters[layout.ERROR_SCALE],
    )
    row[layout.HAS_PREDICTION] = 1.0 if counters[layout.ROUNDS] > 0 else 0.0
    for k in range(layout.PADDED_EXPERTS):
        row[layout.PENDING_PREDICTIONS + k] = workspace.expert_predictions[k]
        row[layout.PENDING_CONFIDENCES + k] = workspace.confidences[k]
    for k in range(layout.PADDED_RULES):
        row[layout.PENDING_RULES + k] = workspace.rule_predictions[k]
    row[layout.PENDING_MEAN] = curvature.committee[layout.COMMITTEE_MEAN]
    row[layout.PENDING_CORRECTION] = curvature.committee[layout.CORRECTION]
    for k in range(layout.CANDIDATES):
        row[layout.PENDING_CANDIDATES + k] = curvature.candidates[k]
    row[layout.PENDING_OWN], row[layout.PENDING_EXTERNAL] = (
        pool.forecasts[layout.OWN],
        pool.forecasts[layout.EXTERNAL],
    )
    for j in range(x.size):
        row[layout.PENDING_FEATURES + j] = x[j]
    for j in range(curvature.context.size):
        row[layout.PENDING_FEATURES + x.size + j] = curvature.context[j]
    counters[layout.PENDING_COUNT] += 1
    return counters[layout.PENDING_COUNT] > counters[layout.DELAY]


@inner_function
def pop_pending(counters, pending, workspace, curvature, pool, x):
    """Remove the oldest round; returns its y, weight, elapsed time, forecast, whether
    it has predictions, and its scale.

    Its features are put into ``x``, its predictions into the ``workspace`` of rules,
    its candidates and its context into that of the correction, ``curvature``,
    and what was pooled into that of the ``pool``.
    """
    row = pending[int(counters[layout.OLDEST_PENDING])]
    for k in range(layout.PADDED_EXPERTS):
        workspace.expert_predictions[k] = row[layout.PENDING_PREDICTIONS + k]
        workspace.confidences[k] = row[layout.PENDING_CONFIDENCES + k]
    for k in range(layout.PADDED_RULES):
        workspace.rule_predictions[k] = row[layout.PENDING_RULES + k]
    curvature.committee[layout.COMMITTEE_MEAN] = row[layout.PENDING_MEAN]
    curvature.committee[layout.CORRECTION] = row[layout.PENDING_CORRECTION]
    for k in range(layout.CANDIDATES):
        curvature.candidates[k] = row[layout.PENDING_CANDIDATES + k]
    for j in range(curvature.context.size):
        curvature.context[j] = row[layout.PENDING_FEATURES + x.size + j]
    set_pooled(pool.forecasts, row[layout.PENDING_OWN], row[layout.PENDING_EXTERNAL])
    counters[layout.OLDEST_PENDING] = (counters[layout.OLDEST_PENDING] + 1) % len(
        pending
    )
    counters[layout.PENDING_COUNT] -= 1
    for j in range(x.size):
        x[j] = row[layout.PENDING_FEATURES + j]
    y, w, elapsed = (
        row[layout.PENDING_Y],
        row[layout.PENDING_WEIGHT],
        row[layout.PENDING_ELAPSED],
    )
    forecast, scale = row[layout.PENDING_FORECAST], row[layout.PENDING_SCALE]
    return y, w, elapsed, forecast, row[layout.HAS_PREDICTION] > 0, scale


@inner_function
def invalidate_pending(pending):
    """Keep the rules from learning the predictions of the rounds that wait."""
    for slot in range(len(pending)):
        pending[slot, layout.HAS_PREDICTION] = 0.0
