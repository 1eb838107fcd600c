"""Rows of one series in equal steps of time, as they come: gaps are missing values."""

import numpy as np

from thalweg.models.forecaster_file import Progress
from thalweg.models.grid_rows import GridRows, place_on_grid
from thalweg.models.series_inputs import Series
from thalweg.preprocessing.time_grid import TimeGrid, Times
from thalweg.preprocessing.weekdays import DAY
from thalweg.types import FloatArray


class SeriesGrid:
    """Where rows of one series belong in time, for series that come in pieces.

    Times are datetime64[ns]; whole numbers are given as so many nanoseconds. A grid is
    found in the first two rows at least, unless it is given.
    """

    def __init__(self, grid: TimeGrid | None = None) -> None:
        first = None if grid is None else grid.first
        self._progress = Progress(first_time=first, grid=grid)
        self.rows = 0  # on the grid so far

    @property
    def grid(self) -> TimeGrid | None:
        """The grid of times; None before the second row, unless it was given."""
        grid: TimeGrid | None = self._progress.grid
        return grid

    def place(self, y: FloatArray, times: Times, given: FloatArray) -> GridRows:
        """The next rows, with those that times show to be missing (y is NaN there)."""
        placed = place_on_grid(self._progress, Series(y, times), given, self.rows)
        self._progress = placed.progress
        self.rows += len(placed.series.y)
        return placed

    def daily_grid(self, y: FloatArray, times: Times | None) -> TimeGrid | None:
        """The grid from the first value on, if rows are a day apart; else None.

        ``y`` and ``times`` are the first rows that were placed. A forecaster that finds
        the grid in them by itself could see other weekdays, where they are few.
        """
        if self.grid is None or self.grid.step != DAY or times is None:
            return None
        known = times[~np.isnan(y)]
        if not len(known):
            return None
        return self.grid._replace(first=int(known[0].astype(np.int64)))

    def times_ahead(self, steps: int) -> Times:
        """The times of the next steps."""
        assert self.grid is not None
        return self.grid.times(self.rows + np.arange(steps))
