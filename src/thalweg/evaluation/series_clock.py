"""The times of a series as places on a grid of equal steps, also where some are odd.

A forecaster asks for rows in equal steps. Files have repeated hours where summer time
ends, late rows and gaps: what is wrong with a few rows is mended and counted; where
most steps are uneven, rows count as steps, and times mean nothing to the forecast. Rows
on a weekday on which the first rows had none are left out and counted.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import PersistenceError
from thalweg.persistence.snapshots import Component, require
from thalweg.preprocessing.time_grid import TimeGrid, Times, find_grid
from thalweg.preprocessing.weekdays import DAY
from thalweg.types import FloatArray

MIN_FITTING = 0.9
"""Share of rows that must be at least a step after the row before, and on the grid."""
MIN_DENSITY = 0.3
"""Share of the grid's places that must have a row."""
NUMBER_TOLERANCE = 1e-2
"""How far steps of numbers may be from their median, as a share of it."""


class ClockSnapshot(NamedTuple):
    """All that is known of the times of a series."""

    kind: str  # "rows", "grid" or "numbers"
    grid: Any  # a TimeGrid, or None
    step: float  # of times that are numbers; 0 where there is none
    last_number: float  # the time of the last row, where times are numbers
    is_local: bool  # whether times are those of local clocks, not of UTC
    offset: (
        Any  # an int or None: nanoseconds that local clocks were ahead at the last row
    )
    last_time: Any  # an int or None: nanoseconds since 1970 of the last row
    position: Any  # an int: of the last row on the grid, -1 before the first
    left_out: int  # rows whose place on the grid was taken already
    on_absent_weekdays: int  # rows left out, on weekdays that are not of the grid


class RowTimes(NamedTuple):
    """The times of rows as a file gives them; None where it gives none."""

    instants: Any = None  # (T,) datetime64[ns] in UTC, or float64
    offsets: Any = None  # (T,) timedelta64[ns], or None

    def take(self, rows: Any) -> "RowTimes":
        """The times of some rows."""
        return RowTimes(*(None if part is None else part[rows] for part in self))

    def join(self, later: "RowTimes") -> "RowTimes":
        """Both, one after the other."""
        return RowTimes(
            *(
                None if a is None or b is None else np.concatenate([a, b])
                for a, b in zip(self, later, strict=True)
            )
        )


class PlacedRows(NamedTuple):
    """Which rows have a place on the grid, and their times on it."""

    rows: npt.NDArray[np.int64]  # of those given, in order
    times: Times | None  # None where rows count as steps
    steps: npt.NDArray[np.int64]  # of each row from the last known one, 1 for the next
    absent: npt.NDArray[np.int64]  # rows on weekdays that are not of the grid


class SeriesClock(Component):
    """The grid of one series, found in its first rows, and where its last row is."""

    Snapshot: ClassVar[Any] = ClockSnapshot

    def __init__(self) -> None:
        self.kind = "rows"
        self.grid: TimeGrid | None = None
        self.step, self.last_number = 0.0, float("nan")
        self.is_local = False
        self.offset: int | None = None
        self.last_time: int | None = None
        self.position, self.left_out, self.on_absent_weekdays = -1, 0, 0

    def start(self, times: RowTimes) -> None:
        """Find the grid in the first rows; the first row is the grid's first."""
        instants = times.instants
        if instants is None or len(instants) < 2:
            return
        if instants.dtype.kind != "M":
            self._start_numbers(instants)
            return
        grid = usable_grid(instants)
        if times.offsets is not None and (grid is None or grid.step >= DAY):
            local = usable_grid(local_times(times))
            self.is_local = local is not None
            grid = local or grid
        if grid is not None:
            self.kind, self.grid = "grid", grid

    def place(self, times: RowTimes, count: int) -> PlacedRows:
        """The places of so many rows after the last one; what has none is left out."""
        rows = np.arange(count)
        if self.kind != "grid":
            return PlacedRows(rows, None, rows + 1, rows[:0])
        grid: Any = self.grid
        stamps = local_times(times) if self.is_local else times.instants
        positions, _ = grid.nearest_positions(stamps)
        is_absent = grid.is_absent_weekday(stamps)
        positions[is_absent] = -1
        before = np.maximum.accumulate(np.append(self.position, positions))[:-1]
        kept = np.flatnonzero(positions > before)
        return PlacedRows(
            kept,
            grid.times(positions[kept]),
            positions[kept] - self.position,
            np.flatnonzero(is_absent),
        )

    def advance(self, times: RowTimes, placed: PlacedRows, count: int) -> None:
        """Go on to the last of ``count`` rows, which were learnt."""
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
        """Which rows come after the last one learnt; None where times do not tell."""
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
        if self.kind != "grid":
            return None
        grid: Any = self.grid
        stamps = grid.times(self.position + ahead)
        if self.offset is not None and not self.is_local:
            stamps = stamps + np.timedelta64(self.offset, "ns")
        return stamps

    def restore(self, snapshot: ClockSnapshot, name: str = "") -> None:
        """Continue from a snapshot."""
        kind, grid = snapshot.kind, snapshot.grid
        require(kind in ("rows", "grid", "numbers"), f"{name}.kind", "a kind", kind)
        if grid is not None:
            fields = dict(grid) if hasattr(grid, "keys") else grid._asdict()
            if set(fields) != set(TimeGrid._fields) or not all(
                type(value) is int for value in fields.values()
            ):
                raise PersistenceError(f"its {name}.grid must be a grid of times")
            own = TimeGrid(**fields)
            require(own.has_possible_weekdays(), f"{name}.grid", "a grid", grid)
            snapshot = snapshot._replace(grid=own)
        for field in ("offset", "last_time", "position"):
            value = getattr(snapshot, field)
            is_whole = type(value) is int and abs(value) < 2**63
            is_legal = is_whole or (value is None and field != "position")
            require(is_legal, f"{name}.{field}", "a whole number", value)
        require((kind == "grid") == (grid is not None), f"{name}.grid", "a grid", grid)
        super().restore(snapshot, name)

    def _start_numbers(self, numbers: FloatArray) -> None:
        steps = np.diff(numbers)
        step = float(np.median(steps))
        if step > 0 and (np.abs(steps - step) <= NUMBER_TOLERANCE * step).all():
            self.kind, self.step = "numbers", step


def usable_grid(times: Times) -> TimeGrid | None:
    """The grid of times if most rows have a place on it, and most places a row."""
    steps = np.diff(times.astype(np.int64), prepend=times[0].astype(np.int64) - 1)
    latest = np.maximum.accumulate(times.astype(np.int64))
    rises = np.append(True, latest[1:] > latest[:-1])
    if np.mean(steps > 0) < MIN_FITTING or rises.sum() < 2:
        return None
    grid = find_grid(times[rises])
    if grid is None:
        return None
    positions, is_off = grid.nearest_positions(times[rises])
    moves = np.diff(positions, prepend=-1) > 0
    fitting = np.mean(moves & ~is_off)
    density = len(positions) / (int(positions[-1]) + 1)
    return grid if fitting >= MIN_FITTING and density >= MIN_DENSITY else None


def local_times(times: RowTimes) -> Times:
    """Times by local clocks."""
    if times.offsets is None:
        return np.asarray(times.instants)
    zero = np.timedelta64(0, "ns")
    offsets = np.where(np.isnat(times.offsets), zero, times.offsets)
    return np.asarray(times.instants + offsets)
