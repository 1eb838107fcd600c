"""Rows that are absent on the grid of times, as rows without a value."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import NO_TIME, Stamps
from thalweg.calendar.row_places import grid_steps
from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY
from thalweg.types import FloatArray

MAX_ABSENT = 1024
"""Limit of the rows in a gap; longer gaps are cut by whole days, or weeks if daily."""
HOUR = DAY // 24
"""A gap of an hour may be a shift of the clock, which the detector finds itself."""


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
    """Gaps of at most ``MAX_ABSENT`` rows, of the same place in the day or week."""
    is_within_day = not grid.months and grid.step < DAY
    period = max(DAY // grid.step, 1) if is_within_day else 7
    excess = np.maximum(absent - MAX_ABSENT, 0)
    return np.asarray(np.maximum(absent - -(-excess // period) * period, 0))
