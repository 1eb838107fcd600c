"""The forecast of one series with its backtest: all that tables and pages show."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from thalweg.calendar.weekdays import absent_weekdays, week_sentence
from thalweg.evaluation.backtest_scores import (
    CYCLE_AGO,
    FORECASTER,
    LAST_VALUE,
    MIN_OWN_SHARE,
    SEASON_AGO,
    SEASON_MEAN,
    IntArray,
    StepErrors,
)
from thalweg.evaluation.error_ratio import error_ratio
from thalweg.evaluation.forecast_run import ForecastRun
from thalweg.evaluation.period_words import ago_words, position_words
from thalweg.evaluation.simple_baselines import PERSISTENCE_WORDS
from thalweg.forecasting.forecast import Forecast
from thalweg.forecasting.naive import mean_period
from thalweg.tables import Timestamps
from thalweg.tables.timestamps import TimedRows
from thalweg.types import FloatArray

MIN_ORIGINS = 10
"""Minimum number of past forecasts whose errors say how good the next ones are."""
MAX_SHORTFALL = 0.05
"""Limit of the share of values by which bands miss their aim without a note."""


class MethodErrors(NamedTuple):
    """What a method missed by in the backtest."""

    name: str  # as tables show it
    by_step: StepErrors
    overall: float  # root mean squared error over all scored steps
    typical: float  # mean absolute error over them
    own_share: float = 1.0  # of these forecasts, those for which it had its own value
    description: str = ""  # what it does, in plain words


class PastForecast(NamedTuple):
    """The forecast from the first of the last H rows; its last step is to come."""

    steps: IntArray  # (S,)
    mean: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False)
class ForecastResult:
    """The next values of a series, and how such forecasts have turned out."""

    title: str
    target: str
    key: tuple[str, ...]
    rows: int
    left_out: int  # rows whose time was taken already
    gaps: int  # values that are missing, also of rows that are not there
    filled: int  # missing values of features
    week_notes: tuple[str, ...]  # sentences, where some weekdays have no rows
    features: tuple[str, ...]  # the other columns that are used
    forecast: Forecast
    times: Any  # (H,) local times datetime64[ns], or numbers; None: steps only
    time_texts: list[str] | None  # ISO, with the offset if the file has one
    seasons: tuple[int, int]
    holidays: str | None  # the country whose public holidays the values follow
    steps: IntArray  # (S,) that were scored
    counts: FloatArray  # (S,)
    own: MethodErrors
    naive: tuple[MethodErrors, ...]  # methods without a model, the best first
    coverage: FloatArray  # (S,)
    tail: FloatArray  # the last values
    tail_times: Any  # local times or numbers; None where there are none
    past: PastForecast | None

    @property
    def horizon(self) -> int:
        """How many values are forecast."""
        return len(self.forecast)

    @property
    def ratio(self) -> float:
        """The typical error over that of the best naive method; NaN: not scored."""
        return error_ratio(self.own.typical, self.naive[0].typical)

    @property
    def square_ratio(self) -> float:
        """The root mean squared error over the smallest of naive methods; NaN: not
        scored."""
        return error_ratio(self.own.overall, self.best_by_squares.overall)

    @property
    def best_by_squares(self) -> MethodErrors:
        """The naive method of the least root mean squared error, among those that
        mostly have values of their own, as the best by typical errors is."""
        rivals = [one for one in self.naive if one.own_share >= MIN_OWN_SHARE]
        return min(rivals or self.naive[:1], key=lambda method: method.overall)

    @property
    def mean_coverage(self) -> float:
        """The share of all scored values that were inside their band."""
        held = np.nansum(self.coverage * self.counts)
        return float(held / self.counts.sum()) if self.is_scored else float("nan")

    @property
    def is_scored(self) -> bool:
        """Whether the errors of any past forecast are known."""
        return bool(self.counts.sum())

    @property
    def origins(self) -> int:
        """How many past forecasts were scored, one of each origin at most."""
        return int(self.counts.max())

    @property
    def has_few_origins(self) -> bool:
        """Whether so few past forecasts were scored that they say nothing of others."""
        return self.origins < MIN_ORIGINS

    @property
    def has_narrow_bands(self) -> bool:
        """Whether bands held clearly fewer of the values of the backtest than they aim
        at; False where nothing was scored."""
        return self.mean_coverage < self.forecast.level - MAX_SHORTFALL


def make_result(
    run: ForecastRun, title: str, target: str, key: tuple[str, ...] = (),
    future: TimedRows | None = None,
) -> ForecastResult:  # fmt: skip
    """The forecast after the last row, with the errors of the backtest."""
    scores, forecast = run.scores, run.forecast(future)
    times, texts = _times_ahead(run, future, len(forecast))
    seasons = run.forecaster.seasons
    errors = {
        method: MethodErrors(
            name,
            scores.errors(method),
            scores.overall_error(method),
            scores.typical_error(method),
            scores.own_share(method),
            description,
        )
        for method, (name, description) in _method_names(run).items()
    }
    return ForecastResult(
        title=title,
        target=target,
        key=key,
        rows=run.rows,
        left_out=run.clock.left_out,
        gaps=run.forecaster.gaps,
        filled=run.imputer.state.imputed,
        week_notes=_week_notes(run),
        features=run.settings.features,
        forecast=forecast,
        times=times,
        time_texts=texts,
        seasons=(seasons.season, seasons.cycle),
        holidays=run.forecaster.holidays,
        steps=scores.steps,
        counts=scores.counts,
        own=errors[FORECASTER],
        naive=tuple(errors[method] for method in scores.naive_methods()),
        coverage=scores.coverage(),
        tail=run.tail,
        tail_times=_tail_times(run),
        past=_past_forecast(run),
    )


def _method_names(run: ForecastRun) -> dict[str, tuple[str, str]]:
    """What tables call each method, and what it does in plain words."""
    seasons, grid = run.forecaster.seasons, run.clock.grid
    season, cycle = seasons.season, seasons.cycle
    period = mean_period(seasons)
    return {
        FORECASTER: ("thalweg", ""),
        LAST_VALUE: ("last value", PERSISTENCE_WORDS),
        SEASON_AGO: (
            f"seasonal naive {season}",
            f"repeating {ago_words(grid, season)}",
        ),
        CYCLE_AGO: (f"seasonal naive {cycle}", f"repeating {ago_words(grid, cycle)}"),
        SEASON_MEAN: (
            f"seasonal mean {period}",
            f"the mean so far of {position_words(grid, period)}",
        ),
    }


def _week_notes(run: ForecastRun) -> tuple[str, ...]:
    """What a reader should know where some weekdays have no rows."""
    grid, count = run.clock.grid, run.clock.on_absent_weekdays
    if grid is None or not grid.weekdays:
        return ()
    notes = [week_sentence(grid.weekdays)]
    if count:
        rows = "1 row was" if count == 1 else f"{count:,} rows were"
        names = absent_weekdays(grid.weekdays)
        notes.append(f"{rows} left out: the first rows had none on {names}.")
    return tuple(notes)


def missing_sentences(results: Sequence[ForecastResult]) -> list[str]:
    """How many values were missing, in sentences."""
    gaps = sum(result.gaps for result in results)
    filled = sum(result.filled for result in results)
    sentences = []
    if gaps:
        values = "1 value" if gaps == 1 else f"{gaps:,} values"
        are = "is" if gaps == 1 else "are"
        sentences.append(
            f"{values} of {results[0].target!r} {are} missing before the last one, "
            f"those of rows that are not there included."
        )
    if filled:
        values = "1 missing value" if filled == 1 else f"{filled:,} missing values"
        were = "was" if filled == 1 else "were"
        sentences.append(
            f"{values} of other columns {were} filled with the mean so far."
        )
    return sentences


def without_history(result: ForecastResult) -> ForecastResult:
    """The result without the values that only charts need."""
    return replace(result, tail=np.empty(0), tail_times=None, past=None)


def with_history(result: ForecastResult, run: ForecastRun) -> ForecastResult:
    """The result with the values that charts need, from its run."""
    times, past = _tail_times(run), _past_forecast(run)
    return replace(result, tail=run.tail, tail_times=times, past=past)


def _times_ahead(
    run: ForecastRun, future: TimedRows | None, steps: int
) -> tuple[Any, list[str] | None]:
    """The times of the next steps, and their texts; those of the file where the times
    of rows are not evenly spaced."""
    clock, times = run.clock, run.clock.times_ahead(steps)
    if times is None and future is not None and future.times.instants is not None:
        if len(future) >= steps:
            times = future.times.take(slice(steps)).local()
    if times is None:
        return None, None
    if times.dtype.kind != "M":
        return times, [f"{value:.10g}" for value in times.tolist()]
    offsets = None
    if clock.offset is not None:
        offsets = np.full(len(times), clock.offset).astype("timedelta64[ns]")
    instants = times if offsets is None else times - offsets
    texts = Timestamps(instants, offsets).isoformat()
    if offsets is None and (times == times.astype("datetime64[D]")).all():
        texts = [text.partition("T")[0] for text in texts]  # days need no time of day
    return times, texts


def _tail_times(run: ForecastRun) -> Any:
    """The times of the last values, by local clocks."""
    stamps, clock = run.tail_times, run.clock
    if np.isnan(stamps).any() or not len(stamps):
        return None
    if clock.kind == "numbers" or clock.last_time is None:
        return stamps
    times = stamps.astype(np.int64).astype("datetime64[ns]")
    if clock.offset is not None and not clock.is_local:
        times = times + np.timedelta64(clock.offset, "ns")
    return times


def _past_forecast(run: ForecastRun) -> PastForecast | None:
    """What was forecast from the first of the last H rows, if there were H rows."""
    scores = run.scores
    if (
        scores.horizon == 1
        or len(scores.waiting) < scores.horizon
        or len(run.tail) <= scores.horizon
    ):
        return None
    mean, low, high = scores.waiting[0, :, :3].T
    return PastForecast(scores.steps, mean, low, high)
