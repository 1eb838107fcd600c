"""Labels that come late: rounds wait here between their forecast and their label.

A row of ``pending`` holds y, weight, elapsed time, the forecast, whether anybody had
spoken, the scale of errors known then, what each expert and each rule said, then the
features. A rule is taught by what was said when the forecast was asked for, not by what
would be said now.
"""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.tracker.layout import (
    DELAY,
    LATE_ELAPSED,
    LATE_FORECAST,
    LATE_SCALE,
    LATE_WEIGHT,
    LATE_Y,
    OLDEST,
    PENDING,
    ROUNDS,
    RULE_SEATS,
    SAID,
    SCALE,
    SEATS,
    SPOKEN,
    WAITING,
)


@inner_function
def wait(clock, pending, x, y, w, elapsed, forecast, votes):
    """Take a round in whose label is still to come; whether the oldest one's is due."""
    slot = (int(clock[OLDEST]) + int(clock[WAITING])) % len(pending)
    row = pending[slot]
    row[LATE_Y], row[LATE_WEIGHT], row[LATE_ELAPSED] = y, w, elapsed
    row[LATE_FORECAST], row[LATE_SCALE] = forecast, clock[SCALE]
    row[SPOKEN] = 1.0 if clock[ROUNDS] > 0 else 0.0
    for k in range(SEATS):
        row[SAID + k] = votes.said[k]
    for k in range(RULE_SEATS):
        row[SAID + SEATS + k] = votes.mixes[k]
    for j in range(x.size):
        row[PENDING + j] = x[j]
    clock[WAITING] += 1
    return clock[WAITING] > clock[DELAY]


@inner_function
def fetch(clock, pending, votes, x):
    """Let the oldest go: its y, weight, elapsed, forecast, spoken and scale.

    ``x`` then has its features, and ``votes`` what was said in it.
    """
    row = pending[int(clock[OLDEST])]
    for k in range(SEATS):
        votes.said[k] = row[SAID + k]
    for k in range(RULE_SEATS):
        votes.mixes[k] = row[SAID + SEATS + k]
    clock[OLDEST] = (clock[OLDEST] + 1) % len(pending)
    clock[WAITING] -= 1
    for j in range(x.size):
        x[j] = row[PENDING + j]
    y, w, elapsed = row[LATE_Y], row[LATE_WEIGHT], row[LATE_ELAPSED]
    return y, w, elapsed, row[LATE_FORECAST], row[SPOKEN] > 0, row[LATE_SCALE]


@inner_function
def disown(pending):
    """Of the rounds that wait, what was said is not to be learnt from any more."""
    for slot in range(len(pending)):
        pending[slot, SPOKEN] = 0.0
