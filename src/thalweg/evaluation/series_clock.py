"""The times of a series as places on a grid of equal steps, also where some are odd.

A forecaster asks for rows in equal steps. Files have repeated hours where summer time
ends, late rows and gaps: what is wrong with a few rows is mended and counted; where
most steps are uneven, rows count as steps, and times mean nothing to the forecast. Rows
on a weekday on which the first rows had none are left out and counted.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import Time, as_stamps, find_row_grid
from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY
from thalweg.persistence.snapshots import Component
from thalweg.rules import Condition, OneOf
from thalweg.tables.timed_rows import RowTimes
from thalweg.types import FloatArray

NUMBER_TOLERANCE = 1e-2
"""How far steps of numbers may be from their median, as a share of it."""


OF_GRID = Condition(
    "TimeGrid.has_fields(grid_fields) if kind == 'grid' else grid_fields is None",
    "the fields of a grid, if times are on one",
)


class ClockSnapshot(NamedTuple):
    """All that is known of the times of a series."""

    kind: Annotated[str, OneOf(("rows", "grid", "numbers"))]
    grid_fields: Annotated[Any, OF_GRID]  # of a TimeGrid, or None
    step: float  # of times that are numbers; 0 where there is none
    last_number: float  # the time of the last row, where times are numbers
    is_local: bool  # whether times are those of local clocks, not of UTC
    offset: Time | None  # nanoseconds that local clocks were ahead at the last row
    last_time: Time | None  # nanoseconds since 1970 of the last row
    position: Time  # of the last row on the grid, -1 before the first
    left_out: int  # rows whose place on the grid was taken already
    on_absent_weekdays: int  # rows left out, on weekdays that are not of the grid


class PlacedRows(NamedTuple):
    """Which rows have a place on the grid, and where it is."""

    rows: npt.NDArray[np.int64]  # of those given, in order
    steps: npt.NDArray[np.int64]  # of each row from the last known one, 1 for the next
    absent: npt.NDArray[np.int64]  # rows on weekdays that are not of the grid


class SeriesClock(Component):
    """The grid of one series, found in its first rows, and where its last row is."""

    Snapshot: ClassVar[Any] = ClockSnapshot

    def __init__(self) -> None:
        self.kind = "rows"
        self.grid_fields: tuple[int, ...] | None = None
        self.step, self.last_number = 0.0, float("nan")
        self.is_local = False
        self.offset: int | None = None
        self.last_time: int | None = None
        self.position, self.left_out, self.on_absent_weekdays = -1, 0, 0

    @property
    def grid(self) -> TimeGrid | None:
        """The grid of the rows; None where rows count as steps."""
        return None if self.grid_fields is None else TimeGrid(*self.grid_fields)

    def start(self, times: RowTimes) -> None:
        """Find the grid in the first rows; the first row is the grid's first."""
        instants = times.instants
        if instants is None or len(instants) < 2:
            return
        if instants.dtype.kind != "M":
            self._start_numbers(instants)
            return
        grid = find_row_grid(as_stamps(instants))
        if times.offsets is not None and (grid is None or grid.step >= DAY):
            local = find_row_grid(as_stamps(times.local()))
            self.is_local = local is not None
            grid = local or grid
        if grid is not None:
            self.kind, self.grid_fields = "grid", tuple(grid)

    def place(self, times: RowTimes, count: int) -> PlacedRows:
        """The places of ``count`` rows after the last one; others are left out."""
        rows = np.arange(count)
        grid = self.grid
        if grid is None:
            return PlacedRows(rows, rows + 1, rows[:0])
        stamps = times.local() if self.is_local else times.instants
        positions, _ = grid.nearest_positions(stamps)
        is_absent = grid.is_absent_weekday(stamps)
        positions[is_absent] = -1
        before = np.maximum.accumulate(np.append(self.position, positions))[:-1]
        kept = np.flatnonzero(positions > before)
        return PlacedRows(
            kept, positions[kept] - self.position, np.flatnonzero(is_absent)
        )

    def advance(self, times: RowTimes, placed: PlacedRows, count: int) -> None:
        """Advance to the last of ``count`` rows, which were learnt."""
        self.left_out += count - len(placed.rows) - len(placed.absent)
        self.on_absent_weekdays += len(placed.absent)
        if len(placed.steps):
            self.position += int(placed.steps[-1])
        if times.instants is None or not count:
            return
        if times.instants.dtype.kind != "M":
            self.last_number = float(times.instants[-1])
            return
        self.last_time = int(times.instants.max().astype(np.int64))
        if times.offsets is not None and not np.isnat(times.offsets[-1]):
            self.offset = int(times.offsets[-1].astype(np.int64))

    def is_later(self, times: RowTimes) -> npt.NDArray[np.bool_] | None:
        """Which rows come after the last one learnt; None if times do not show it."""
        instants = times.instants
        if instants is None:
            return None
        if instants.dtype.kind != "M":
            known = not np.isnan(self.last_number)
            return np.asarray(instants > self.last_number) if known else None
        if self.last_time is None:
            return None
        return np.asarray(instants.astype(np.int64) > self.last_time)

    def times_ahead(self, steps: int) -> Any:
        """The times of the next steps, datetime64[ns] or numbers; None: not known.

        Where times have an offset they are local times at the last one seen.
        """
        ahead = np.arange(1, steps + 1)
        if self.kind == "numbers":
            return self.last_number + self.step * ahead
        if self.grid is None:
            return None
        stamps = self.grid.times(self.position + ahead)
        if self.offset is not None and not self.is_local:
            stamps = stamps + np.timedelta64(self.offset, "ns")
        return stamps

    def _start_numbers(self, numbers: FloatArray) -> None:
        steps = np.diff(numbers)
        step = float(np.median(steps))
        if step > 0 and (np.abs(steps - step) <= NUMBER_TOLERANCE * step).all():
            self.kind, self.step = "numbers", step
