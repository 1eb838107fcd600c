"""Whether a state of past features, as read from a file, could have come of a run.

Kernels check nothing: sizes, and numbers that are used as indices, have to be right.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from thalweg.kernels import exponential_smoothing, forecast_pool
from thalweg.kernels.forecaster.forecaster_layout import (
    CHANGE_COUNT,
    DEVIATION_COUNT,
    EFFECT_COUNT,
    IS_FROZEN,
    ORIGIN_COUNT,
    ROUNDS,
    VALUE_COUNT,
)
from thalweg.kernels.tracker.tracker_layout import DELAY, ERROR_COUNT
from thalweg.preprocessing.forecaster_state import ForecasterState, state_size
from thalweg.preprocessing.past_features import (
    HISTORY,
    MAX_FORECAST_DELAY,
    SEARCH_GROWTH,
    PastState,
    TargetPast,
)
from thalweg.preprocessing.past_forecasts import forecaster_settings
from thalweg.preprocessing.row_clock import (
    CLOCK_ROWS,
    NO_TIME,
    WEEKDAY_ROWS,
    RowClock,
)
from thalweg.preprocessing.seasonal_means import clock_seasons
from thalweg.preprocessing.seasons import Seasons, calendar_seasons
from thalweg.preprocessing.time_grid import TimeGrid
from thalweg.types import FloatArray

MAX_ROUNDS = 2**53
MAX_MONTHS = 12
MAX_SEASON = 2**31


def is_possible_past(
    past: PastState, clock: RowClock, targets: int, rows: int, delay: int
) -> bool:
    """Whether ``rows`` rows of so many targets could have left the past and clock."""
    waiting = min(rows, delay + 1)
    return (
        is_possible_clock(clock, rows)
        and len(past.targets) == targets
        and past.rows == rows - waiting
        and past.values.shape == (waiting, targets)
        and _are_times(past.times, waiting)
        and all(_is_possible(one, past.rows, clock, delay) for one in past.targets)
    )


def is_possible_clock(clock: RowClock, rows: int) -> bool:
    """Whether so many rows could have left the clock."""
    fields, first = clock.grid_fields, clock.first_times
    is_right = clock.rows == rows and 0 <= clock.backward_row <= rows
    is_right = is_right and _are_times((clock.last_time,), 1)
    is_right = is_right and _are_times(first, min(rows, WEEKDAY_ROWS))
    if not is_right:
        return False
    if fields is not None and not _is_possible_grid(fields, first, rows, CLOCK_ROWS):
        return False
    fields = clock.weekday_fields
    return fields is None or (
        _is_possible_grid(fields, first, rows, WEEKDAY_ROWS) and fields[-1] != 0
    )


def _is_possible_grid(fields: Any, first: Any, rows: int, needed: int) -> bool:
    """Whether the first rows, so many of which are needed, could show such a grid."""
    is_grid = type(fields) is tuple and len(fields) == len(TimeGrid._fields)
    is_grid = is_grid and all(type(field) is int for field in fields)
    if not is_grid or rows < needed or NO_TIME in first[:needed]:
        return False
    grid = TimeGrid(*fields)
    in_range = all(abs(field) < -NO_TIME for field in fields)
    in_range = in_range and grid.step > 0 and 0 <= grid.months <= MAX_MONTHS
    return in_range and 0 <= grid.day <= 31 and grid.has_possible_weekdays()


def _are_times(times: Any, count: int) -> bool:
    """Whether they are so many integers of 64 bits."""
    if type(times) is not tuple or len(times) != count:
        return False
    return all(type(time) is int and NO_TIME <= time < -NO_TIME for time in times)


def _is_possible(past: TargetPast, rows: int, clock: RowClock, delay: int) -> bool:
    season, cycle = past.seasons
    if not 1 <= season <= cycle < MAX_SEASON or not np.isfinite(past.latest):
        return False
    last, known, largest = past.limit
    if not (math.isfinite(last) and 0 <= largest < math.inf and 0 <= known <= rows):
        return False
    of_means = past.seasons
    if past.grid_rows not in (0, CLOCK_ROWS, WEEKDAY_ROWS):
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
        # The last search comes at most half as many rows after the limit again.
        is_settled = history.shape == (rows,) and rows <= SEARCH_GROWTH * HISTORY
    if not is_settled:
        return False
    return all(_checks(past, of_means, delay))


def _checks(past: TargetPast, of_means: Seasons, delay: int) -> Iterator[bool]:
    """Each is asked for before the next one is made, which may rely on it."""
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
    yield _are_counts(forecasts.smoothing[[exponential_smoothing.ROUNDS]], MAX_ROUNDS)
    yield forecasts.pool.shape == (forecast_pool.STATE.size(delay=delay),)
    yield _are_counts(forecasts.pool[[forecast_pool.ROUNDS]], MAX_ROUNDS)


def _forecaster_checks(
    packed: FloatArray, seasons: Seasons, delay: int
) -> Iterator[bool]:
    settings = forecaster_settings(delay)
    yield packed.shape == (state_size(settings, seasons),)
    yield bool(np.isfinite(packed).all())
    views: Any = ForecasterState(settings, seasons, packed).views
    rounds = views.counters[ROUNDS]
    yield _are_counts(views.counters[[ROUNDS]], MAX_ROUNDS)
    yield bool(views.counters[IS_FROZEN] == 0)
    for counts in (
        views.counters[
            [DEVIATION_COUNT, VALUE_COUNT, CHANGE_COUNT, EFFECT_COUNT, ORIGIN_COUNT]
        ],
        views.profile[1], views.spread[1], views.cycle_spread[1],
        views.cycle_profile[1], views.error_counts, views.group_counts,
        views.step_counters[:, ERROR_COUNT], views.total_counters[:, ERROR_COUNT],
    ):  # fmt: skip
        yield _are_counts(counts, rounds)
    for counters, errors in (
        (views.step_counters, views.step_errors),
        (views.total_counters, views.total_errors),
    ):
        yield bool((counters[:, DELAY] == settings.steps() - 1).all())
        for count, (ring, ordered) in zip(
            counters[:, ERROR_COUNT].astype(np.int64), errors, strict=True
        ):
            yield bool((np.sort(ring[:count]) == ordered[:count]).all())


def _are_counts(values: Any, most: float) -> bool:
    """Whether all are whole numbers from 0 on."""
    is_whole = (values == np.floor(values)).all()
    return bool(is_whole and (values >= 0).all() and (values <= most).all())
