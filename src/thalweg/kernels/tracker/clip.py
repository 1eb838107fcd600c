"""Limits to what an expert may say: one wild prediction can cost a whole stream."""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import WIDTH, above, larger, load, size, smaller, store
from thalweg.kernels.tracker.layout import HIGH, LIMITED, LONGEST_STEP, LOW, ROUNDS

LARGEST = 1.7e308
MARGIN = 0.5
"""How far beyond the labels seen, in units of their range."""
STRIDE = 2.0
"""How far from the last label, in units of the largest step between labels so far."""


@inner_function
def clip(clock, last_y, said):
    """Keep what the experts say near the labels, and near the last one if so set."""
    beyond = MARGIN * (clock[HIGH] - clock[LOW])
    low, high = clock[LOW] - beyond, clock[HIGH] + beyond
    if clock[LIMITED] > 0:
        step = STRIDE * clock[LONGEST_STEP]
        low, high = max(low, last_y - step), min(high, last_y + step)
    for k in range(0, said.size, WIDTH):
        expected = load(said, k)
        # Beyond float64 there is nothing to be read from: not even a direction.
        expected = above(LARGEST, size(expected), expected, last_y)
        store(said, k, smaller(high, larger(low, expected)))


@inner_function
def widen(clock, last_y, y):
    """Take note of a label and, but in the first round, of the one before it."""
    if clock[ROUNDS] == 0:
        clock[LOW], clock[HIGH] = y, y
        return
    clock[LOW], clock[HIGH] = min(clock[LOW], y), max(clock[HIGH], y)
    clock[LONGEST_STEP] = max(clock[LONGEST_STEP], abs(y - last_y))
