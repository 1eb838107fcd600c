"""A forecast of a target by its past: the pool of five kinds of forecasts.

1. The forecaster's (kernels/forecaster): ridge regressions on the last values, those of
   a season and a cycle ago, and seasonal profiles.
2. The same on logarithms, as long as all values are above 0: seasons and changes in
   proportion to the level.
3. Exponential smoothing (kernels/exponential_smoothing.py), which learns fastest from
   few values.
4. The last value, the best forecast of a random walk.
5. The mean of the same phase, such as the same hour of the week (seasonal_means.py).

The pool (kernels/forecast_pool.py) weighs these and their means by their errors so far.
"""

from typing import Annotated, NamedTuple, Self

import numpy as np

from thalweg.autoregression.forecaster_state import ForecasterSettings, ForecasterState
from thalweg.calendar.row_clock import Stamps
from thalweg.calendar.season_finder import Seasons
from thalweg.kernels import exponential_smoothing, forecast_pool
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.rules import Array, Number, Packed
from thalweg.types import FloatArray

NO_FEATURES = np.empty((0, 0))
EMPTY = np.empty(0)
PIECE = 2**18
"""Limit of the number of forecasts in one call of the kernel."""
MAX_GROWTH = 2.0
"""Limit of a forecast by logarithms, in units of the highest value so far."""


PACKED = "forecaster_settings(delay).packed_rule(seasons)"
NONE = Array((0,))
SMOOTHING_SIZE = "exponential_smoothing.dimensions(seasons.season)"


class PastForecasts(NamedTuple):
    """The state of the forecasts of one target."""

    # Its packed state, and the same of logarithms; empty after a value not above 0.
    forecaster: Annotated[FloatArray, PACKED]
    logarithms: Annotated[FloatArray, f"{PACKED} if len(logarithms) else NONE"]
    # Packed, as is the pool.
    smoothing: Annotated[
        FloatArray, Packed(exponential_smoothing.STATE, SMOOTHING_SIZE)
    ]
    pool: Annotated[FloatArray, Packed(forecast_pool.STATE, "{'delay': delay}")]
    highest: Annotated[float, Number(0.0)] = 0.0  # of all values above 0

    @classmethod
    def initial(cls, seasons: Seasons, delay: int) -> Self:
        """Before the first row, of forecasts ``delay`` + 1 rows ahead."""
        packed = ForecasterState(forecaster_settings(delay), seasons).packed
        smoothing = exponential_smoothing.new_state(seasons.season)
        pool = np.zeros(forecast_pool.STATE.size(delay=delay))
        return cls(packed, packed, smoothing, pool)

    def play(
        self, values: FloatArray, simple: FloatArray, steps: Stamps, seasons: Seasons,
        delay: int,
    ) -> tuple[Self, FloatArray]:  # fmt: skip
        """Learn the values (T,), NaN where missing, and ``steps`` (T,) rows of the grid
        up to the next one; the forecasts (T,) after each.

        ``simple`` (T, 2) are the last known value after each row and the mean of the
        phase to come, NaN where unknown. A row without a step has no place of its own,
        and its value must be missing.
        """
        start = 0
        if not self._forecaster(seasons, delay).views.counters[layout.VALUE_COUNT]:
            # Before the first value there is nothing to forecast from.
            known = np.flatnonzero(~np.isnan(values))
            start = int(known[0]) if len(known) else len(values)
        # A long gap counts as some cycles and the rest of one, so phases stay right.
        cycle = seasons.cycle
        steps = np.where(steps > 2 * cycle, cycle + steps % cycle, steps)
        after = self
        parts: list[FloatArray] = [np.zeros(start)]
        while start < len(values):
            ends = np.cumsum(steps[start:])
            rows = max(int(np.searchsorted(ends, PIECE // (delay + 1), "right")), 1)
            here = slice(start, start + rows)
            after, made = after._play_piece(
                values[here], simple[here], steps[here], seasons, delay
            )
            parts.append(made)
            start += rows
        return after, np.concatenate(parts)

    def _play_piece(
        self, values: FloatArray, simple: FloatArray, steps: Stamps, seasons: Seasons,
        delay: int,
    ) -> tuple[Self, FloatArray]:  # fmt: skip
        """``play`` from a first value on, of rows that are forecast together."""
        ends, has_place = np.cumsum(steps), steps > 0
        series = np.full(int(ends[-1]), np.nan)
        series[(ends - steps)[has_place]] = values[has_place]
        forecaster = self._forecaster(seasons, delay)
        made = np.full((len(values), forecast_pool.FORECASTS), np.nan)
        made[:, 0] = _forecasts(forecaster, series, ends)
        logarithms, made[:, 1], highest = self._play_logarithms(
            values, series, ends, seasons, delay
        )
        smoothing, smoothed = self.smoothing.copy(), np.empty(len(series))
        sizes = exponential_smoothing.dimensions(seasons.season).values()
        exponential_smoothing.play(smoothing, *sizes, series, delay + 1, smoothed)
        has_any = ends > 0
        made[has_any, 2] = smoothed[ends[has_any] - 1]
        made[:, 3:] = simple
        pool, pooled = self.pool.copy(), np.empty(len(values))
        forecast_pool.play(pool, delay, values, made, pooled)
        after = self._replace(
            forecaster=forecaster.packed,
            logarithms=logarithms,
            smoothing=smoothing,
            pool=pool,
            highest=highest,
        )
        return after, pooled

    def _play_logarithms(
        self, values: FloatArray, series: FloatArray, ends: Stamps, seasons: Seasons,
        delay: int,
    ) -> tuple[FloatArray, FloatArray, float]:  # fmt: skip
        """The state after, forecasts (T,) by logarithms, and the highest value.

        NaN from the first value on that is not above 0.
        """
        made = np.full(len(values), np.nan)
        if not len(self.logarithms):
            return EMPTY, made, self.highest
        is_low = values <= 0
        count = int(is_low.argmax()) if is_low.any() else len(values)
        highest = np.fmax.accumulate(np.append(self.highest, values))[1:]
        if count == 0:
            return EMPTY, made, self.highest
        state = self._forecaster(seasons, delay, is_logarithmic=True)
        rounds = int(ends[count - 1])
        logarithms = _forecasts(state, np.log(series[:rounds]), ends[:count])
        limits = MAX_GROWTH * highest[:count]
        with np.errstate(over="ignore"):
            made[:count] = np.minimum(np.exp(logarithms), limits)
        if count < len(values):
            return EMPTY, made, self.highest
        return state.packed, made, float(highest[-1])

    def _forecaster(
        self, seasons: Seasons, delay: int, is_logarithmic: bool = False
    ) -> ForecasterState:
        packed = self.logarithms if is_logarithmic else self.forecaster
        return ForecasterState(forecaster_settings(delay), seasons, packed)


def forecaster_settings(delay: int) -> ForecasterSettings:
    """The settings of a forecaster of the row ``delay`` + 1 rows ahead."""
    return ForecasterSettings(delay + 1, (), 0, (), last_only=True)


def _forecasts(state: ForecasterState, series: FloatArray, ends: Stamps) -> FloatArray:
    """Learn a series; the forecasts after each of the numbers of rounds in ``ends``."""
    before: FloatArray = np.zeros(1)
    if not ends[0]:
        before = state.forecast(NO_FEATURES)[-1:]
    made = np.append(before, state.play_last_step(series))
    return np.asarray(made[ends])
