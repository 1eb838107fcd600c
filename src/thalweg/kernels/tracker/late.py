"""Labels that come late: rounds wait here between their forecast and their label.

A row of ``pending`` holds y, weight, elapsed time, the forecast, whether anybody had
spoken, the scale of errors known then, what each expert and each rule said, then the
features. A rule is taught by what was said when the forecast was asked for, not by what
would be said now.
"""

from thalweg.kernels.inner import inner
from thalweg.kernels.tracker.layout import (
    DELAY,
    OLDEST,
    PENDING,
    ROUNDS,
    RULE_SEATS,
    SCALE,
    SEATS,
    WAITING,
)

SAID = 6


@inner
def wait(clock, pending, x, y, w, elapsed, forecast, votes):
    """Take a round in whose label is still to come; whether the oldest one's is due."""
    slot = (int(clock[OLDEST]) + int(clock[WAITING])) % len(pending)
    row = pending[slot]
    spoken = 1.0 if clock[ROUNDS] > 0 else 0.0
    row[0], row[1], row[2], row[3], row[4] = y, w, elapsed, forecast, spoken
    row[5] = clock[SCALE]
    for k in range(SEATS):
        row[SAID + k] = votes.said[k]
    for k in range(RULE_SEATS):
        row[SAID + SEATS + k] = votes.mixes[k]
    for j in range(x.size):
        row[PENDING + j] = x[j]
    clock[WAITING] += 1
    return clock[WAITING] > clock[DELAY]


@inner
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
    return row[0], row[1], row[2], row[3], row[4] > 0, row[5]
