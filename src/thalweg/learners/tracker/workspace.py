"""The buffer of the Tracker's kernel: a state, a workspace and rows to play."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.kernels.call_header import fill_header
from thalweg.kernels.compiler.jit import entry_point
from thalweg.kernels.compiler.layout import CACHE_LINE, aligned_zeros
from thalweg.kernels.tracker import entry
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.learners.base import KernelCall, RawState
from thalweg.learners.recent_errors import RecentErrors
from thalweg.learners.tracker.pending_ring import PendingRing
from thalweg.learners.tracker.several_targets import join_targets
from thalweg.learners.tracker.stored_state import gather_entries
from thalweg.types import FloatArray

EMPTY = np.empty(0)
CACHE_LINE_FLOATS = CACHE_LINE // 8
MAX_ROWS = 512
"""Limit of the rounds in one call: few enough to stay in the processor's cache."""


class TrackerWorkspace:
    """A copy of a packed state of ``n`` features in one buffer, ``layout.BUFFER``.

    The last ``constant_features`` features are 1 in single calls; up to ``rows`` rounds
    are played at a time, and of each the diagnostics named by ``record`` are recorded.
    ``buffer`` holds zeros, and is long enough; None makes one.
    """

    def __init__(
        self, packed: FloatArray, n: int, constant_features: int = 0, rows: int = 1,
        record: Sequence[str] = (), coverage: float = 0.9,
        buffer: FloatArray | None = None,
    ) -> None:  # fmt: skip
        slots = layout.pending_slots(int(packed[layout.DELAY]))
        hinges = int(packed[layout.HINGE_COUNT])
        self._n, self._dimensions = n, (n, hinges, slots, rows, len(packed))
        offsets = _buffer_offsets(*self._dimensions)
        self._first_record, self._table = offsets.records.forecast, offsets.table
        self._status: int = offsets.workspace.experts.status
        lengths = _record_rows(record, rows)
        # ``slope`` uses the place of the records for one row of θ.
        records_size = max(layout.RECORDS.size(n=n, **lengths), n)
        size = self._first_record + records_size
        self.buffer: FloatArray = aligned_zeros(size) if buffer is None else buffer
        max_value = MAX_MAGNITUDE[np.dtype(np.float64)]
        settings = (max_value, 0.0, 0.0, 0.0, coverage, self._table)
        fill_header(self.buffer, n, n - constant_features, *settings)
        self._select_records(lengths)
        start = offsets.state.counters
        self.packed: FloatArray = self.buffer[start : start + len(packed)]
        self.packed[:] = packed
        first = offsets.unexcited_rounds
        self.unexcited_rounds: FloatArray = self.buffer[first : first + n]
        rows_buffer = self.buffer[offsets.rows : first]
        self._rows: FloatArray = rows_buffer.reshape(rows, n + layout.ROW_TAIL)
        self.call: KernelCall = entry_point(entry.call)

    def play(
        self, x: FloatArray, y: FloatArray, weight: FloatArray, elapsed: FloatArray
    ) -> dict[str, FloatArray]:
        """Play up to ``rows`` rounds; without y forecast only; empty rates are ones.

        The records returned are valid until the next call.
        """
        rows, n = self._rows[: len(x)], self._n
        rows[:, :n] = x
        for k, column in enumerate((y, weight, elapsed)):
            rows[:, n + k] = column if len(column) else 1.0
        self.buffer[layout.ROW_COUNT] = len(x)
        self.call(self.buffer, EMPTY, 0.0, 0.0, 0.0, len(y) > 0)
        return {name: part[: len(x)] for name, part in self._records._asdict().items()}

    def restore(self, packed: FloatArray) -> None:
        """Go on from another state of the same dimensions."""
        self.packed[:] = packed
        self.buffer[self._status + layout.HAS_FACTORS] = 0.0

    def slope(self) -> FloatArray:
        """θ, the slope of the coming forecast in x. To be called after all rounds: it
        overwrites the records, and nothing but θ is recorded from then on.
        """
        self._select_records(_record_rows(("theta",), 1))
        x = np.zeros((1, self._n))
        theta: FloatArray = self.play(x, EMPTY, EMPTY, EMPTY)["theta"][0].copy()
        return theta

    def _select_records(self, lengths: dict[str, int]) -> None:
        table = _buffer_table(*self._dimensions, *lengths.values())
        self.buffer[self._table : self._table + len(table)] = table
        self._records: layout.Records = layout.RECORDS.views(
            self.buffer, self._first_record, n=self._n, **lengths
        )


