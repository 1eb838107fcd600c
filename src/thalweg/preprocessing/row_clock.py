"""The clock of a table's rows: their local times, and the grid that the first show.

Times are integers of nanoseconds since 1970 by the local clock; ``NO_TIME`` where one
is missing. The grid is looked for in the first 8 rows, and weekdays that never have a
row (weekdays.py) in the first 24, so that both are the same however a table is cut and
depend on no later row.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.preprocessing.time_grid import TimeGrid, find_grid
from thalweg.preprocessing.weekdays import DAY

NO_TIME = -(2**63)
"""The integer that NumPy reads as NaT."""
CLOCK_ROWS = 8
"""Rows whose times show the grid."""
WEEKDAY_ROWS = 24
"""Rows whose times show which weekdays have rows."""
MAX_SPREAD = 4
"""The first rows are on a grid if at least one in so many of its times has a row."""
Stamps = npt.NDArray[np.int64]


class RowClock(NamedTuple):
    """The times of rows so far."""

    rows: int = 0
    first_times: Any = ()  # integers, of the first 24 rows
    grid_fields: Any = None  # of a TimeGrid; None where there is none, or not yet
    weekday_fields: Any = None  # of one without some weekdays, which 24 rows show
    last_time: Any = NO_TIME  # of the last row; an estimate where that is missing
    backward_row: int = 0  # the first row, from 1, whose time goes back; 0: none does

    @property
    def grid(self) -> TimeGrid | None:
        """The grid that the rows so far show; None where they show none."""
        return self.grid_after(self.rows)

    def grid_after(self, rows: int) -> TimeGrid | None:
        """The grid that the first so many rows show; None where they show none."""
        fields = self.grid_fields if rows >= CLOCK_ROWS else None
        if rows >= WEEKDAY_ROWS and self.weekday_fields is not None:
            fields = self.weekday_fields
        return None if fields is None else TimeGrid(*fields)

    def advance(self, times: Stamps) -> tuple[Self, Stamps]:
        """The clock after more rows, and their times without gaps.

        A missing time is that of the row before and a step of the grid, once that is
        known.
        """
        clock, parts = self, [times[:0]]
        while len(times):
            stops = (CLOCK_ROWS, WEEKDAY_ROWS, clock.rows + len(times))
            stop = next(stop for stop in stops if stop > clock.rows)
            part = times[: stop - clock.rows]
            clock, part = clock._advance_part(part)
            parts.append(part)
            times = times[len(part) :]
        return clock, np.concatenate(parts)

    def fill(self, times: Stamps) -> Stamps:
        """Times of rows each of which may come next, with the expected one in gaps."""
        is_missing, grid = times == NO_TIME, self.grid
        if grid is None or not is_missing.any():
            return times
        expected = _times_after(grid, np.array([self.last_time]), np.ones(1, np.int64))
        return np.where(is_missing, expected, times)

    def is_daily(self) -> bool:
        """Whether rows are known to be a day apart."""
        return self.grid_fields is not None and self.grid_fields[1:3] == (DAY, 0)

    def _advance_part(self, times: Stamps) -> tuple[Self, Stamps]:
        """Rows that all come before the grid is known, or all after that."""
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
        if self.rows < WEEKDAY_ROWS:
            clock = clock._replace(first_times=(*self.first_times, *times.tolist()))
            clock = clock._with_grids()
        return clock, times

    def _with_grids(self) -> Self:
        """With the grids that the first 8 and 24 rows show, if there are so many."""
        if self.rows == CLOCK_ROWS:
            grid = find_row_grid(self.first_times)
            return self._replace(grid_fields=None if grid is None else tuple(grid))
        if self.rows == WEEKDAY_ROWS and self.may_lack_weekdays():
            grid = find_row_grid(self.first_times)
            if grid is not None and grid.weekdays:
                return self._replace(weekday_fields=tuple(grid))
        return self

    def may_lack_weekdays(self) -> bool:
        """Whether 24 rows may show that some weekdays have none."""
        grid = self.grid_after(CLOCK_ROWS)
        is_known = grid is not None and grid.weekdays != 0
        return not is_known and (grid is None or DAY <= grid.step < 7 * DAY)


def find_row_grid(first_times: tuple[int, ...]) -> TimeGrid | None:
    """The grid on which rows are; None where they go back, or are far off any grid."""
    stamps = np.array(first_times, np.int64)
    if (stamps == NO_TIME).any() or (np.diff(stamps) <= 0).any():
        return None
    times = stamps.view("datetime64[ns]")
    grid = find_grid(times)
    assert grid is not None
    try:
        last = int(grid.positions(times)[-1])
    except StreamError:
        return None
    return grid if last < MAX_SPREAD * len(stamps) else None


def grid_steps(grid: TimeGrid, before: Stamps, after: Stamps) -> Stamps:
    """How many steps of the grid lie between times; 1 where time goes back.

    There is none between two rows of the same place. A time on a weekday without rows
    counts as the next time of the grid.
    """
    if grid.weekdays:
        pair = [stamps.view("datetime64[ns]") for stamps in (before, after)]
        places = [grid.nearest_positions(times)[0] for times in pair]
        steps = places[1] - places[0]
    elif grid.months:
        months = [_month_numbers(stamps) // grid.months for stamps in (before, after)]
        steps = months[1] - months[0]
    else:
        half = grid.step // 2
        positions = [(t - grid.first + half) // grid.step for t in (before, after)]
        steps = positions[1] - positions[0]
    is_known = (before != NO_TIME) & (after != NO_TIME)
    return np.where(is_known & (steps >= 0), steps, 1)


def _month_numbers(stamps: Stamps) -> Stamps:
    times = stamps.view("datetime64[ns]")
    return times.astype("datetime64[M]").astype(np.int64)


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
    """The times so many steps later."""
    if not grid.weekdays:
        return times + steps * grid.step
    positions, _ = grid.nearest_positions(times.view("datetime64[ns]"))
    return grid.times(positions + steps).view(np.int64)
