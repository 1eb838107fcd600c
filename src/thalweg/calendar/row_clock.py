"""The clock of a series: the times of its rows, and the grid that the first show.

Times are integers of nanoseconds since 1970; ``NO_TIME`` where one is missing. The
first 24 rows decide on the grid, of streams, tables, long frames and series that are
forecast alike: it is the same however rows are cut, and depends on no later row. A
clock that runs has a grid from 8 rows on, and a forecaster from 2 on, until then.
"""

from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.calendar.time_grid import (
    MIN_DENSITY,
    MIN_FITTING,
    TimeGrid,
    Times,
    find_grid,
)
from thalweg.calendar.weekdays import DAY
from thalweg.rules import Condition, Count
from thalweg.types import FloatArray

NO_TIME = -(2**63)
"""The integer that NumPy reads as NaT."""
CLOCK_ROWS = 8
"""Number of first rows whose times show the grid for the first time."""
GRID_ROWS = 24
"""Number of first rows whose times decide what the grid is."""
ALMOST_A_DAY = 23 * DAY // 24
"""Minimum step of rows that local clocks count: days are as short where summer time
begins."""
MAX_ABSENT = 3
"""Limit of the grid times without a row, in units of rows: with more, rows are hardly
on an even grid."""
MICROSECOND = 1e-6
Stamps = npt.NDArray[np.int64]


Time = Annotated[int, Count(-NO_TIME - 1, NO_TIME)]
"""A time as a file holds it, in nanoseconds since 1970."""
FIRST_TIMES = Condition(
    f"len(first_times) == min(rows, {GRID_ROWS})", "those of the first rows"
)
FIRST_GRID = Condition(
    f"first_grid is None or rows >= {CLOCK_ROWS} and TimeGrid.has_fields(first_grid)"
    f" and {NO_TIME} not in first_times[:{CLOCK_ROWS}]",
    "the fields of a grid of times",
)
LAST_GRID = Condition(
    f"last_grid is None or rows >= {GRID_ROWS} and TimeGrid.has_fields(last_grid)",
    "the fields of a grid of times",
)


class RowClock(NamedTuple):
    """The times of the rows so far."""

    rows: int = 0
    # Of the first 24 rows.
    first_times: Annotated[tuple[Time, ...], FIRST_TIMES] = ()
    # Fields of the TimeGrid that 8 rows show; None without one. Then that of 24 rows.
    first_grid: Annotated[Any, FIRST_GRID] = None
    last_grid: Annotated[Any, LAST_GRID] = None
    last_time: Time = NO_TIME  # of the last row; an estimate where that is missing
    # The first row, from 1, whose time goes back; 0: none does.
    backward_row: Annotated[int, Count("rows")] = 0

    @property
    def grid(self) -> TimeGrid | None:
        """The grid that the rows so far show, or None."""
        return self.grid_after(self.rows)

    def grid_after(self, rows: int) -> TimeGrid | None:
        """The grid that the first ``rows`` rows show, or None."""
        fields = self.first_grid if rows < GRID_ROWS else self.last_grid
        return None if rows < CLOCK_ROWS or fields is None else TimeGrid(*fields)

    def advance(self, times: Stamps) -> tuple[Self, Stamps]:
        """The clock after more rows, and their times without gaps.

        A missing time is that of the row before and a step of the grid, once that is
        known.
        """
        clock, parts = self, [times[:0]]
        while len(times):
            stops = (CLOCK_ROWS, GRID_ROWS, clock.rows + len(times))
            stop = next(stop for stop in stops if stop > clock.rows)
            part = times[: stop - clock.rows]
            clock, part = clock._advance_part(part)
            parts.append(part)
            times = times[len(part) :]
        return clock, np.concatenate(parts)

    def fill(self, times: Stamps) -> Stamps:
        """Times of alternative next rows, where a missing one is the expected time."""
        is_missing, grid = times == NO_TIME, self.grid
        if grid is None or not is_missing.any():
            return times
        expected = _times_after(grid, np.array([self.last_time]), np.ones(1, np.int64))
        return np.where(is_missing, expected, times)

    def is_daily(self) -> bool:
        """Whether rows are known to be a day apart."""
        grid = self.grid
        return grid is not None and grid.step == DAY and not grid.months

    def absent_rows(self) -> int:
        """The number of grid times between the first row and the last that have no row;
        0 where that is not known."""
        grid = self.grid
        if grid is None or self.backward_row or self.last_time == NO_TIME:
            return 0
        ends = np.array([self.first_times[0], self.last_time], "datetime64[ns]")
        first, last = grid.nearest_positions(ends)[0].tolist()
        absent = last - first + 1 - self.rows
        return absent if 0 < absent < MAX_ABSENT * self.rows else 0

    def _advance_part(self, times: Stamps) -> tuple[Self, Stamps]:
        """Rows that all come before a search for the grid, or all after that."""
        backward = self.backward_row
        known = times[times != NO_TIME]
        numbers = np.flatnonzero(times != NO_TIME) + self.rows + 1
        if not backward and len(known):
            before = known[:1] if self.last_time == NO_TIME else [self.last_time]
            goes_back = np.diff(np.concatenate([before, known])) < 0
            backward = int(numbers[goes_back.argmax()]) if goes_back.any() else 0
        if self.grid is not None:
            times = _fill_gaps(times, int(self.last_time), self.grid)
        latest = times[times != NO_TIME]
        rows = self.rows + len(times)
        clock = self._replace(
            rows=rows,
            backward_row=backward,
            last_time=int(latest[-1]) if len(latest) else self.last_time,
        )
        if self.rows < GRID_ROWS:
            clock = clock._replace(first_times=(*self.first_times, *times.tolist()))
        if rows in (CLOCK_ROWS, GRID_ROWS):
            grid = find_row_grid(np.array(clock.first_times, np.int64))
            fields = None if grid is None else tuple(grid)
            if rows == CLOCK_ROWS:
                clock = clock._replace(first_grid=fields)
            else:
                clock = clock._replace(last_grid=fields)
        return clock, times


