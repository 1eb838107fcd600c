"""Labels that come late: rounds wait here between their forecast and their label.

A row of ``pending`` holds y, weight, elapsed time, the forecast, whether anybody had
spoken, the scale of errors known then, what each expert and each rule said, then the
features. A rule is taught by what was said when the forecast was asked for, not by what
would be said now.
"""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.tracker.layout import (
    DELAY,
    ERROR_SCALE,
    HAS_PREDICTION,
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
    ROUNDS,
)


@inner_function
def push_pending(counters, pending, x, y, w, elapsed, forecast, rule_workspace):
    """Take a round in whose label is still to come; whether the oldest one's is due."""
    slot = (int(counters[OLDEST_PENDING]) + int(counters[PENDING_COUNT])) % len(pending)
    row = pending[slot]
    row[PENDING_Y], row[PENDING_WEIGHT], row[PENDING_ELAPSED] = y, w, elapsed
    row[PENDING_FORECAST], row[PENDING_SCALE] = forecast, counters[ERROR_SCALE]
    row[HAS_PREDICTION] = 1.0 if counters[ROUNDS] > 0 else 0.0
    for k in range(PADDED_EXPERTS):
        row[PENDING_PREDICTIONS + k] = rule_workspace.expert_predictions[k]
    for k in range(PADDED_RULES):
        row[PENDING_PREDICTIONS + PADDED_EXPERTS + k] = rule_workspace.rule_predictions[
            k
        ]
    for j in range(x.size):
        row[PENDING_FEATURES + j] = x[j]
    counters[PENDING_COUNT] += 1
    return counters[PENDING_COUNT] > counters[DELAY]


@inner_function
def pop_pending(counters, pending, rule_workspace, x):
    """Let the oldest go: its y, weight, elapsed, forecast, spoken and scale.

    ``x`` then has its features, and ``rule_workspace`` what was said in it.
    """
    row = pending[int(counters[OLDEST_PENDING])]
    for k in range(PADDED_EXPERTS):
        rule_workspace.expert_predictions[k] = row[PENDING_PREDICTIONS + k]
    for k in range(PADDED_RULES):
        rule_workspace.rule_predictions[k] = row[
            PENDING_PREDICTIONS + PADDED_EXPERTS + k
        ]
    counters[OLDEST_PENDING] = (counters[OLDEST_PENDING] + 1) % len(pending)
    counters[PENDING_COUNT] -= 1
    for j in range(x.size):
        x[j] = row[PENDING_FEATURES + j]
    y, w, elapsed = row[PENDING_Y], row[PENDING_WEIGHT], row[PENDING_ELAPSED]
    return (
        y,
        w,
        elapsed,
        row[PENDING_FORECAST],
        row[HAS_PREDICTION] > 0,
        row[PENDING_SCALE],
    )


@inner_function
def invalidate_pending(pending):
    """Of the rounds that wait, what was said is not to be learnt from any more."""
    for slot in range(len(pending)):
        pending[slot, HAS_PREDICTION] = 0.0
