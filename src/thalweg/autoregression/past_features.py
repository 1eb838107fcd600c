"""Features that are made of a target's own past: a forecast, and a seasonal mean.

The *forecast* uses every value known by then (past_forecasts.py): regressions on the
last values and those of a season and a cycle ago, the same on logarithms, and
exponential smoothing. The *mean* is that of the same phase of the cycle, such as the
same hour of the week (seasonal_means.py).

The seasons are those of the calendar, if the first 8 rows are on a grid of times with
such seasons; rows absent from the grid count as missing values. Where the first 24 rows
show that some weekdays have no rows (weekdays.py), the grid is without these from then
on, and a later value on such a day enters only the means. Else seasons are searched in
the values, after 24, 36, 54, … rows and at most 4,096 (season_finder.py). Rows learnt
by then are learnt again with new seasons, so that nothing depends on how a table is
cut. With a delay of d rows only rows more than d rows ago are used, and the forecast
reaches d + 1 rows ahead.
"""

from typing import Annotated, NamedTuple, Self

import numpy as np

from thalweg import checks
from thalweg.autoregression.outlier_limit import OutlierLimit
from thalweg.autoregression.past_forecasts import PastForecasts
from thalweg.autoregression.seasonal_means import (
    SeasonalMeans,
    clock_phases,
    mean_seasons,
)
from thalweg.calendar.row_clock import NO_TIME, RowClock, Stamps, Time
from thalweg.calendar.row_places import grid_steps
from thalweg.calendar.season_finder import HISTORY, SeasonSearch
from thalweg.rules import Array, Condition, Count, Given, Number
from thalweg.types import FloatArray

MAX_VALUE = checks.MAX_MAGNITUDE[np.dtype(np.float64)]
MAX_FORECAST_DELAY = 200
"""Limit of the delay: with a longer one the forecast is the last known value, since
others cost too much."""


# Rules of files, in which ``seen`` rows had come, labels ``delay`` rows late.
OF_CLOCK = Condition(
    "search.grid_fields in (None, clock.first_grid, clock.last_grid)",
    "of a grid that the clock has shown",
)
SETTLED = Condition(
    f"search.grid_fields is not None or rows >= {HISTORY}"
    f" if search.is_settled else rows <= {HISTORY}",
    f"settled by a grid, or after {HISTORY} rows",
)
ONLY_AHEAD = Condition(
    f"(forecasts is None) == (delay > {MAX_FORECAST_DELAY})",
    f"None for delays above {MAX_FORECAST_DELAY} only",
)


class TargetPast(NamedTuple):
    """The state of one target."""

    search: Annotated[SeasonSearch, OF_CLOCK, SETTLED]
    # None where the delay is too long for them.
    forecasts: Annotated[
        PastForecasts | None, ONLY_AHEAD, Given(seasons="search.seasons")
    ]
    means: Annotated[SeasonalMeans, Given(periods="mean_seasons(search)")]
    # (rows,) all values; empty once seasons are settled
    history: Annotated[
        FloatArray, Array(("0 if search.is_settled else rows",), may_be_nan=True)
    ]
    latest: Annotated[float, Number()] = 0.0  # the last known value
    limit: OutlierLimit = OutlierLimit()  # of the next one

    @classmethod
    def initial(cls, search: SeasonSearch, delay: int) -> Self:
        """Before the first row, with the seasons of a search."""
        forecasts = None
        if delay <= MAX_FORECAST_DELAY:
            forecasts = PastForecasts.initial(search.seasons, delay)
        means = SeasonalMeans.initial(mean_seasons(search))
        return cls(search, forecasts, means, np.empty(0))


class PastState(NamedTuple):
    """The state of all targets, and the rows that are not learnt yet."""

    targets: Annotated[
        tuple[TargetPast, ...], Condition("len(targets) == k", "one of each target")
    ]
    # Number of rows learnt.
    rows: Annotated[int, Count("max(seen - delay - 1, 0)", "max(seen - delay - 1, 0)")]
    # (≤ delay + 1, k) of the rows after those, and their local times
    values: Annotated[FloatArray, Array(("seen - rows", "k"), may_be_nan=True)]
    times: Annotated[
        tuple[Time, ...], Condition("len(times) == len(values)", "those of the values")
    ]

    @classmethod
    def initial(cls, targets: int, delay: int) -> Self:
        """Before the first row."""
        empty = TargetPast.initial(SeasonSearch(), delay)
        return cls((empty,) * targets, 0, np.empty((0, targets)), ())

    def advance(
        self, y: FloatArray, times: Stamps, clock: RowClock, delay: int
    ) -> tuple[Self, FloatArray]:
        """The state after more rows, and the features (T, 2 k) that were known before
        each.

        ``y`` (T, k) are their targets, NaN where not known, ``times`` their local times
        without gaps, ``clock`` the clock after them.
        """
        waiting = delay + 1
        values = np.vstack([self.values, y])
        stamps = np.concatenate([np.array(self.times, np.int64), times])
        count = max(len(values) - waiting, 0)
        features = np.zeros((len(y), 2 * y.shape[1]))
        targets = []
        for k, past in enumerate(self.targets):
            limit, limited = past.limit.apply(values[:count, k])
            past = past._replace(limit=limit)
            target_rows = TargetRows(
                self.rows, limited, stamps[:count], stamps[waiting:], clock, delay
            )
            past, made = _learn(past, target_rows)
            targets.append(past)
            features[len(y) - count :, 2 * k : 2 * k + 2] = made
        after = self._replace(
            targets=tuple(targets),
            rows=self.rows + count,
            values=values[count:],
            times=tuple(stamps[count:].tolist()),
        )
        return after, features

    def query(self, times: Stamps, clock: RowClock, delay: int) -> FloatArray:
        """The features (T, 2 k) of rows at these times, each as if it came next."""
        unknown = np.full((1, len(self.targets)), np.nan)
        made = [
            self.advance(unknown, times[row : row + 1], clock, delay)[1]
            for row in range(len(times))
        ]
        return np.vstack([np.empty((0, 2 * len(self.targets))), *made])


