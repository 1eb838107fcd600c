"""The arrays of a Tracker's state by name, and how they are compared."""

import numpy as np

from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.tracker.definition_season import (
    past_labels,
)
from thalweg.learners.tracker.stored_state import SOURCES, UNUSED


def named_arrays(packed, n):
    """Copies of all arrays of a packed state, by name.

    Without what no later round looks at: where stored_state.py says so, and predictions
    of the experts that are padding.
    """
    arrays = by_name(layout.views(packed.copy(), n))
    for name, array in arrays.items():
        array[sources(name, array) == UNUSED] = 0
    padding = slice(layout.PENDING_PREDICTIONS + layout.EXPERTS, layout.PENDING_RULES)
    arrays["pending"][:, padding] = 0
    return arrays


def sources(name, array):
    """Of which of its entries every entry of a field is a copy: stored_state.py."""
    own = np.arange(array.size).reshape(array.shape)
    return SOURCES.get(name, np.asarray)(own)


# Differences of numbers that are much larger than they are.
BY_ROW = (
    "experts.mean", "experts.moments", "experts.anchored", "experts.spread",
    "lags.mean", "lags.moments", "lags.spread", "lags.overall_mean",
    "distributed_lag.mean", "distributed_lag.moments", "distributed_lag.theta",
    "curvature.gram", "curvature.target", "curvature.theta", "pending",
)  # fmt: skip


def discounted_label_sizes(packed, n):
    """The discounted mean of |y| over the last rounds, in every lane."""
    views = layout.views(packed, n)
    count = int(views.counters[layout.PASSED_ROUNDS])
    sizes = abs(past_labels(views)[: max(count, 1)])
    weights = layout.DISCOUNT[:, None] ** np.arange(len(sizes))
    return weights @ sizes / weights.sum(axis=1)


def assert_states_agree(ours, theirs, n, rtol=1e-9):
    """Every number of two packed states to ``rtol``.

    Means, moments, coefficients and predictions are differences of larger numbers:
    they are held to ``rtol`` of the largest of their row, which runs over memories.
    Where labels such as -1, 1, 2 and -2 cancel, the mean is rounding in the whole row:
    means of labels may also differ by a few roundings of what they are means of, the
    discounted mean of |y| in each lane.
    """
    label_sizes = discounted_label_sizes(theirs, n)
    ours, theirs = named_arrays(ours, n), named_arrays(theirs, n)
    for name, expected in theirs.items():
        scale = 0.0
        if name in BY_ROW and expected.size:
            scale = abs(expected).max(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore"):  # inf - inf, of experts that never start
            error = abs(ours[name] - expected)
        error = np.where(ours[name] == expected, 0.0, error)
        limit = rtol * np.maximum(abs(expected), scale) + 1e-300
        if name == "experts.mean":
            limit[-1:] += 8 * np.finfo(float).eps * label_sizes
        wrong = ~(error <= limit)
        assert not wrong.any(), (name, np.argwhere(wrong)[:5], error[wrong][:5])
