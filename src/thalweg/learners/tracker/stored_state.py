"""The stored form of a Tracker's state: every number that a later round uses, once.

The packed state (kernels/tracker/tracker_layout.py) is laid out for SIMD lanes: with
padding, triangles stored as squares, rings that are written twice, families of experts
that share their moments. A file holds the rest (``compact``), from which the packed
state is built again (``expand``), the same to the last bit: entries that no later round
uses are 0 in every state that leaves the kernels (``clear_unused``).

What is left out is declared once, in ``SOURCES``: for every entry, the entry of its
field that it is a copy of. Fields that are not named there are stored whole.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.kernels.compiler.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.curvature import row_start
from thalweg.types import FloatArray

Indices = npt.NDArray[np.int64]
Sources = Callable[[Indices], Indices]
"""Takes the indices of a field's entries, in its shape; returns for each the index of
the entry that it is a copy of: its own, where it is to be stored."""
REBUILT, UNUSED = -1, -2
"""In place of such an index: the entry is 0, unless ``expand`` sets it; or it is not
used by any later round."""


def _lanes(*lanes: int) -> Sources:
    """Lane i, of the last axis, is a copy of lane ``lanes[i]``, or as these say."""
    chosen = np.array(lanes)
    return lambda own: np.where(chosen < 0, chosen, own[..., chosen])


def _triangle(lanes: Sources, size: int | None = None) -> Sources:
    """Moments, (rows, columns, lanes): ``size`` rows of a lower triangle that ends at
    the last column, then a row of those columns; rows behind it are unused.

    Without ``size`` it is the number of columns.
    """

    def sources(own: Indices) -> Indices:
        rows, columns, _ = own.shape
        count = columns if size is None else size
        before = columns - count
        used = np.tri(rows, columns, before, dtype=np.bool_)
        used[count] = np.arange(columns) >= before
        used[count + 1 :] = False
        return np.where(used[..., None], lanes(own), UNUSED)

    return sources


def _first_row(own: Indices) -> Indices:
    """The ring of errors is stored; the row in which they are sorted is not."""
    return np.where(np.arange(len(own))[:, None] == 0, own, REBUILT)


def _right_of_diagonal(own: Indices) -> Indices:
    """Second moments of hinges; what lies left of the diagonal is padding."""
    source, size = np.full(own.shape, UNUSED), layout.HINGES if own.size else 0
    for i in range(size):
        used = slice(row_start(i, size) + i, row_start(i, size) + size)
        source[used] = own[used]
    return source


def _first_lanes(count: int, size: int, *behind: int) -> Sources:
    """Of ``size`` lanes the first ``count`` are used, and those ``behind`` all."""
    return _lanes(*range(count), *(UNUSED,) * (size - count), *behind)


def _boa(count: int) -> Sources:
    """BOA over ``count`` experts: padding has no rate, but a weight."""

    def sources(own: Indices) -> Indices:
        is_weight = np.arange(len(own))[:, None] == 0
        used = is_weight | (np.arange(own.shape[1]) < count)
        return np.where(used, own, REBUILT)

    return sources


RING = _lanes(*range(layout.MAX_SEASON), *range(layout.MAX_SEASON))
LIGHT = tuple(range(layout.MEMORY_COUNT))
OTHERS = tuple(range(layout.LEVEL_LANES, layout.LANES))
LAGS = _first_lanes(layout.MEMORY_COUNT, layout.AUTOREGRESSIVE_LANES)
WIDE = _lanes(
    *range(layout.DISTRIBUTED_COUNT),
    *[layout.DISTRIBUTED_COUNT - 1]
    * (layout.DISTRIBUTED_LANES - layout.DISTRIBUTED_COUNT),
)
# Up to two scalars of a rule stand behind its experts.
SCALARS = (layout.PADDED_EXPERTS, layout.PADDED_EXPERTS + 1)
RULE = _first_lanes(
    layout.EXPERTS, layout.PADDED_EXPERTS,
    *SCALARS, *(UNUSED,) * (layout.LINE_FLOATS - len(SCALARS)),
)  # fmt: skip

SOURCES: dict[str, Sources] = {
    "past_y": RING,
    "inverse_counts": RING,
    "recent_errors": _first_row,
    # All families have one weight; heavy levels have the means and the moments of the
    # light ones, and the other families have no means.
    "experts.weight": _lanes(*LIGHT * 4),
    "experts.mean": _lanes(*LIGHT * 2, *(REBUILT,) * len(OTHERS)),
    "experts.moments": _triangle(_lanes(*LIGHT * 2, *OTHERS)),
    "experts.anchored": _first_lanes(layout.LEVEL_LANES, layout.ANCHORED_LANES),
    "lags.mean": LAGS,
    "lags.moments": _triangle(LAGS, layout.LAGS),
    "distributed_lag.weight": WIDE,
    "distributed_lag.mean": WIDE,
    "distributed_lag.moments": _triangle(WIDE),
    "distributed_lag.theta": WIDE,
    "distributed_lag.last_leverage": LAGS,
    "rules.adashare": RULE,
    "rules.boa": _boa(layout.EXPERTS),
    "rules.mlpoly": RULE,
    "rules.softmax": RULE,
    "rules.cauchy": RULE,
    "rules.committee": _boa(layout.BASE_RULES),
    "rules.correction": _boa(layout.CANDIDATES),
    "curvature.gram": _right_of_diagonal,
}
"""By field, what its entries are copies of."""


class StoredTracker(NamedTuple):
    """The state of a Tracker as a file holds it."""

    theta: FloatArray  # (n,) the slope of the coming forecast in x
    numbers: FloatArray  # float64, in the order of the packed state


class StoredEntries(NamedTuple):
    """Which entries of a packed state are stored, and where each comes from."""

    stored: Indices  # of the packed state
    sources: Indices  # (packed,) in what is stored, then one 0
    unused: Indices  # of the packed state


@functools.lru_cache(16)
def stored_entries(n: int, hinges: int, slots: int) -> StoredEntries:
    """The entries of a state of these dimensions (``layout.STATE``)."""
    dimensions = {"n": n, "hinges": hinges, "slots": slots}
    own = np.arange(layout.STATE.size(**dimensions))
    source = np.full(own.size, UNUSED)
    fields = by_name(layout.STATE.views(own, **dimensions))
    for name, indices in fields.items():
        sources = SOURCES.get(name, np.asarray)
        source[indices.ravel()] = sources(indices).ravel()
    stored = np.flatnonzero(source == own)
    places = np.full(own.size + 2, stored.size)  # the last two: see above
    places[stored] = np.arange(stored.size)
    return StoredEntries(stored, places[source], np.flatnonzero(source == UNUSED))


def clear_unused(packed: FloatArray, n: int) -> FloatArray:
    """The packed state of ``n`` features, changed in place: 0 where none looks."""
    hinges, delay = int(packed[layout.HINGE_COUNT]), int(packed[layout.DELAY])
    entries = stored_entries(n, hinges, layout.pending_slots(delay))
    packed[entries.unused] = 0.0
    return packed


def compact(theta: Any, packed: Any) -> StoredTracker:
    """The stored form of a state; of one that is none, what cannot be restored."""
    dimensions = _dimensions(theta, packed)
    if dimensions is None or packed.size != layout.STATE.size(**dimensions):
        return StoredTracker(theta, packed)
    return StoredTracker(theta, gather_entries(packed, len(theta), np.empty(0)))


def gather_entries(packed: FloatArray, n: int, tail: FloatArray) -> FloatArray:
    """The entries of a packed state that are stored, as they are; then ``tail``."""
    hinges, delay = int(packed[layout.HINGE_COUNT]), int(packed[layout.DELAY])
    indices = stored_entries(n, hinges, layout.pending_slots(delay)).stored
    gathered = np.empty(len(indices) + len(tail))
    # Indices are never clipped; without a mode NumPy makes a copy of all first.
    np.take(packed, indices, out=gathered[: len(indices)], mode="clip")
    gathered[len(indices) :] = tail
    return gathered


def scatter_entries(entries: FloatArray, n: int) -> FloatArray:
    """The packed state of these entries; an empty array, if there is none.

    Only its sizes are checked, and it takes memory in proportion to ``entries``.
    """
    dimensions = _dimensions(np.zeros(min(n, entries.size)), entries)
    if dimensions is None or not _is_large_enough(entries.size, **dimensions):
        return np.empty(0)
    stored = stored_entries(**dimensions)
    if entries.size != stored.stored.size:
        return np.empty(0)
    packed = np.append(entries, 0.0)[stored.sources]
    _sort_errors(layout.views(packed, n))
    return packed


def expand(stored: StoredTracker) -> FloatArray:
    """The packed state; an empty array, which no Tracker has, if there is none."""
    theta, numbers = stored
    is_row = all(isinstance(part, np.ndarray) and part.ndim == 1 for part in stored)
    return scatter_entries(numbers, theta.size) if is_row else np.empty(0)


def _sort_errors(state: Any) -> None:
    """Rebuild the row in which the ring of errors is sorted."""
    ring, ordered = state.recent_errors
    count = _at_most(state.counters[layout.ERROR_COUNT], len(ring))
    ordered[:count] = np.sort(ring[:count])


def _dimensions(theta: Any, numbers: Any) -> dict[str, int] | None:
    """The dimensions of the state whose counters ``numbers`` begins with, if any."""
    for array in (theta, numbers):
        if not isinstance(array, np.ndarray) or array.ndim != 1 or not array.size:
            return None
    if numbers.dtype != np.float64 or numbers.size < layout.COUNTERS:
        return None
    hinges, delay = numbers[layout.HINGE_COUNT], numbers[layout.DELAY]
    if hinges not in (0, layout.HINGES) or not 0 <= delay <= numbers.size:
        return None
    slots = layout.pending_slots(int(delay))
    return {"n": theta.size, "hinges": int(hinges), "slots": slots}


def _is_large_enough(size: int, n: int, hinges: int, slots: int) -> bool:
    """Whether a state of these dimensions may be stored in ``size`` numbers."""
    # Of moments alone there are more than 16 n² numbers.
    return max(16 * n * n, slots * (n + layout.PENDING_FEATURES)) <= size


def _at_most(count: float, limit: int) -> int:
    """A count as an index; the limit also where it is no count."""
    return int(count) if 0 <= count < limit else limit
