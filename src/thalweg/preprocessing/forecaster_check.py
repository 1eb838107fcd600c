"""Whether a packed state of a forecaster, as read from a file, could result from a run.

Kernels check nothing: numbers that they use as indices have to be right.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from thalweg.calendar.season_finder import Seasons
from thalweg.kernels import exponential_smoothing
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.analogues import MAX_HISTORY_VALUE
from thalweg.kernels.tracker import tracker_layout
from thalweg.preprocessing.forecaster_state import (
    ForecasterSettings,
    ForecasterState,
    state_size,
)
from thalweg.types import FloatArray

MAX_ROUNDS = 2**52


class StateCheck(NamedTuple):
    """One condition, in the words of a message."""

    field: str
    is_right: bool
    expected: str
    value: Any


def state_checks(
    packed: FloatArray, settings: ForecasterSettings, seasons: Seasons
) -> Iterator[StateCheck]:
    """The conditions in order; each may rely on those before it."""
    size = state_size(settings, seasons)
    is_right = packed.shape == (size,) and packed.dtype == np.float64
    yield StateCheck("", is_right, f"{size} numbers, of float64", packed)
    is_right = bool(np.isfinite(packed).all())
    yield StateCheck("", is_right, "finite numbers", packed)
    views: Any = ForecasterState(settings, seasons, packed).views
    counters, rounds = views.counters, views.counters[layout.ROUNDS]
    is_right = are_counts(counters[[layout.ROUNDS]], MAX_ROUNDS)
    yield StateCheck("rounds", is_right, f"from 0 to {MAX_ROUNDS}", rounds)
    for field, counts in _counts(views).items():
        is_right = are_counts(counts, rounds)
        yield StateCheck(field, is_right, "whole numbers up to the rounds", counts)
    is_frozen = counters[layout.IS_FROZEN]
    yield StateCheck("is_frozen", bool(is_frozen == 0), "0", is_frozen)
    if settings.days is not None:
        days = views.day_counters
        place = divmod(settings.days.first_row + rounds, settings.days.rows)
        is_right = (days[layout.DAY], days[layout.ROW_OF_DAY]) == place
        yield StateCheck("day_counters", is_right, f"day and row {place}", days)
        is_right = are_counts(days[[layout.COUNTRY]], layout.COUNTRIES)
        yield StateCheck("country", is_right, f"one of {layout.COUNTRIES}", days)
    # Of the two values in a finite number, one may be NaN.
    history = views.history.view(np.float32)
    is_right = bool((np.abs(history) <= np.float32(MAX_HISTORY_VALUE)).all())
    yield StateCheck("history", is_right, "pairs of values", history)
    for kind in ("step", "total"):
        counters, errors = (
            getattr(views, f"{kind}_{f}") for f in ("counters", "errors")
        )
        delays = counters[:, tracker_layout.DELAY]
        is_right = bool((delays == settings.steps() - 1).all())
        expected = "one less than each step"
        yield StateCheck(f"{kind}_counters", is_right, expected, delays)
        # Their second rows are the first rows in order, as a search has to find them.
        known = counters[:, tracker_layout.ERROR_COUNT].astype(np.int64)
        is_right = all(
            (np.sort(ring[:count]) == ordered[:count]).all()
            for count, (ring, ordered) in zip(known, errors, strict=True)
        )
        expected = "errors, then the same in order"
        yield StateCheck(f"{kind}_errors", is_right, expected, errors)


def _counts(views: Any) -> dict[str, FloatArray]:
    """By name, what counts rounds, or some of them."""
    of_days = [layout.DAY, layout.USUAL_COUNT] if views.day_counters.size else []
    of_smoothing = [exponential_smoothing.ROUNDS] if views.smoothing.size else []
    return {
        "counters": views.counters[
            [
                layout.DEVIATION_COUNT,
                layout.VALUE_COUNT,
                layout.CHANGE_COUNT,
                layout.EFFECT_COUNT,
                layout.ORIGIN_COUNT,
                layout.HISTORY_START,
            ]
        ],
        "profile": views.profile[1],
        "cycle_profile": views.cycle_profile[1],
        "spread": views.spread[1],
        "cycle_spread": views.cycle_spread[1],
        "phase_means": views.phase_means[1],
        "smoothing": views.smoothing[of_smoothing],
        "error_counts": views.error_counts,
        "group_counts": views.group_counts,
        "step_counters": views.step_counters[:, tracker_layout.ERROR_COUNT],
        "total_counters": views.total_counters[:, tracker_layout.ERROR_COUNT],
        "day_counters": views.day_counters[of_days],
        "week_counts": views.week_counts,
        "date_counts": views.date_counts,
    }


def are_counts(values: FloatArray, most: float) -> bool:
    """Whether all are whole numbers from 0 on."""
    is_whole = (values == np.floor(values)).all()
    return bool(is_whole and (values >= 0).all() and (values <= most).all())
