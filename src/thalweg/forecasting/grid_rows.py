"""Rows of a series on a grid of times: gaps become missing values."""

import warnings
from typing import NamedTuple

import numpy as np

from thalweg.calendar.row_clock import GRID_ROWS, as_stamps, find_series_grid
from thalweg.calendar.row_places import fill_gaps, place_rows
from thalweg.calendar.time_grid import TimeGrid, Times, require_increasing
from thalweg.calendar.weekdays import NAMES, weekday_of
from thalweg.errors import StreamError
from thalweg.forecasting.forecaster_file import FirstRows, Progress
from thalweg.forecasting.series_inputs import NAIVE, WHOLE, Series
from thalweg.types import FloatArray

CALL_DEPTH = 6
"""Number of calls from a user's ``update`` to a warning."""


def in_zone(progress: Progress, series: Series) -> Progress:
    """The progress with the zone of the times, which has to be that of earlier ones.

    A zone after times without one is refused, and the reverse.
    """
    zone = progress.zone
    if series.times is None or not len(series.y):
        return progress
    kinds = (NAIVE, WHOLE)
    is_other = zone is not None and zone != series.zone
    if is_other and (zone in kinds or series.zone in kinds):
        raise StreamError(
            f"The forecaster's times are in the zone: {zone}. Got the time "
            f"{series.times[0]} in the zone: {series.zone}."
        )
    if is_other and progress.by_clock:
        raise StreamError(
            f"The forecaster's days are those of {zone}. Got the time "
            f"{series.times[0]} of {series.zone}: convert it."
        )
    return progress._replace(zone=zone or series.zone)


class NewRows(NamedTuple):
    """Rows that are to be learnt, and what is known of their times."""

    progress: Progress
    series: Series
    given: FloatArray  # (T, m)
    old: int  # the first of them, which came in earlier calls: all is learnt again


def rows_to_learn(
    progress: Progress, series: Series, given: FloatArray, rounds: int,
    last_given: FloatArray | None,
) -> NewRows:  # fmt: skip
    """Rows with those that are missing between them, on the grid of the first rows.

    ``rounds`` is the number of rows before these, ``last_given`` (m,) are the features
    of the last of them.
    """
    if not len(series.y):
        return NewRows(progress, series, given, 0)
    if series.times is None:
        return NewRows(progress._replace(first_rows=None), series, given, 0)
    old = 0
    if progress.first_rows is not None or not (rounds or progress.grid):
        progress, series, given, old = _with_first_rows(progress, series, given)
    if progress.by_clock:
        series = series.by_clock()
    grid, times = progress.grid, series.times
    if old and grid is not None and times is not None:
        rounds, last_given = 0, None
        old = int(grid.positions(times[old - 1 : old])[0]) + 1
    placed = place_on_grid(grid, series, given, rounds, last_given)
    return NewRows(progress, *placed, old)


def _with_first_rows(progress: Progress, series: Series, given: FloatArray) -> NewRows:
    """The first rows of a series, and the grid that all of them show so far.

    Where it is not the one of the rows before, those are learnt again with it: what is
    learnt does not depend on how rows are cut. After 24 rows the grid stays. Times are
    those of the zone's clocks if the first rows are a day apart or more, so that
    midnights stay midnights.
    """
    earlier, old = progress.first_rows, 0
    is_same_zone = series.zone == progress.zone
    if earlier is not None:
        old = len(earlier.values)
        series = earlier.series(progress.zone).join(series)
        given = np.concatenate([earlier.values[:, 1:], given])
    assert series.times is not None
    require_increasing(series.times[old:], series.times[old - 1] if old else None)
    has_clock = is_same_zone and series.zone not in (NAIVE, WHOLE)
    local = series.clock_times if has_clock else None
    grid, by_clock = find_series_grid(series.times, local, is_strict=True)
    kept = FirstRows.of(series, given) if len(series.y) < GRID_ROWS else None
    if old and (grid, by_clock) == (progress.grid, progress.by_clock):
        progress = progress._replace(first_rows=kept)
        return NewRows(progress, series.after(old), given[old:], 0)
    progress = Progress(
        grid=grid, zone=progress.zone, by_clock=by_clock, names=progress.names,
        given=progress.given, first_rows=kept,
    )  # fmt: skip
    return NewRows(progress, series, given, old)


class GridRows(NamedTuple):
    """Rows of a series without gaps."""

    series: Series
    given: FloatArray  # (T, m)


def place_on_grid(
    grid: TimeGrid | None, series: Series, given: FloatArray, rounds: int,
    last_given: FloatArray | None = None,
) -> GridRows:  # fmt: skip
    """Rows with those that their times show to be missing; NaN, and the given features
    of the row before.

    Rows on a weekday that is not of the grid are left out, with a warning. ``rounds``
    is the number of rows before these, ``last_given`` (m,) are the features of the last
    of them; without a grid there is one row, the first.
    """
    y, times = series.y, series.times
    if times is None or not len(y):
        return GridRows(series, given)
    if grid is None:
        if rounds:
            raise StreamError(
                "The forecaster's first values came without times, so it cannot place "
                f"{times[0]}."
            )
        return GridRows(series, given)
    require_increasing(times, grid.times([rounds - 1])[0] if rounds else None)
    placed = place_rows(grid, times, rounds - 1)
    if len(placed.absent):
        _warn_of_weekdays(times[placed.absent])
    own = np.delete(np.arange(len(y)), placed.absent)
    places = grid.positions(times[own])
    if len(placed.rows) < len(own):
        row = int(np.setdiff1d(own, placed.rows)[0])
        raise StreamError(
            f"The time {times[row]} is less than a step after the one before: rows are "
            f"{grid} apart."
        )
    if not len(own):
        return GridRows(Series(y[own], times[own], series.zone), given[own])
    filled, given = fill_gaps(grid, rounds, places, y[own], given[own], last_given)
    all_times = grid.times(rounds + np.arange(len(filled)))
    return GridRows(Series(filled, all_times, series.zone), given)


def _warn_of_weekdays(times: Times) -> None:
    """Say that rows at these times are left out."""
    name = NAMES[weekday_of(int(as_stamps(times)[0]))]
    rows = f"The row at {times[0]} is"
    if len(times) > 1:
        rows = f"{len(times)} rows, the first at {times[0]}, are"
    warnings.warn(
        f"{rows} left out: the series has no rows on {name}s.",
        stacklevel=CALL_DEPTH,
    )
