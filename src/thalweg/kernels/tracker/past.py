"""The last rounds: labels in a row for the season finder, features in a ring."""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.tracker.layout import LONGEST_SEASON, PASSED


@inline_function
def newest(clock):
    """Where y_{t-1} stands in ``past_y``; y_{t-l} stands l - 1 places behind it."""
    return (LONGEST_SEASON - int(clock[PASSED]) % LONGEST_SEASON) % LONGEST_SEASON


@inline_function
def row(clock, lag):
    """Where x_{t-lag} stands in ``past_x``."""
    return (int(clock[PASSED]) - lag) % LONGEST_SEASON


@inner_function
def push(clock, past_x, past_y, x, y):
    """Remember a round that has passed."""
    here = row(clock, 0)
    for j in range(x.size):
        past_x[here, j] = x[j]
    clock[PASSED] += 1
    # Written twice, half the array apart, so that the last labels are always one
    # contiguous stretch that starts in the first half.
    place = newest(clock)
    past_y[place] = y
    past_y[place + LONGEST_SEASON] = y
