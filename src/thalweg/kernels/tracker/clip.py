"""Limits to what an expert may say: one wild prediction can cost a whole stream."""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import WIDTH, above, larger, load, size, smaller, store
from thalweg.kernels.tracker.layout import (
    HIGHEST_LABEL,
    LOWEST_LABEL,
    MAX_LABEL_STEP,
    ROUNDS,
    STEP_LIMIT,
)

LARGEST = 1.7e308
MARGIN = 0.5
"""How far beyond the labels seen, in units of their range."""
STRIDE = 2.0
"""How far from the last label, in units of the largest step between labels so far."""


@inner_function
def clip(counters, last_y, predictions):
    """Keep what the experts say near the labels, and near the last one if so set."""
    beyond = MARGIN * (counters[HIGHEST_LABEL] - counters[LOWEST_LABEL])
    low, high = counters[LOWEST_LABEL] - beyond, counters[HIGHEST_LABEL] + beyond
    if counters[STEP_LIMIT] > 0:
        step = STRIDE * counters[MAX_LABEL_STEP]
        low, high = max(low, last_y - step), min(high, last_y + step)
    for k in range(0, predictions.size, WIDTH):
        expected = load(predictions, k)
        # Beyond float64 there is nothing to be read from: not even a direction.
        expected = above(LARGEST, size(expected), expected, last_y)
        store(predictions, k, smaller(high, larger(low, expected)))


@inner_function
def update_label_range(counters, last_y, y):
    """Take note of a label and, but in the first round, of the one before it."""
    if counters[ROUNDS] == 0:
        counters[LOWEST_LABEL], counters[HIGHEST_LABEL] = y, y
        return
    counters[LOWEST_LABEL], counters[HIGHEST_LABEL] = (
        min(counters[LOWEST_LABEL], y),
        max(counters[HIGHEST_LABEL], y),
    )
    counters[MAX_LABEL_STEP] = max(counters[MAX_LABEL_STEP], abs(y - last_y))