class SeriesGrid(NamedTuple):
    """The grid of a series, None where its rows are on none."""

    grid: TimeGrid | None
    is_local: bool = False  # whether it is one of times by local clocks, not in UTC


def find_series_grid(
    instants: Times, local: Times | None = None, is_strict: bool = False
) -> SeriesGrid:
    """The grid that the first 24 rows of a series show.

    Rows that are hours apart are counted in UTC, so that no hour comes twice; rows that
    are days or months apart by local clocks, if these are known, so that midnights stay
    midnights. Whoever refuses every row off the grid (``is_strict``) need not know
    whether most are on it.
    """

    def grid_of(times: Times) -> TimeGrid | None:
        first = times[:GRID_ROWS]
        return find_grid(first) if is_strict else find_row_grid(as_stamps(first))

    grid = grid_of(instants)
    if local is None or (grid is not None and grid.step < ALMOST_A_DAY):
        return SeriesGrid(grid)
    local_grid = grid_of(local)
    return SeriesGrid(local_grid or grid, local_grid is not None)


def find_row_grid(stamps: Stamps) -> TimeGrid | None:
    """The grid of rows at these times; None where they are not on one.

    Most of them have a place of their own on it, later than all rows before, and most
    places have a row. A few rows may be odd: late, twice, or an hour that comes again
    where summer time ends. One long gap may be any number of places.
    """
    if not len(stamps) or (stamps == NO_TIME).any():
        return None
    latest = np.maximum.accumulate(stamps)
    rising = stamps[np.append(True, latest[1:] > latest[:-1])]
    if len(rising) < max(2.0, MIN_FITTING * len(stamps)):
        return None
    times = rising.view("datetime64[ns]")
    grid = find_grid(times)
    assert grid is not None
    positions, is_off = grid.nearest_positions(times)
    steps = np.diff(positions)
    fitting = np.append(True, steps > 0) & ~is_off
    places = int(positions[-1]) + 2 - int(steps.max())
    is_on_grid = fitting.sum() >= MIN_FITTING * len(stamps)
    return grid if is_on_grid and len(rising) >= MIN_DENSITY * places else None


def as_stamps(times: Times) -> Stamps:
    """Times as nanoseconds since 1970."""
    return times.astype("datetime64[ns]").astype(np.int64)


def as_seconds(times: Times | None, rows: int) -> FloatArray:
    """Times (T,) as seconds since 1970, exact to the microsecond; NaN without any."""
    if times is None:
        return np.full(rows, np.nan)
    microseconds = times.astype("datetime64[us]")
    seconds = microseconds.astype(np.int64) * MICROSECOND
    return np.where(np.isnat(microseconds), np.nan, seconds)


def _fill_gaps(times: Stamps, last_time: int, grid: TimeGrid) -> Stamps:
    """Each missing time is that of the row before and a step."""
    is_known = times != NO_TIME
    if is_known.all():
        return times
    rows = np.arange(len(times))
    latest = np.maximum.accumulate(np.where(is_known, rows, -1))
    base = np.where(latest >= 0, times[np.maximum(latest, 0)], last_time)
    return np.where(is_known, times, _times_after(grid, base, rows - latest))


def _times_after(grid: TimeGrid, times: Stamps, steps: Stamps) -> Stamps:
    """The times ``steps`` steps later."""
    if not (grid.weekdays or grid.months):
        return times + steps * grid.step
    positions, _ = grid.nearest_positions(times.view("datetime64[ns]"))
    return grid.times(positions + steps).view(np.int64)
