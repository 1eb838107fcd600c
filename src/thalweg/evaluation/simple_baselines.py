"""Simple baselines: naive forecasts of a stream, which a learner has to beat.

Also known as: benchmark methods. These are persistence (the last value), seasonal naive
(the value a season ago), drift (the last value and the mean step so far) and the
seasonal mean (of all values at the same position): forecasting/naive.py.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.calendar.row_clock import NO_TIME, RowClock, Stamps, as_stamps
from thalweg.calendar.season_finder import HISTORY, Seasons, SeasonSearch
from thalweg.calendar.time_grid import Times
from thalweg.evaluation.period_words import ago_words, position_words
from thalweg.evaluation.scoring import LearnerInfo
from thalweg.forecasting import naive
from thalweg.forecasting.naive import (
    IntArray,
    NaiveForecasts,
    NaiveSnapshot,
    complete,
    mean_period,
)
from thalweg.models.delayed_labels import DelayedLabels, DelayedLabelsState
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition, Given, Number
from thalweg.types import FloatArray

PERSISTENCE_WORDS = "repeating the last value"
"""What persistence does, after "what … gives"."""
PERSISTENCE = LearnerInfo("persistence", "persistence", description=PERSISTENCE_WORDS)
LAST, SEASON, CYCLE, DRIFT, PROFILE = range(5)
"""The columns of the forecasts."""
COLUMNS = [naive.LAST, naive.SEASON, naive.CYCLE, naive.DRIFT, naive.MEAN]
"""The same columns among all naive forecasts."""
INFOS = (
    PERSISTENCE,
    LearnerInfo("seasonal naive", "baseline"),
    LearnerInfo("seasonal naive (cycle)", "baseline"),
    LearnerInfo("drift", "baseline"),
    LearnerInfo("seasonal mean", "baseline"),
)
"""The baselines in order of columns; those shown get the lengths of their periods."""


UNTIL_SETTLED = Condition(
    f"len(history) <= (0 if search.is_settled else min(clock.rows, {HISTORY}))",
    "the first rows, until the seasons are settled",
)
OF_SEASONS = Condition(
    "(len(naive.season), len(naive.cycle)) == search.seasons", "of the same seasons"
)


class SimpleBaselinesSnapshot(NamedTuple):
    """All that changes in the simple baselines."""

    clock: RowClock  # of the rows that were asked for
    search: SeasonSearch
    # (h, 3) number, time and label of rows; empty once settled
    history: Annotated[FloatArray, Array((None, 3), may_be_nan=True), UNTIL_SETTLED]
    # Number and time of rows whose labels are to come.
    delayed_rows: Annotated[
        DelayedLabelsState,
        Given(rounds="clock.rows", columns="2"),
        {"x": Array((None, 2))},
    ]
    passed: Annotated[float, Number(0.0)]  # rows that have passed
    naive: Annotated[NaiveSnapshot, OF_SEASONS]


class SimpleBaselines(Component):
    """Persistence, seasonal naive of season and cycle, drift and the seasonal mean.

    Positions are those on the grid of times, where it has seasons, so that rows may be
    missing; else rows are counted. All forecast each row from the labels known by then,
    with a ``delay`` as well. Seasonal naive is the newest value known at the same
    position; before it knows one, the cycle's is that of the season, and the season's
    the last value. The seasonal mean repeats the cycle's where it has none. Memory is
    that of one cycle, at most 20,160 rows. The result does not depend on how rows are
    cut into calls of ``play``.
    """

    Snapshot: ClassVar[Any] = SimpleBaselinesSnapshot

    def __init__(self, delay: int = 0) -> None:
        self.delay = delay
        self.clock, self.search = RowClock(), SeasonSearch()
        self.history: FloatArray = np.empty((0, 3))
        self.delayed_rows = DelayedLabels(delay, 2)
        self.passed = 0.0
        self.naive = NaiveForecasts(Seasons())

    def play(
        self, y: FloatArray, elapsed: FloatArray | None = None,
        times: Times | None = None,
    ) -> FloatArray:  # fmt: skip
        """The forecasts (T, 5) of the next rows; labels y (T,) are NaN where unknown.

        ``elapsed`` (T,) is 0 for a row that only asks, 1 if not given; ``times`` (T,)
        are local times. Forecasts are NaN before the first label is known.
        """
        elapsed = np.ones(len(y)) if elapsed is None else elapsed
        stamps = np.full(len(y), NO_TIME) if times is None else as_stamps(times)
        parts: list[FloatArray] = [np.empty((0, len(INFOS)))]
        start = 0
        while start < len(y):
            stop = self.search.next_stop(self.clock.rows, self.delay)
            rows = slice(start, start + stop - self.clock.rows if stop else len(y))
            parts.append(self._play_part(y[rows], elapsed[rows], stamps[rows]))
            if self.clock.rows == stop:
                self._search_seasons()
            start += len(parts[-1])
        return np.vstack(parts)

    def _play_part(
        self, y: FloatArray, elapsed: FloatArray, stamps: Stamps
    ) -> FloatArray:
        """``play`` for rows between two searches for seasons."""
        after = self.passed + np.cumsum(elapsed)
        numbers = np.append(self.passed, after[:-1])
        clock, filled = self.clock.advance(stamps)
        rows = np.column_stack([numbers, filled])
        due = self.delayed_rows.push(rows, y)
        forecasts = self._forecast(rows, due.x, due.y)
        is_due = due.elapsed > 0
        if not self.search.is_settled:
            labels = np.column_stack([due.x, due.y])[is_due]
            self.history = np.vstack([self.history, labels])
        self.clock, self.passed = clock, float(after[-1])
        return forecasts

    def display_infos(self) -> tuple[LearnerInfo | None, ...]:
        """The baselines by column as tables call them; None where there is no season.

        Seasonal ones are shown once labels of more than a period are known.
        """
        season, cycle = self.naive.seasons
        mean, grid = mean_period(self.naive.seasons), self.search.grid
        span = self.naive.last[0] - self.naive.first[0]
        shown: list[LearnerInfo | None] = [None] * len(INFOS)
        shown[LAST] = PERSISTENCE
        shown[DRIFT] = INFOS[DRIFT]._replace(
            description="going on from the last value by the mean step so far"
        )
        for column, period in ((SEASON, season), (CYCLE, cycle)):
            if 1 < period <= span and (column == SEASON or cycle != season):
                shown[column] = LearnerInfo(
                    f"seasonal naive ({period:,} rows)", "baseline",
                    description=f"repeating {ago_words(grid, period)}",
                )  # fmt: skip
        if 1 < mean <= span:
            shown[PROFILE] = LearnerInfo(
                f"seasonal mean ({mean:,} rows)", "baseline",
                description=f"the mean so far of {position_words(grid, mean)}",
            )  # fmt: skip
        return tuple(shown)

    def _search_seasons(self) -> None:
        """Search for seasons; with others start again from all labels known so far."""
        rows, history = self.clock.rows, self.history
        self.search, is_other = self.search.advance(
            rows, self.clock.grid, history[:, 2]
        )
        if is_other:
            self.naive = NaiveForecasts(self.search.seasons)
            self._forecast(history[:0, :2], history[:, :2], history[:, 2])
        if self.search.is_settled:
            self.history = history[:0].copy()

    def _forecast(
        self, rows: FloatArray, due_rows: FloatArray, due_labels: FloatArray
    ) -> FloatArray:
        """Forecasts of rows, (T, 2); after each row a label is learnt."""
        is_known = ~np.isnan(due_labels)
        at = self._positions(due_rows[is_known])
        known = (np.cumsum(is_known) - is_known)[: len(rows)]  # labels before each row
        asked = self._positions(rows)
        made = self.naive.play(at, due_labels[is_known], asked, known)
        return complete(made)[:, COLUMNS]

    def _positions(self, rows: FloatArray) -> IntArray:
        """The positions (T,) of rows of number and time, (T, 2)."""
        numbers, stamps = rows.T.astype(np.int64)
        grid = self.search.grid
        if grid is None:
            return np.asarray(numbers)
        return grid.nearest_positions(stamps.view("datetime64[ns]"))[0]
