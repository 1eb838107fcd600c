"""The stored form of a Tracker's state: every number that a later round uses, once.

The packed state (kernels/tracker/tracker_layout.py) is laid out for SIMD lanes: with
padding, squares of which a triangle is used, rings that are written twice, families of
experts that share their moments. A file holds the rest (``compact``), from which the
packed state is built again (``expand``), the same to the last bit: entries that no
later round looks at are 0 in every state that leaves the kernels (``clear_unused``).

What is left out is declared once, in ``SOURCES``: of which entry of its field every
entry is a copy. Fields that are not named there are stored whole.

The past features, counts and errors have 21 significant bits
(kernels/tracker/rounding.py), so that 32 bits of each are stored. Of a past feature it
is the deviation from the first one, in its unit.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.kernels.layout import by_name
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.curvature import row_start
from thalweg.learners.tracker.definition_season import round_to_21_bits
from thalweg.types import FloatArray

Indices = npt.NDArray[np.int64]
Sources = Callable[[Indices], Indices]
"""Takes the indices of a field's entries, in its shape; returns for each the index of
the entry that it is a copy of: its own, where it is to be stored."""
REBUILT, UNUSED = -1, -2
"""In place of such an index: the entry is 0, unless ``expand`` sets it; or no later
round looks at it."""


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
SHORT_FIELDS = ("past_x", "inverse_counts", "recent_errors")
"""Fields of numbers of 21 significant bits."""
HIDDEN_BITS = 32
"""The lower bits of such a number, which are 0."""


class StoredTracker(NamedTuple):
    """The state of a Tracker as a file holds it."""

    theta: FloatArray  # (n,) the slope of the coming forecast in x
    numbers: FloatArray  # float64, in the order of the packed state
    short_numbers: npt.NDArray[np.int32]  # upper halves of float64, in the same order


class StoredEntries(NamedTuple):
    """Which entries of a packed state are stored, and where each comes from."""

    numbers: Indices  # of the packed state
    short_numbers: Indices
    sources: Indices  # (packed,) in numbers, then short_numbers, then one 0
    unused: Indices  # of the packed state
    all: Indices  # numbers, then short_numbers


@functools.lru_cache(16)
def stored_entries(n: int, hinges: int, slots: int) -> StoredEntries:
    """The entries of a state of these dimensions (``layout.STATE``)."""
    dimensions = {"n": n, "hinges": hinges, "slots": slots}
    own = np.arange(layout.STATE.size(**dimensions))
    source, is_short = np.full(own.size, UNUSED), np.zeros(own.size, np.bool_)
    fields = by_name(layout.STATE.views(own, **dimensions))
    for name, indices in fields.items():
        sources = SOURCES.get(name, np.asarray)
        source[indices.ravel()] = sources(indices).ravel()
        is_short[indices.ravel()] = name in SHORT_FIELDS
    is_stored = source == own
    numbers = np.flatnonzero(is_stored & ~is_short)
    short_numbers = np.flatnonzero(is_stored & is_short)
    stored = np.concatenate([numbers, short_numbers])
    places = np.full(own.size + 2, stored.size)  # the last two: see above
    places[stored] = np.arange(stored.size)
    unused = np.flatnonzero(source == UNUSED)
    return StoredEntries(numbers, short_numbers, places[source], unused, stored)


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
        return StoredTracker(theta, packed, np.empty(0, np.int32))
    entries, packed = stored_entries(**dimensions), packed.copy()
    state = layout.views(packed, len(theta))
    state.past_x[:] = _deviations(state)
    upper = packed[entries.short_numbers].view(np.int64) >> HIDDEN_BITS
    return StoredTracker(theta, packed[entries.numbers], upper.astype(np.int32))


def gather_entries(packed: FloatArray, n: int, tail: FloatArray) -> FloatArray:
    """The entries of a packed state that are stored, as they are; then ``tail``."""
    hinges, delay = int(packed[layout.HINGE_COUNT]), int(packed[layout.DELAY])
    indices = stored_entries(n, hinges, layout.pending_slots(delay)).all
    gathered = np.empty(len(indices) + len(tail))
    # Indices are never clipped; without a mode NumPy makes a copy of all first.
    np.take(packed, indices, out=gathered[: len(indices)], mode="clip")
    gathered[len(indices) :] = tail
    return gathered


def scatter_entries(entries: FloatArray, n: int) -> FloatArray:
    """The packed state of these entries; an empty array, if there is none.

    It is not checked but for its sizes, and takes memory in proportion to ``entries``.
    """
    dimensions = _dimensions(np.zeros(min(n, entries.size)), entries)
    if dimensions is None or not _is_large_enough(entries.size, **dimensions):
        return np.empty(0)
    stored = stored_entries(**dimensions)
    if entries.size != stored.all.size:
        return np.empty(0)
    packed = np.append(entries, 0.0)[stored.sources]
    _sort_errors(layout.views(packed, n))
    return packed


def expand(stored: StoredTracker) -> FloatArray:
    """The packed state; an empty array, which no Tracker has, if there is none.

    It is not checked but for its sizes, and takes memory in proportion to ``stored``.
    """
    theta, numbers, short_numbers = stored
    dimensions = _dimensions(theta, numbers)
    if dimensions is None or not _may_fit(stored, **dimensions):
        return np.empty(0)
    entries = stored_entries(**dimensions)
    if numbers.size != entries.numbers.size:
        return np.empty(0)
    short = (short_numbers.astype(np.int64) << HIDDEN_BITS).view(np.float64)
    packed = np.concatenate([numbers, short, [0.0]])[entries.sources]
    state = layout.views(packed, len(theta))
    with np.errstate(all="ignore"):  # made-up numbers may be any
        state.past_x[:] = state.first_x + state.x_unit * state.past_x
    state.past_x[
        _at_most(state.counters[layout.PASSED_ROUNDS], len(state.past_x)) :
    ] = 0
    _sort_errors(state)
    return packed


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


def _may_fit(stored: StoredTracker, n: int, hinges: int, slots: int) -> bool:
    """Whether the sizes are near enough to right that no large array follows."""
    short, size = stored.short_numbers, stored.numbers.size
    if not isinstance(short, np.ndarray) or short.dtype != np.int32 or short.ndim != 1:
        return False
    expected = layout.MAX_SEASON * (n + 1) + layout.RECENT_ERRORS
    return short.size == expected and _is_large_enough(size, n, hinges, slots)


def _is_large_enough(size: int, n: int, hinges: int, slots: int) -> bool:
    """Whether a state of these dimensions may be stored in so many numbers."""
    # Of moments alone there are more than 16 n² numbers.
    return max(16 * n * n, slots * (n + layout.PENDING_FEATURES)) <= size


def _at_most(count: float, limit: int) -> int:
    """A count as an index; the limit also where it is no count."""
    return int(count) if 0 <= count < limit else limit


def _deviations(state: Any) -> FloatArray:
    """Past features minus the first, in their units: what they were rounded as.

    The sum of both may have been rounded, too. Then the deviation is the quotient or
    one of its neighbours in 21 bits, whichever gives the same sum.
    """
    first, unit, past = state.first_x, state.x_unit, state.past_x
    with np.errstate(all="ignore"):
        quotient = round_to_21_bits((past - first) / np.where(unit > 0, unit, 1.0))
        chosen = quotient.copy()
        for step in (-1, 1):
            bits = quotient.view(np.int64) + (step << HIDDEN_BITS)
            near = bits.view(np.float64)
            is_better = (first + unit * chosen != past) & (first + unit * near == past)
            chosen[is_better] = near[is_better]
    return chosen
