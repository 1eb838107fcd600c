"""Rows at their places on a grid of times: gaps, repeated rows, weekdays without rows.

Whoever reads rows finds their places here: forecasts leave out or refuse rows without a
place of their own, features of the past and change alarms count the steps between rows.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import NO_TIME, Stamps
from thalweg.calendar.time_grid import MAX_GAP, TimeGrid, Times
from thalweg.calendar.weekdays import DAY
from thalweg.errors import StreamError
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
MAX_ABSENT_ROWS = 1024
"""Limit of the rows that are absent in a gap where they are counted one by one; longer
gaps are cut by whole days, or weeks if daily."""
HOUR = DAY // 24
"""A gap of an hour may be a shift of the clock, which is no row."""


class PlacedRows(NamedTuple):
    """Which rows have a place of their own on the grid, and where it is."""

    rows: IntArray  # of those given, in order
    steps: IntArray  # of each row from the last known one, 1 for the next
    absent: IntArray  # rows on weekdays that are not of the grid

    def until(self, count: int) -> "PlacedRows":
        """Those among the first ``count`` rows given."""
        stop = int(np.searchsorted(self.rows, count))
        absent = self.absent[self.absent < count]
        return PlacedRows(self.rows[:stop], self.steps[:stop], absent)


def place_rows(grid: TimeGrid, times: Times, last: int) -> PlacedRows:
    """The places of rows after the one at position ``last``, each later than all before
    it; other rows have none."""
    positions, _ = grid.nearest_positions(times)
    is_absent = grid.is_absent_weekday(times)
    positions[is_absent] = last
    before = np.maximum.accumulate(np.append(last, positions))[:-1]
    rows = np.flatnonzero(positions > before)
    return PlacedRows(rows, positions[rows] - last, np.flatnonzero(is_absent))


def grid_steps(grid: TimeGrid, before: Stamps, after: Stamps) -> Stamps:
    """The number of grid steps between times; 1 where time goes back.

    It is 0 between two rows of the same place. A time on a weekday without rows counts
    as the next time of the grid.
    """
    pair = [stamps.view("datetime64[ns]") for stamps in (before, after)]
    places = [grid.nearest_positions(times)[0] for times in pair]
    steps = places[1] - places[0]
    is_known = (before != NO_TIME) & (after != NO_TIME)
    return np.where(is_known & (steps >= 0), steps, 1)


class RowsOnGrid(NamedTuple):
    """Rows on a grid, with those that are absent before them."""

    present: npt.NDArray[np.int64]  # (G,) the row given that is there, or comes next
    is_absent: npt.NDArray[np.bool_]  # (G,)
    times: FloatArray  # (G,) nanoseconds since 1970, NaN where unknown

    def values(self, given: FloatArray) -> FloatArray:
        """Values (T,) or (T, p) of the rows given; NaN where absent."""
        values = given[self.present]
        values[self.is_absent] = np.nan
        return values


def rows_on_grid(grid: TimeGrid | None, last_time: int, stamps: Stamps) -> RowsOnGrid:
    """Rows of these times, with those that are absent since ``last_time``."""
    before = np.append(np.int64(last_time), stamps[:-1])[: len(stamps)]
    absent = np.zeros(len(stamps), np.int64)
    if grid is not None:
        absent = np.maximum(grid_steps(grid, before, stamps) - 1, 0)
        if not (grid.months or grid.weekdays):
            absent[absent * grid.step == HOUR] = 0
        absent = _within_limit(absent, grid)
    present = np.repeat(np.arange(len(stamps)), absent + 1)
    # How many rows of the same gap come after each: 0 for the row that is there.
    ends = np.cumsum(absent + 1)
    later = ends[present] - 1 - np.arange(len(present))
    times = np.where(stamps == NO_TIME, np.nan, stamps.astype(np.float64))
    starts = np.where(before == NO_TIME, np.nan, before.astype(np.float64))
    steps = (times - starts) / (absent + 1)
    moved = np.where(later > 0, later * steps[present], 0.0)
    return RowsOnGrid(present, later > 0, times[present] - moved)


def _within_limit(absent: Stamps, grid: TimeGrid) -> Stamps:
    """Gaps of at most ``MAX_ABSENT_ROWS``, of the same place in the day or week."""
    is_within_day = not grid.months and grid.step < DAY
    period = max(DAY // grid.step, 1) if is_within_day else 7
    excess = np.maximum(absent - MAX_ABSENT_ROWS, 0)
    return np.asarray(np.maximum(absent - -(-excess // period) * period, 0))


def fill_gaps(
    grid: TimeGrid | None, first: int, places: IntArray, y: FloatArray,
    given: FloatArray, last_given: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Values and features of all rows from position ``first`` up to the last one, of
    rows at rising positions.

    Between them values are missing, and features are those of the row before, which
    are ``last_given`` (m,) before the first of these. Without a grid no row is missing.
    """
    at = places - first
    absent = int(at[-1]) + 1 - len(at)
    if absent > MAX_GAP and grid is not None:
        raise StreamError(
            f"Rows that are {grid} apart leave {absent} rows missing up to "
            f"{grid.times(places[-1:])[0]}, more than {MAX_GAP}."
        )
    filled: FloatArray = np.full(int(at[-1]) + 1, np.nan)
    filled[at] = y
    before = np.searchsorted(at, np.arange(len(filled)), "right")
    first_given = given[0] if last_given is None else last_given
    return filled, np.concatenate([first_given[None], given])[before]
