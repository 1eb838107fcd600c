"""The season of a stream while it runs: by the times of its rows, else by its values.

Nothing is looked at that is not known yet: times are those of the first rows, values
those whose labels have come.
"""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.errors import StreamError
from thalweg.models.season_learning import FIRST_SEARCH, HISTORY, SEARCH_GROWTH
from thalweg.persistence.snapshots import Array, Component, Condition, Count, Number
from thalweg.preprocessing.seasons import (
    MAX_CYCLE,
    Seasons,
    calendar_seasons,
    find_seasons,
)
from thalweg.preprocessing.time_grid import TimeGrid, Times, find_grid
from thalweg.preprocessing.weekdays import DAY, count_weekdays
from thalweg.types import FloatArray

GRID_ROWS = FIRST_SEARCH
"""The step between rows is taken from the times of so many first rows."""
SEARCHES = tuple(
    min(int(FIRST_SEARCH * SEARCH_GROWTH**k), HISTORY)
    for k in range(14)
)  # fmt: skip
"""Seasons are looked for among so many values: 24, 36, 54, … 4,096."""
MICROSECOND = 1e-6
WEEK, YEAR = 7, 364
"""Days of the periods where some weekdays have no rows: the same weekday a year ago."""


class StreamSeasonsSnapshot(NamedTuple):
    """All that changes in the search for seasons."""

    rounds: int  # rows that were asked for
    first_times: FloatArray  # (≤ GRID_ROWS,) seconds since 1970
    last_time: float  # of the last row, seconds since 1970; NaN without any
    start: float  # the time of the first row, seconds since 1970
    step: float  # seconds between rows; 0 where rows are counted
    months: int  # between rows; 0 where the step is a duration
    weekdays: int  # that have rows, as in preprocessing/weekdays.py; 0: all of them
    season: int
    cycle: int
    is_settled: bool
    history: FloatArray  # (h, 3) number, time and label of rows, while not settled


