"""The buffers of a forecaster: made for its seasons, played by the kernels."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.autoregression.small_sample_factor import small_sample_factors
from thalweg.calendar.public_holidays import COUNTRIES, DayGrid, day_marks
from thalweg.calendar.season_finder import Seasons
from thalweg.kernels import exponential_smoothing
from thalweg.kernels.compiler.layout import aligned_zeros
from thalweg.kernels.compiler.simd import WIDTH
from thalweg.kernels.forecaster import (
    analogues,
    candidates,
    covariates,
    forecaster_round,
)
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.covariate_effects import EFFECT_RIDGE
from thalweg.kernels.forecaster.step_regressions import (
    COVARIATE_RIDGE,
    RIDGE,
)
from thalweg.kernels.tracker import tracker_layout
from thalweg.rules import Packed
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]
MODELLED_STEPS = 16
"""Limit of the number of steps with regressions of their own; other steps use those of
the next such step."""

MAX_SINGLE_STEPS = 8
"""Limit of the number of modelled steps that each have a nonlinear regression of their
own; more share them in pairs."""

NO_FEATURES = np.empty((1, 0))
NO_MARKS = np.empty((0, 3), np.int64)
MARKED_DAYS = 400
"""Number of days ahead whose holidays are looked up at a time."""
EFFECT_FIELDS = (
    "covariate_moments", "recent_values", "recent_future", "effect_moments",
    "effect_theta", "series_theta", "effect_errors", "effect_losses",
)  # fmt: skip
"""The fields of the effects of future covariates."""
EFFECT_COUNTERS = slice(layout.CHANGE, layout.EFFECT_COUNT + 1)
ERROR_FIELDS = (
    "step_counters", "step_errors", "total_counters", "total_errors", "error_scales",
    "mean_sizes", "spread", "cycle_spread", "spread_gain",
    "largest_errors",
)  # fmt: skip
"""The fields of the errors of forecasts."""


class ForecasterSettings(NamedTuple):
    """The settings that determine the size of the buffers, beside the seasons."""

    horizon: int
    lags: tuple[int, ...]
    given: int  # number of covariates
    known: tuple[bool, ...]  # of each covariate, whether it is known in advance
    # Only the first step and the last have regressions, and nothing is pooled.
    last_only: bool = False
    days: DayGrid | None = None  # where days begin; None: holidays are not used

    def steps(self) -> FloatArray:
        """The steps that have regressions of their own."""
        if self.last_only:
            return np.unique([1.0, float(self.horizon)])
        return modelled_steps(self.horizon)

    def packed_rule(self, seasons: Seasons) -> Packed:
        """The rule of the numbers of a state, as read from a file."""
        first_row = 0 if self.days is None else self.days.first_row
        given = {"delays": self.steps() - 1, "first_row": first_row}
        return Packed(layout.STATE, dimensions(self, seasons), given)


class ForecasterState:
    """All that a forecaster has learnt, in one array, ``packed``."""

    def __init__(
        self, settings: ForecasterSettings, seasons: Seasons,
        packed: FloatArray | None = None,
    ) -> None:  # fmt: skip
        self.settings, self.seasons = settings, seasons
        steps = settings.steps()
        self._steps = tuple(steps.tolist())
        by_name = dimensions(settings, seasons)
        plan = buffer_plan(*(by_name[name] for name in layout.DIMENSIONS))
        self._buffer = aligned_zeros(plan.size)
        views: Any = layout.BUFFER.views(self._buffer, **by_name)
        views.header[layout.TABLE] = plan.first_of_table
        views.table[: len(plan.table)] = plan.table
        self.views: Any = views.state
        state, workspace = views.state, views.workspace
        self.packed = self._buffer[plan.state]
        if packed is None:
            if state.smoothing.size:
                state.smoothing[:] = exponential_smoothing.new_state(
                    seasons.season, has_products=False
                )
            state.theta[:, : layout.OWN_FEATURES] = layout.PRIOR[:, None]
            state.step_counters[:, tracker_layout.DELAY] = steps - 1
            state.total_counters[:, tracker_layout.DELAY] = steps - 1
            if settings.days is not None:
                state.day_counters[layout.ROW_OF_DAY] = settings.days.first_row
        else:
            self.packed[:] = packed
        self._marks, self._first_day = NO_MARKS, 0
        self._value, self._no_forecasts = np.zeros(1), np.empty((0, settings.horizon))
        self._no_bounds: FloatArray = np.empty((len(steps), 0))
        self._no_bands = np.empty((0, settings.horizon, 2))
        workspace.step_of[:] = steps
        every_step = np.arange(1, settings.horizon + 1)
        workspace.model_of[:] = np.searchsorted(steps, every_step)
        workspace.lags[:], workspace.is_future[:] = settings.lags, settings.known
        workspace.future_at[:] = np.flatnonzero(settings.known)
        workspace.effect_ridge[:] = EFFECT_RIDGE
        workspace.ridge[:] = RIDGE
        workspace.ridge[by_name["base"] :] = COVARIATE_RIDGE
        table = [(one.prior, one.errors) for one in candidates.TABLE]
        workspace.priors[:, : len(table)] = np.transpose(table)
        workspace.pool_priors[:] = layout.POOL_PRIOR
        workspace.group_of[:] = group_of_steps(len(steps))
        workspace.group_sizes[:] = np.bincount(group_of_steps(len(steps)))
        workspace.season_waves[:] = waves(seasons.season, layout.SEASON_WAVES)
        workspace.cycle_waves[:] = waves(seasons.cycle, layout.CYCLE_WAVES)

    def copy(self) -> "ForecasterState":
        """An independent copy."""
        return ForecasterState(self.settings, self.seasons, self.packed)

    def learn_again(self, y: FloatArray, given: FloatArray) -> "ForecasterState":
        """A state that has learnt all these rounds again with the present estimates of
        the effects of future covariates, which the first rounds lacked.

        Bands are still made of the errors of the original forecasts, also of those for
        coming rounds.
        """
        new = ForecasterState(self.settings, self.seasons)
        for name in EFFECT_FIELDS:
            getattr(new.views, name)[:] = getattr(self.views, name)
        counters, own_counters = new.views.counters, self.views.counters
        counters[EFFECT_COUNTERS] = own_counters[EFFECT_COUNTERS]
        moments = new.views.covariate_moments
        moments[layout.OFFSET] = moments[layout.MEAN]
        new.views.origin_units[:] = self._newest_units()
        new.views.origin_units[:, layout.EFFECT_OFFSET] = moments[layout.OFFSET]
        counters[layout.IS_FROZEN] = 1
        new.play(y, given)
        counters[layout.IS_FROZEN] = 0
        for name in ERROR_FIELDS:
            getattr(new.views, name)[:] = getattr(self.views, name)
        new._keep_forecasts(self.views)
        return new

    def _keep_forecasts(self, made: Any) -> None:
        """Keep the original forecasts of all origins but the newest."""
        views, rounds = self.views, self.rounds
        slots, past = len(views.forecasts), views.values.size
        for age in range(1, min(slots, rounds)):
            origin = rounds - 1 - age
            slot = origin % slots
            for name in ("origin_units", "future_coefficients"):
                getattr(views, name)[slot] = getattr(made, name)[slot]
            # Of rounds that have passed, forecasts are of values less effects.
            passed = np.arange(origin + 1, min(rounds, origin + slots)) % past
            forecasts = made.forecasts[slot].copy()
            forecasts[: len(passed)] += views.values[passed] - made.values[passed]
            views.forecasts[slot] = forecasts

    def without_effects(self, y: FloatArray, given: FloatArray) -> FloatArray:
        """The values (T,) less the effects of future covariates (T, m)."""
        units = self._newest_units()
        unit, effect = units[layout.EFFECT_UNIT], units[layout.EFFECT]
        used = effect != 0
        features = (given - units[layout.EFFECT_OFFSET])[:, used] / unit[used]
        return np.asarray(y - features @ effect[used])

    def _newest_units(self) -> FloatArray:
        units = self.views.origin_units
        newest: FloatArray = units[(self.rounds - 1) % len(units)]
        return newest

    @property
    def rounds(self) -> int:
        """Rounds passed since the first value, with or without a value."""
        return int(self.views.counters[layout.ROUNDS])

    @property
    def values(self) -> int:
        """Values so far, without those that were missing."""
        return int(self.views.counters[layout.VALUE_COUNT])

    @property
    def last_given(self) -> FloatArray | None:
        """The given features of the last round, (m,); None before the first."""
        if not self.rounds:
            return None
        last: FloatArray = self.views.covariate_moments[layout.LAST_COVARIATE].copy()
        return last

    @property
    def starts_at_zero(self) -> bool:
        """Whether 0 is the lowest value."""
        return bool(covariates.starts_at_zero(self.views.counters))

    @property
    def holiday_country(self) -> str | None:
        """The country whose public holidays have effects; None where none was found."""
        if self.settings.days is None:
            return None
        country = int(self.views.day_counters[layout.COUNTRY])
        return COUNTRIES[country - 1] if country else None

    def _days_ahead(self, rows: int) -> tuple[IntArray, int]:
        """Weekdays and holidays of the days of the next rows, and of the days whose
        effects they compute; and the number of the first of these days."""
        days = self.settings.days
        if days is None:
            return NO_MARKS, 0
        day = int(self.views.day_counters[layout.DAY])
        needed = rows // days.rows + 2 + len(self.views.day_effects)
        known = self._first_day + len(self._marks) - day
        if day < self._first_day or known < needed:
            self._marks = day_marks(days.first_day + day, needed + MARKED_DAYS)
            self._first_day = day
        return self._marks, self._first_day

    def learn(self, y: float) -> None:
        """Learn one value, without covariates."""
        self._value[0] = y
        forecaster_round.play(
            self._buffer, self._value, NO_FEATURES,
            0.5, self._no_bounds, self._no_forecasts, self._no_bands,
            *self._days_ahead(1),
        )  # fmt: skip

    def play(
        self, y: FloatArray, given: FloatArray, level: float | None = None
    ) -> tuple[FloatArray, FloatArray] | None:
        """Learn the values (T,); with ``level``, return forecasts and bands.

        Shapes: given (T, m), or longer by what is known of later rows; forecasts
        (T, H), the ends of bands (T, H, 2).
        """
        horizon = self.settings.horizon
        rows = 0 if level is None else len(y)
        forecasts = np.empty((rows, horizon))
        offsets = np.empty((rows, horizon, 2))
        bounds = self._no_bounds
        if level is not None:
            bounds = small_sample_factors(level, self._steps)
        forecaster_round.play(
            self._buffer, y, given, level or 0.5,
            bounds, forecasts, offsets, *self._days_ahead(len(y)),
        )  # fmt: skip
        return None if level is None else (forecasts, forecasts[..., None] + offsets)

    def play_last_step(self, y: FloatArray) -> FloatArray:
        """Learn the values (T,), without covariates; the forecasts (T,) of the last
        step after each."""
        forecasts = np.empty((len(y), self.settings.horizon))
        forecaster_round.play(
            self._buffer, y, np.empty((len(y), 0)),
            0.5, self._no_bounds, forecasts, self._no_bands, *self._days_ahead(len(y)),
        )  # fmt: skip
        return np.ascontiguousarray(forecasts[:, -1])

    def forecast(self, future: FloatArray) -> FloatArray:
        """The forecasts (H,) after the newest value; ``future`` (k, m) as given."""
        forecasts = np.zeros(self.settings.horizon)
        forecaster_round.set_forecasts(self._buffer, future, forecasts)
        return forecasts

    def offsets(self, level: float) -> tuple[FloatArray, FloatArray]:
        """The ends of bands, relative to the forecasts of values and of their sums:
        (H, 2) each."""
        horizon = self.settings.horizon
        of_values, of_totals = np.empty((horizon, 2)), np.empty((horizon, 2))
        bounds = small_sample_factors(level, self._steps)
        forecaster_round.set_bands(
            self._buffer, level, bounds, of_values,
            of_totals,
        )  # fmt: skip
        return of_values, of_totals


class BufferPlan(NamedTuple):
    """What lies where in a buffer."""

    size: int
    state: slice  # the numbers that are saved
    first_of_table: int
    table: FloatArray


@lru_cache(maxsize=256)
def buffer_plan(*sizes: int) -> BufferPlan:
    """The plan for dimensions in the order of ``layout.DIMENSIONS``."""
    by_name = dict(zip(layout.DIMENSIONS, sizes, strict=True))
    first = layout.BUFFER.offsets(**by_name)
    start, table = first.state.counters, layout.BUFFER.table(**by_name)
    state = slice(start, start + layout.STATE.size(**by_name))
    return BufferPlan(layout.BUFFER.size(**by_name), state, first.table, table)


def state_size(settings: ForecasterSettings, seasons: Seasons) -> int:
    """The size of a state."""
    return layout.STATE.size(**dimensions(settings, seasons))


def dimensions(settings: ForecasterSettings, seasons: Seasons) -> dict[str, int]:
    """The dimensions of the layout, by name."""
    horizon, (season, cycle) = settings.horizon, seasons
    # Features reach back to two cycles before any step.
    distant = 2 * cycle * -(-horizon // cycle) + season
    past = max(distant, *settings.lags, 3) + horizon + 2
    base = layout.OWN_FEATURES + len(settings.lags)
    steps = len(settings.steps())
    known = sum(settings.known)
    terms = layout.SERIES_TERMS + layout.FEATURE_TERMS * known if known else 0
    recent = max(cycle, 2) + 1 if known else 0
    groups = int(group_of_steps(steps)[-1]) + 1
    nonlinear = base + settings.given + layout.DERIVED_FEATURES + layout.HINGES
    nonlinear = -(-nonlinear // WIDTH) * WIDTH
    # Without a season there are no analogues.
    of_analogues = analogues.dimensions(horizon, 1 if settings.last_only else season)
    day_rows = 0 if settings.days is None else settings.days.rows
    # Today, the days that steps reach, and one more once a day has passed.
    day_ring = 2 + (horizon - 1) // day_rows if day_rows else 0
    pooled = not settings.last_only
    smoothing = exponential_smoothing.dimensions(season, has_products=False)
    return {
        "base": base,
        "covariates": settings.given,
        "steps": steps,
        "horizon": horizon,
        "season": season,
        "cycle": cycle,
        "past": past,
        "future": known,
        "terms": terms,
        "recent": recent,
        "effects": int(known > 0),
        "groups": groups,
        "nonlinear": nonlinear,
        **of_analogues,
        "day_rows": day_rows,
        "day_ring": day_ring,
        "calendar": int(day_rows > 0),
        "pooled": int(pooled),
        "smoothing": pooled * exponential_smoothing.STATE.size(**smoothing),
        "models": pooled * smoothing["models"],
        "candidates": candidates.PADDED_CANDIDATES,
    }


def group_of_steps(steps: int) -> IntArray:
    """The nonlinear regression of each modelled step: pairs share one, if many."""
    first = np.arange(steps)
    return first if steps <= MAX_SINGLE_STEPS else first // 2


def waves(period: int, count: int) -> FloatArray:
    """Sines and cosines of the phases, then of twice the phases, …: (count, period)."""
    angles = 2 * np.pi * np.arange(period) / period
    multiples = [angles * k for k in range(1, count // 2 + 1)]
    return np.array([wave(angle) for angle in multiples for wave in (np.sin, np.cos)])


def modelled_steps(horizon: int) -> FloatArray:
    """The steps that have regressions of their own: all, or the first few, then fewer.

    With H > 16, a third of them are the first steps, and the rest are spaced ever more
    widely; the last one is H.
    """
    if horizon <= MODELLED_STEPS:
        return np.arange(1.0, horizon + 1)
    first = MODELLED_STEPS // 3
    later = np.geomspace(first, horizon, MODELLED_STEPS - first + 1)[1:]
    steps = np.unique(np.round(np.append(np.arange(1.0, first + 1), later)))
    return np.asarray(steps, np.float64)
