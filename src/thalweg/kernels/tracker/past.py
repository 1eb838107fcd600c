"""The last rounds: labels in a row for the season finder, features in a ring."""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.tracker.layout import MAX_SEASON, PASSED_ROUNDS


@inline_function
def newest(counters):
    """Where y_{t-1} stands in ``past_y``; y_{t-l} stands l - 1 places behind it."""
    return (MAX_SEASON - int(counters[PASSED_ROUNDS]) % MAX_SEASON) % MAX_SEASON


@inline_function
def row(counters, lag):
    """Where x_{t-lag} stands in ``past_x``."""
    return (int(counters[PASSED_ROUNDS]) - lag) % MAX_SEASON


@inner_function
def push(counters, past_x, past_y, x, y):
    """Remember a round that has passed."""
    here = row(counters, 0)
    for j in range(x.size):
        past_x[here, j] = x[j]
    counters[PASSED_ROUNDS] += 1
    # Written twice, half the array apart, so that the last labels are always one
    # contiguous stretch that starts in the first half.
    place = newest(counters)
    past_y[place] = y
    past_y[place + MAX_SEASON] = y
