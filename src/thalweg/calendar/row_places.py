"""Rows at their places on a grid of times: gaps, repeated rows, weekdays without rows.

Whoever reads rows finds their places here: forecasts leave out or refuse rows without a
place of their own, features of the past and change alarms count the steps between rows.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import NO_TIME, Stamps
from thalweg.calendar.time_grid import MAX_GAP, TimeGrid, Times
from thalweg.errors import StreamError
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]


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
