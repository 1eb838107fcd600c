"""Whether a state of past features, as read from a file, could result from a run.

Kernels check nothing: sizes, and numbers that are used as indices, have to be right.
"""

import math
from collections.abc import Iterator

import numpy as np

from thalweg.calendar.row_clock import RowClock, are_times
from thalweg.calendar.season_finder import HISTORY, Seasons
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
from thalweg.preprocessing.seasonal_means import mean_seasons
from thalweg.types import FloatArray


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
    search, grids = past.search, (None, clock.first_grid, clock.last_grid)
    if not search.is_possible() or search.grid_fields not in grids:
        return False
    last, known, largest = past.limit
    if not (math.isfinite(last) and 0 <= largest < math.inf and 0 <= known <= rows):
        return False
    is_settled = search.is_settled
    if is_settled and search.grid is None and rows < HISTORY:
        return False
    if past.history.shape != (0 if is_settled else rows,) or not (
        is_settled or rows <= HISTORY
    ):
        return False
    return np.isfinite(past.latest) and all(_checks(past, mean_seasons(search), delay))


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
    seasons = past.search.seasons
    yield from _forecaster_checks(forecasts.forecaster, seasons, delay)
    if len(forecasts.logarithms):
        yield from _forecaster_checks(forecasts.logarithms, seasons, delay)
    yield 0 <= forecasts.highest < math.inf
    smoothing = exponential_smoothing.new_state(seasons.season)
    yield forecasts.smoothing.shape == smoothing.shape
    yield are_counts(forecasts.smoothing[[exponential_smoothing.ROUNDS]], MAX_ROUNDS)
    yield forecasts.pool.shape == (forecast_pool.STATE.size(delay=delay),)
    yield are_counts(forecasts.pool[[forecast_pool.ROUNDS]], MAX_ROUNDS)


def _forecaster_checks(
    packed: FloatArray, seasons: Seasons, delay: int
) -> Iterator[bool]:
    settings = forecaster_settings(delay)
    yield from (check.is_right for check in state_checks(packed, settings, seasons))
