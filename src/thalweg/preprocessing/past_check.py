"""Whether a state of past features, as read from a file, could result from a run.

Kernels check nothing: sizes, and numbers that are used as indices, have to be right.
"""

import math
from collections.abc import Iterator

import numpy as np

from thalweg.calendar.row_clock import (
    CLOCK_ROWS,
    GRID_ROWS,
    RowClock,
    are_times,
)
from thalweg.calendar.season_finder import (
    HISTORY,
    Seasons,
    calendar_seasons,
)
from thalweg.kernels import exponential_smoothing, forecast_pool
from thalweg.preprocessing.forecaster_check import (
    MAX_ROUNDS,
    are_counts,
    state_checks,
)
from thalweg.preprocessing.past_features import (
    MAX_FORECAST_DELAY,
    PastState,
    TargetPast,
)
from thalweg.preprocessing.past_forecasts import forecaster_settings
from thalweg.preprocessing.seasonal_means import clock_seasons
from thalweg.types import FloatArray

MAX_SEASON = 2**31


def is_possible_past(
    past: PastState, clock: RowClock, targets: int, rows: int, delay: int
) -> bool:
    """Whether the past and the clock are possible after ``rows`` rows of this number of
    targets."""
    waiting = min(rows, delay + 1)
    return (
        clock.is_possible(rows)
        and len(past.targets) == targets
        and past.rows == rows - waiting
        and past.values.shape == (waiting, targets)
        and are_times(past.times, waiting)
        and all(_is_possible(one, past.rows, clock, delay) for one in past.targets)
    )


def _is_possible(past: TargetPast, rows: int, clock: RowClock, delay: int) -> bool:
    season, cycle = past.seasons
    if not 1 <= season <= cycle < MAX_SEASON or not np.isfinite(past.latest):
        return False
    last, known, largest = past.limit
    if not (math.isfinite(last) and 0 <= largest < math.inf and 0 <= known <= rows):
        return False
    of_means = past.seasons
    if past.grid_rows not in (0, CLOCK_ROWS, GRID_ROWS):
        return False
    if past.by_clock:
        grid = clock.grid_after(past.grid_rows)
        if grid is None or calendar_seasons(grid) != past.seasons:
            return False
        of_means = clock_seasons(grid)
    history = past.history
    if history is None:
        is_settled = past.by_clock or rows >= HISTORY
    else:
        is_settled = history.shape == (rows,) and rows <= HISTORY
    if not is_settled:
        return False
    return all(_checks(past, of_means, delay))


def _checks(past: TargetPast, of_means: Seasons, delay: int) -> Iterator[bool]:
    """Conditions in order; each may rely on those before it."""
    for period, means in zip(of_means, past.means, strict=True):
        yield means.shape == (2, period)
        yield bool(np.isfinite(means).all() and (means[1] >= 0).all())
    if delay > MAX_FORECAST_DELAY:
        yield past.forecasts is None
        return
    yield past.forecasts is not None
    forecasts = past.forecasts
    assert forecasts is not None
    yield from _forecaster_checks(forecasts.forecaster, past.seasons, delay)
    if len(forecasts.logarithms):
        yield from _forecaster_checks(forecasts.logarithms, past.seasons, delay)
    yield 0 <= forecasts.highest < math.inf
    smoothing = exponential_smoothing.new_state(past.seasons.season)
    yield forecasts.smoothing.shape == smoothing.shape
    yield are_counts(forecasts.smoothing[[exponential_smoothing.ROUNDS]], MAX_ROUNDS)
    yield forecasts.pool.shape == (forecast_pool.STATE.size(delay=delay),)
    yield are_counts(forecasts.pool[[forecast_pool.ROUNDS]], MAX_ROUNDS)


def _forecaster_checks(
    packed: FloatArray, seasons: Seasons, delay: int
) -> Iterator[bool]:
    settings = forecaster_settings(delay)
    yield from (check.is_right for check in state_checks(packed, settings, seasons))
