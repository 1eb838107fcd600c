"""Rows of a series on a grid of times: gaps become missing values."""

import warnings
from typing import NamedTuple

import numpy as np

from thalweg.errors import StreamError
from thalweg.models.forecaster_file import Progress
from thalweg.models.series_inputs import NAIVE, WHOLE, Series
from thalweg.preprocessing.time_grid import (
    MAX_GAP,
    Times,
    find_grid,
    require_increasing,
)
from thalweg.preprocessing.weekdays import NAMES, weekday_of
from thalweg.types import FloatArray

ALMOST_A_DAY = np.timedelta64(23, "h")
CALL_DEPTH = 5
"""Calls from a user's ``update`` to a warning."""


def in_zone(progress: Progress, series: Series) -> tuple[Progress, Series]:
    """The series with the times that earlier rows have: instants, or those of clocks.

    Clocks count where the first rows are a day apart or more, so that midnights stay
    midnights. A zone after times without one is refused, and the reverse.
    """
    zone = progress.zone
    if series.times is None or not len(series.y):
        return progress, series
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
    if zone is None:
        by_clock = series.clock_times is not None and series.zone not in kinds
        gaps = np.diff(series.times)
        by_clock = by_clock and len(gaps) > 0 and bool(gaps.min() >= ALMOST_A_DAY)
        progress = progress._replace(zone=series.zone, by_clock=by_clock)
    return progress, series.by_clock() if progress.by_clock else series


class GridRows(NamedTuple):
    """Rows of a series without gaps, and what is known of its times."""

    progress: Progress
    series: Series
    given: FloatArray  # (T, m)


def place_on_grid(
    progress: Progress, series: Series, given: FloatArray, rounds: int
) -> GridRows:
    """Rows with those that their times show to be missing; NaN, and the given features
    of the row before.

    Rows on a weekday on which the first rows had none are left out, with a warning.
    ``rounds`` is how many rows there were before, the first of which had a value.
    """
    y, times = series.y, series.times
    if times is None or not len(y):
        return GridRows(progress, series, given)
    if rounds and progress.first_time is None:
        raise StreamError(
            "The forecaster's first values came without times, so it cannot place "
            f"{times[0]}."
        )
    first = progress.first_time
    stamps, grid = times, progress.grid
    if first is None:
        first = int(times[0].astype(np.int64))
        require_increasing(times)
    else:
        latest = np.int64(first).astype("datetime64[ns]")
        if grid is not None:
            latest = grid.times([rounds - 1])[0]
        require_increasing(times, latest)
        stamps = np.append(latest, times)
    grid = grid or find_grid(stamps)
    progress = progress._replace(first_time=first, grid=grid)
    if grid is None:  # the first value, and its time alone
        return GridRows(progress, series, given)
    is_absent = grid.is_absent_weekday(times)
    if is_absent.any():
        _warn_of_weekdays(times[is_absent])
        y, times, given = y[~is_absent], times[~is_absent], given[~is_absent]
        if not len(y):
            return GridRows(progress, Series(y, times, series.zone), given)
    at = grid.positions(times) - rounds
    if (np.diff(at, prepend=-1) <= 0).any():
        row = int((np.diff(at, prepend=-1) <= 0).argmax())
        raise StreamError(
            f"The time {times[row]} of row {row} is less than a step after the one "
            f"before: rows are {grid} apart."
        )
    if at[-1] + 1 - len(at) > MAX_GAP:
        raise StreamError(
            f"Rows that are {grid} apart leave {at[-1] + 1 - len(at)} rows missing up "
            f"to {times[-1]}, more than {MAX_GAP}."
        )
    filled = np.full(at[-1] + 1, np.nan)
    filled[at] = y
    before = np.maximum(np.searchsorted(at, np.arange(len(filled)), "right") - 1, 0)
    all_times = grid.times(rounds + np.arange(len(filled)))
    return GridRows(progress, Series(filled, all_times, series.zone), given[before])


def _warn_of_weekdays(times: Times) -> None:
    """Say that rows at these times are left out."""
    name = NAMES[weekday_of(int(times[0].astype(np.int64)))]
    rows = f"The row at {times[0]} is"
    if len(times) > 1:
        rows = f"{len(times)} rows, the first at {times[0]}, are"
    warnings.warn(
        f"{rows} left out: the series has no rows on {name}s.",
        stacklevel=CALL_DEPTH,
    )
