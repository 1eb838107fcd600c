"""The season of a stream while it runs: by the times of its rows, else by its values.

Only known data are used: times are those of the first rows, values those whose labels
have come.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import CLOCK_ROWS, GRID_ROWS, RowClock
from thalweg.calendar.season_finder import (
    HISTORY,
    MAX_CYCLE,
    SEARCHES,
    Seasons,
    find_seasons,
    grid_seasons,
)
from thalweg.calendar.time_grid import TimeGrid, Times
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition, Count
from thalweg.types import FloatArray

MICROSECOND = 1e-6


UNTIL_SETTLED = Condition(
    f"len(history) <= (0 if is_settled else min(clock.rows, {HISTORY}))",
    "the first rows, until the seasons are settled",
)


class StreamSeasonsSnapshot(NamedTuple):
    """All that changes in the search for seasons."""

    clock: RowClock  # of the rows that were asked for
    seasons: Annotated[Seasons, {"cycle": Count(MAX_CYCLE, 1)}]
    is_settled: bool
    # (h, 3) number, time and label of rows, while not settled
    history: Annotated[FloatArray, Array((None, 3), may_be_nan=True), UNTIL_SETTLED]


class StreamSeasons(Component):
    """The season and the cycle of a stream, and the position of its rows in them.

    Where the clock of the rows (calendar/row_clock.py) has a grid with seasons,
    positions are those on the grid, so that rows may be missing. Else rows are counted,
    and seasons are searched in the values known after 24, 36, 54, … 4,096 rows; the
    last search decides.
    """

    Snapshot: ClassVar[Any] = StreamSeasonsSnapshot

    def __init__(self) -> None:
        self.clock = RowClock()
        self.seasons = Seasons()
        self.is_settled = False
        self.history: FloatArray = np.empty((0, 3))

    def next_stop(self, delay: int) -> int:
        """The number of rows after which ``search`` is to be called; 0: never again."""
        if self.is_settled:
            return 0
        stops = (CLOCK_ROWS, GRID_ROWS, *(rows + delay for rows in SEARCHES))
        return min(stop - self.clock.rows for stop in stops if stop > self.clock.rows)

    def add_labels(self, rows: FloatArray) -> None:
        """Take rows whose labels are due, (T, 3): number, time and label."""
        if not self.is_settled:
            self.history = np.vstack([self.history, rows])

    def search(self) -> bool:
        """Look for seasons; returns whether they, or positions, have changed."""
        earlier = self.clock.grid_after(self.clock.rows - 1)
        before, found = (self.seasons, earlier), grid_seasons(self.clock.grid)
        if found is not None:
            self.seasons = found
            self.is_settled = self.clock.rows >= GRID_ROWS
        elif grid_seasons(earlier) is not None:
            self.seasons = Seasons()
        if found is None and len(self.history) in SEARCHES:
            self.seasons = find_seasons(self.history[:, 2])
            self.is_settled = len(self.history) >= HISTORY
        return (self.seasons, self.clock.grid) != before

    def positions(self, rows: FloatArray) -> npt.NDArray[np.int64]:
        """The positions (T,) of rows of number and time, (T, 2)."""
        numbers, stamps = rows.T.astype(np.int64)
        grid = self.grid()
        if grid is None:
            return np.asarray(numbers)
        return grid.nearest_positions(stamps.view("datetime64[ns]"))[0]

    def grid(self) -> TimeGrid | None:
        """The grid of positions; None where rows are counted."""
        grid = self.clock.grid
        return None if grid_seasons(grid) is None else grid

    def drop_history(self) -> None:
        """Forget the labels after the last search."""
        if self.is_settled:
            self.history = self.history[:0].copy()


def as_seconds(times: Times | None, rows: int) -> FloatArray:
    """Times (T,) as seconds since 1970, exact to the microsecond; NaN without any."""
    if times is None:
        return np.full(rows, np.nan)
    microseconds = times.astype("datetime64[us]")
    seconds = microseconds.astype(np.int64) * MICROSECOND
    return np.where(np.isnat(microseconds), np.nan, seconds)