class StreamSeasons(Component):
    """The season and the cycle of a stream, and the position of its rows in them.

    Where rows have times, the calendar gives the seasons once 24 rows have been asked
    for (``calendar_seasons``), and positions are counted by the local clock, so that
    rows may be missing. Where some weekdays have no rows (preprocessing/weekdays.py),
    positions still count all days, with periods of 7 and 364 of them, so that a later
    row on such a day has a position of its own; ``rows_of`` says how many rows that is.
    Else rows are counted, and seasons are looked for among the values known after 24,
    36, 54, … 4,096 rows, as the Forecaster does; the last search decides.
    """

    Snapshot: ClassVar[Any] = StreamSeasonsSnapshot

    def __init__(self) -> None:
        self.rounds = 0
        self.first_times: FloatArray = np.empty(0)
        self.last_time = float("nan")
        self.start = self.step = 0.0
        self.months = self.weekdays = 0
        self.season = self.cycle = 1
        self.is_settled = False
        self.history: FloatArray = np.empty((0, 3))

    def stops(self, rounds: int, delay: int) -> list[int]:
        """Before which of the next rows ``search`` is to be called, from 0."""
        if self.is_settled:
            return []
        at = {GRID_ROWS, *(stop + delay for stop in SEARCHES)}
        return sorted(
            stop - self.rounds for stop in at if 0 <= stop - self.rounds < rounds
        )

    def fill_times(self, seconds: FloatArray) -> FloatArray:
        """Times (T,) of the next rows; a missing one is that of the row before and a
        step, once the step is known."""
        if not self.step or not np.isnan(seconds).any():
            return seconds
        times, rows = np.append(self.last_time, seconds), np.arange(len(seconds) + 1)
        newest = np.maximum.accumulate(np.where(np.isnan(times), 0, rows))
        grid = self._day_grid()
        if grid is not None:
            at, _ = grid.nearest_positions(as_stamps(times[newest]))
            filled = as_seconds(grid.times(at + rows - newest), len(times))
            return np.where(np.isnan(times), filled, times)[1:]
        return np.asarray(times[newest] + (rows - newest) * self.step)[1:]

    def add_rows(self, seconds: FloatArray) -> None:
        """Take the times (T,) of rows that are asked for, NaN where they have none."""
        missing = GRID_ROWS - len(self.first_times)
        if missing > 0:
            self.first_times = np.append(self.first_times, seconds[:missing])
        self.rounds += len(seconds)
        self.last_time = float(seconds[-1]) if len(seconds) else self.last_time

    def add_labels(self, rows: FloatArray) -> None:
        """Take rows whose labels are due, (T, 3): number, time and label."""
        if not self.is_settled:
            self.history = np.vstack([self.history, rows])

    def search(self) -> bool:
        """Look for seasons; returns whether any number in this object has changed."""
        before = (self.step, self.season, self.cycle)
        if self.rounds == GRID_ROWS:
            self._search_calendar()
        if not self.is_settled and len(self.history) in SEARCHES:
            self.season, self.cycle = find_seasons(self.history[:, 2])
            self.is_settled = len(self.history) >= HISTORY
        return (self.step, self.season, self.cycle) != before

    def positions(self, rows: FloatArray) -> FloatArray:
        """The positions (T,) of rows of number and time, (T, 2), as whole numbers."""
        numbers, seconds = rows.T
        if not self.step:
            return np.asarray(numbers)
        if not self.months:
            return np.asarray(np.floor((seconds - self.start) / self.step + 0.5))
        months = _months(seconds) - _months(np.array([self.start]))
        return np.floor(months / self.months)

    def drop_history(self) -> None:
        """Forget the labels, once nothing is looked for any more."""
        if self.is_settled:
            self.history = self.history[:0].copy()

    @property
    def profile_period(self) -> int:
        """The period of a mean of the same position: the cycle, where the season
        divides it (the hour of the week), else the season, as of days."""
        is_season = self.weekdays or self.cycle % self.season
        return self.season if is_season else self.cycle

    def rules(self, snapshot: StreamSeasonsSnapshot) -> Iterator[tuple[str, Any]]:
        """Sizes fit the rounds, and seasons are such as can be found."""
        rows = min(snapshot.rounds, GRID_ROWS)
        yield "first_times", Array((rows,), may_be_nan=True)
        yield "last_time", Number(may_be_nan=True)
        yield "start", Number()
        yield "step", Number(0.0)
        yield "months", Count(12)
        grid = TimeGrid(_nanoseconds(snapshot.start), DAY, weekdays=snapshot.weekdays)
        is_set = grid.has_possible_weekdays()
        yield "weekdays", Condition(is_set, "a set of weekdays")
        seasons = (snapshot.season, snapshot.cycle)
        is_possible = 1 <= min(seasons) and max(seasons) <= MAX_CYCLE
        yield "season", Condition(is_possible, f"from 1 to {MAX_CYCLE}, as is 'cycle'")
        length = len(snapshot.history)
        most = 0 if snapshot.is_settled else min(snapshot.rounds, HISTORY)
        yield "history", Array((min(length, most), 3), may_be_nan=True)

    def _search_calendar(self) -> None:
        """Take the step and the seasons from the times of the first rows."""
        if np.isnan(self.first_times).any():
            return
        try:
            grid = find_grid(as_stamps(self.first_times))
        except StreamError:  # times come twice: they do not tell rows apart
            return
        seasons = Seasons() if grid is None else calendar_seasons(grid)
        if grid is None or seasons == Seasons():
            return
        self.start = float(self.first_times[0])
        self.step, self.months = grid.step / 1e9, grid.months
        self.weekdays = grid.weekdays
        self.season, self.cycle = seasons
        if self.weekdays:
            self.season, self.cycle = WEEK, YEAR
        self.is_settled = True

    def rows_of(self, period: int) -> int:
        """How many rows there are in so many positions."""
        if not self.weekdays:
            return period
        return period * count_weekdays(self.weekdays) // WEEK

    def grid(self) -> TimeGrid | None:
        """The grid of the times; None where rows are counted."""
        if not self.step:
            return None
        step = round(self.step * 1e9)
        return TimeGrid(0, step, self.months, weekdays=self.weekdays)

    def _day_grid(self) -> TimeGrid | None:
        """The grid from the first time on, if some weekdays have no rows."""
        if not self.weekdays:
            return None
        return TimeGrid(_nanoseconds(self.start), DAY, weekdays=self.weekdays)


def as_seconds(times: Times | None, rows: int) -> FloatArray:
    """Times (T,) as seconds since 1970, exact to the microsecond; NaN without any."""
    if times is None:
        return np.full(rows, np.nan)
    microseconds = times.astype("datetime64[us]")
    seconds = microseconds.astype(np.int64) * MICROSECOND
    return np.where(np.isnat(microseconds), np.nan, seconds)


def as_stamps(seconds: FloatArray) -> Times:
    """Seconds since 1970 as times."""
    microseconds = np.rint(seconds / MICROSECOND).astype(np.int64)
    return np.asarray(microseconds.astype("datetime64[us]").astype("datetime64[ns]"))


def _nanoseconds(seconds: float) -> int:
    return int(as_stamps(np.array([seconds])).astype(np.int64)[0])


def _months(seconds: FloatArray) -> FloatArray:
    return as_stamps(seconds).astype("datetime64[M]").astype(np.float64)