class LiveTracker:
    """The Tracker called round by round, its state in place: ``LiveBuffer``."""

    def __init__(self, learner: Any, state: Any, constant_features: int) -> None:
        self._learner, self._theta = learner, state.theta
        self._workspace = TrackerWorkspace(
            state.packed, len(state.theta), constant_features
        )
        self.buffer: FloatArray = self._workspace.buffer
        self.errors: RecentErrors | None = None
        self.unexcited_rounds: FloatArray = self._workspace.unexcited_rounds
        self.call: KernelCall = self._workspace.call

    @functools.cached_property
    def pending_rings(self) -> list[PendingRing]:
        """The rounds that wait for their labels, if there is a delay."""
        return [PendingRing(self._workspace.packed, len(self._theta))]

    def copy_state(self) -> Any:
        """A copy of the state as it is now."""
        return self._learner.state_from(self._theta, self._workspace.packed.copy())

    def raw_state(self) -> RawState:
        """All that changes, to be written at once: the next round may change it."""
        n = len(self._theta)
        numbers = gather_entries(self._workspace.packed, n, self.unexcited_rounds)
        return RawState(layout.STATE.version, n, 0, 0, numbers)

    def last_prediction(self) -> float:
        """The prediction of the last call."""
        return float(self.buffer[layout.FORECAST])


class LiveTargets:
    """The Tracker of k targets called round by round: k buffers, one after another.

    ``call`` takes y as an array, for the labels or to be filled with forecasts.
    """

    def __init__(self, learner: Any, state: Any, constant_features: int) -> None:
        self._learner, self._theta = learner, state.theta
        n, k = state.theta.shape
        first = TrackerWorkspace(state.packed[0], n, constant_features)
        # Each begins at a cache line.
        stride = -(-len(first.buffer) // CACHE_LINE_FLOATS) * CACHE_LINE_FLOATS
        self.buffer: FloatArray = aligned_zeros(k * stride)
        self._workspaces = [
            TrackerWorkspace(packed, n, constant_features, buffer=buffer)
            for packed, buffer in zip(
                state.packed, self.buffer.reshape(k, stride), strict=True
            )
        ]
        self.buffer[layout.TARGETS] = k
        self.errors: RecentErrors | None = None
        self.unexcited_rounds: FloatArray = self._workspaces[0].unexcited_rounds
        self.call: KernelCall = entry_point(entry.call_targets, several_targets=True)

    @functools.cached_property
    def pending_rings(self) -> list[PendingRing]:
        """The rounds of each target that wait for their labels."""
        n = len(self._theta)
        return [PendingRing(own.packed, n) for own in self._workspaces]

    def copy_state(self) -> Any:
        """A copy of the state as it is now."""
        thetas, learner = np.ascontiguousarray(self._theta.T), self._learner
        pairs = zip(thetas, self._workspaces, strict=True)
        return join_targets(
            [learner.state_from(theta, own.packed.copy()) for theta, own in pairs]
        )

    def raw_state(self) -> RawState:
        """All that changes, to be written at once: the next round may change it."""
        n, k = self._theta.shape
        entries = [gather_entries(own.packed, n, EMPTY) for own in self._workspaces]
        numbers = np.concatenate([*entries, self.unexcited_rounds])
        return RawState(layout.STATE.version, n, k, 0, numbers)

    def last_prediction(self) -> FloatArray:
        """The predictions of the last call, (k,)."""
        return np.array([own.buffer[layout.FORECAST] for own in self._workspaces])


@functools.lru_cache(256)
def _buffer_offsets(*dimensions: int) -> Any:
    """Where all begins in the buffer; the records come last, here they are empty."""
    lengths = _record_rows((), 0).values()
    return layout.BUFFER.offsets(**_buffer_dimensions(*dimensions, *lengths))


@functools.lru_cache(256)
def _buffer_table(*dimensions: int) -> FloatArray:
    """The table that the kernel's record reads, for these dimensions of the buffer."""
    return layout.BUFFER.table(**_buffer_dimensions(*dimensions))


def _buffer_dimensions(*values: int) -> dict[str, int]:
    return dict(zip(layout.BUFFER.dimensions, values, strict=True))


def _record_rows(record: Sequence[str], rows: int) -> dict[str, int]:
    """The number of rows of each record: ``layout.RECORD_ROWS``."""
    names = layout.Records._fields
    return {f"{name}_rows": rows if name in record else 0 for name in names}