class TargetRows(NamedTuple):
    """Rows of one target that are to be learnt, and the row to forecast after each."""

    first_row: int
    values: FloatArray  # (T,)
    times: Stamps  # (T,)
    next_times: Stamps  # (T,) of the row after each, or delay + 1 rows after
    clock: RowClock
    delay: int

    def cut(self, start: int, stop: int) -> "TargetRows":
        """Some of the rows."""
        rows = slice(start, stop)
        return self._replace(
            first_row=self.first_row + start,
            values=self.values[rows],
            times=self.times[rows],
            next_times=self.next_times[rows],
        )


def _learn(past: TargetPast, target_rows: TargetRows) -> tuple[TargetPast, FloatArray]:
    """The past after these rows, and the features (T, 2) after each."""
    made: list[FloatArray] = [np.empty((0, 2))]
    start, count = 0, len(target_rows.values)
    while start < count:
        first = target_rows.first_row
        search = past.search.next_stop(first + start)
        stop = min(count, search - first) if search else count
        part = target_rows.cut(start, stop)
        past, features = _play(past, part)
        if search:
            past = past._replace(history=np.append(past.history, part.values))
        if first + stop == search:
            past, last = _search(past, part)
            features[-1] = features[-1] if last is None else last
        made.append(features)
        start = stop
    return past, np.vstack(made)


def _search(past: TargetPast, part: TargetRows) -> tuple[TargetPast, FloatArray | None]:
    """Search for seasons; if they change, learn the history again with the new ones.

    Returns the features after the last row as well, or None if they stay.
    """
    history, rows = past.history, len(past.history)
    search, is_other = past.search.advance(rows, part.clock.grid_after(rows), history)
    kept = history[:0] if search.is_settled else history
    if not is_other:
        return past._replace(search=search, history=kept), None
    times = np.full(rows, NO_TIME)
    if search.grid is not None:
        times = np.array(part.clock.first_times[:rows], np.int64)
    next_times = np.append(times[1:], part.next_times[-1])
    target_rows = TargetRows(0, history, times, next_times, part.clock, part.delay)
    again = TargetPast.initial(search, part.delay)
    again, features = _play(again, target_rows)
    return again._replace(history=kept, limit=past.limit), features[-1]


def _play(past: TargetPast, target_rows: TargetRows) -> tuple[TargetPast, FloatArray]:
    """Learn rows with seasons as they are; the features (T, 2) after each."""
    delay, values = target_rows.delay, target_rows.values
    grid = past.search.grid
    rows = target_rows.first_row + np.arange(len(values))
    steps = np.ones(len(values), np.int64)
    is_absent = np.zeros(len(values), np.bool_)
    if grid is not None:
        phases = clock_phases(past.search, target_rows.times)
        next_phases = clock_phases(past.search, target_rows.next_times)
        if delay == 0:
            steps = grid_steps(grid, target_rows.times, target_rows.next_times)
            is_absent = grid.is_absent_weekday(target_rows.times.view("datetime64[ns]"))
            is_absent |= steps == 0  # the last row of a place is the one that counts
    else:
        cycle = past.search.seasons.cycle
        phases, next_phases = rows % cycle, (rows + delay + 1) % cycle
    own = np.where(is_absent, np.nan, values)
    means, expected = past.means.play(values, phases, next_phases)
    past, forecasts = _play_forecasts(past, own, steps, expected, delay)
    expected = np.where(np.isnan(expected), forecasts, expected)
    # A forecast may lie beyond the range of values, but not beyond legal ones.
    features = np.column_stack([forecasts, expected]).clip(-MAX_VALUE, MAX_VALUE)
    return past._replace(means=means), features


def _play_forecasts(
    past: TargetPast, values: FloatArray, steps: Stamps, means: FloatArray, delay: int
) -> tuple[TargetPast, FloatArray]:
    """Learn values and the missing ones up to the next rows; the forecasts (T,).

    ``steps`` (T,) is the number of grid steps to each next row; ``means`` (T,) are
    those of the coming phase, NaN where unknown.
    """
    last = carry_last(past.latest, values)[1:]
    past = past._replace(latest=float(last[-1]) if len(last) else past.latest)
    if past.forecasts is None:
        return past, last
    simple = np.column_stack([last, means])
    after, forecasts = past.forecasts.play(
        values, simple, steps, past.search.seasons, delay
    )
    return past._replace(forecasts=after), forecasts


def carry_last(before: float, values: FloatArray) -> FloatArray:
    """The last known value before each of the values (T,), and after all: (T + 1,).

    ``before`` is the last one known before them; values are NaN where not known.
    """
    known = np.append(before, values)
    newest = np.where(np.isnan(known), 0, np.arange(len(known)))
    return np.asarray(known[np.maximum.accumulate(newest)])
