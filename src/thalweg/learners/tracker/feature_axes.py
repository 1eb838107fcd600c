"""Features that come and go in a Tracker's packed state.

Every array of the state is declared with the lengths of its axes, such as "n + 1" or
"2 * n + 3" (kernels/tracker/tracker_layout.py). An axis whose length grows by k for
every feature begins with k runs over all features; of ``pending`` they begin behind
what is remembered of the experts. So where the features are follows from the
declaration, and an array that is added to it needs no line here.

A feature that is added has zeros everywhere, which is the state of a Tracker that was
fed zeros for it from the start. A feature that is removed leaves its entries behind.
"""

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.feature_changes import FeatureChange
from thalweg.types import FloatArray

FIRST_FEATURE = {"pending": layout.PENDING_FEATURES}
"""By field, where its features begin; in all others at 0."""


def change_packed(packed: FloatArray, n: int, change: FeatureChange) -> FloatArray:
    """The packed state with the features of ``change`` in place of ``n``.

    Coordinates of hinges are moved along; those of a removed feature become -1. So is
    the feature that is a forecast; without it there is none.
    """
    hinges, delay = int(packed[layout.HINGE_COUNT]), int(packed[layout.DELAY])
    dimensions = {"hinges": hinges, "slots": layout.pending_slots(delay)}
    changed = np.zeros(layout.STATE.size(n=change.size, **dimensions))
    after = by_name(layout.STATE.views(changed, n=change.size, **dimensions))
    for name, array in by_name(layout.views(packed, n)).items():
        runs = feature_runs()[name]
        first = FIRST_FEATURE.get(name, 0)
        sources, places = [], []
        for length, count in zip(array.shape, runs, strict=True):
            start = first if count else 0
            rest = length - start - count * n
            sources.append(_axis(change.sources, n, start, count, rest))
            places.append(_axis(change.places, change.size, start, count, rest))
        after[name][np.ix_(*places)] = array[np.ix_(*sources)]
    counters = after["counters"]
    column = int(counters[layout.EXTERNAL_FORECAST])
    place = change.places[change.sources == column - 1]
    counters[layout.EXTERNAL_FORECAST] = 1 + place[0] if len(place) else 0
    seen = after["curvature.coordinates"]
    seen[:] = _moved_coordinates(n, change)[seen.astype(int)]
    return changed


@functools.lru_cache(1)
def feature_runs() -> dict[str, tuple[int, ...]]:
    """By field, how many runs over all features each axis has."""
    one, two = (
        by_name(layout.STATE.views(np.empty(size), n=n, hinges=layout.HINGES, slots=1))
        for n in (1, 2)
        if (size := layout.STATE.size(n=n, hinges=layout.HINGES, slots=1))
    )
    return {
        name: tuple(np.subtract(two[name].shape, array.shape).tolist())
        for name, array in one.items()
    }


def _axis(
    features: npt.NDArray[np.int64], n: int, start: int, runs: int, rest: int
) -> npt.NDArray[np.int64]:
    """The indices of all that stays on an axis: others, runs of ``features``, others.

    ``n`` is how many features there are in a run.
    """
    end = start + runs * n
    inner = [start + run * n + features for run in range(runs)]
    return np.concatenate([np.arange(start), *inner, end + np.arange(rest)])


def _moved_coordinates(n: int, change: FeatureChange) -> npt.NDArray[np.int64]:
    """Where each coordinate of the context is after the change; -1: nowhere."""
    moved: Any = np.full(n + layout.CONTEXT_LABELS, -1)
    moved[change.sources] = change.places
    moved[n:] = change.size + np.arange(layout.CONTEXT_LABELS)
    return np.asarray(moved)
