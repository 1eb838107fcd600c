"""Errors of a backtest by step, beside those of forecasts that need no model.

Also known as: rolling-origin evaluation by horizon. Memory does not grow with the rows:
what is kept are sums for each step, the forecasts that still wait for their values, and
as many past values as the seasons need.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation.phase_means import PhaseMeans, mean_period
from thalweg.models.forecast import Backtest
from thalweg.persistence.snapshots import Array, Component, Condition, Count
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]

METHODS = FORECASTER, LAST_VALUE, SEASON_AGO, CYCLE_AGO, SEASON_MEAN = (
    "forecast", "last value", "season ago", "longer season ago", "mean of the season",
)  # fmt: skip
"""The forecasts that are scored, in the order of the rows of all arrays of errors."""
MAX_SCORED_STEPS = 48
"""Of a longer horizon so many steps are scored, evenly spaced."""
WARM_UP = 24
"""Origins that are not scored: the first 24, or a season's if that is more."""
PAST_VALUES = 4096
"""Past values that are kept beside those of horizon and season: among so many, seasons
are looked for, and a season that is found may need them."""
MIN_OWN_SHARE = 0.25
"""A method that had a value of its own in a smaller share of the scored forecasts is
not called the best: what it missed by is mostly that of another method."""


class BacktestSnapshot(NamedTuple):
    """All that the scores of a backtest remember."""

    rows: int  # rows so far, each an origin
    counts: FloatArray  # (S,) forecasts of each step that were scored
    squared: FloatArray  # (5, S) sums of squared errors
    absolute: FloatArray  # (5, S) sums of absolute errors
    own: FloatArray  # (5, S) scored forecasts for which a method had a value of its own
    held: FloatArray  # (S,) values that were inside their band
    values: FloatArray  # (≤ most,) the last values, missing ones filled
    carried: FloatArray  # (≤ H,) the last known value at the last origins
    # (≤ H, S, 4) forecasts, bands and means of the season, of the last origins
    waiting: FloatArray
    seasons: FloatArray  # (≤ H, 2) season and cycle as known at these origins
    totals: FloatArray  # (2, p) of the means at each position of the season


class StepErrors(NamedTuple):
    """Mean errors of one method by step."""

    root_mean_square: FloatArray  # (S,)
    mean_absolute: FloatArray  # (S,)


def scored_steps(horizon: int) -> IntArray:
    """The steps that are scored: all up to 48, else 48 that are evenly spaced."""
    count = min(horizon, MAX_SCORED_STEPS)
    return np.unique(np.round(np.linspace(1, horizon, count)).astype(np.int64))


class BacktestScores(Component):
    """Scores forecasts from every origin when their values become known.

    On the same origins and steps are scored the last value, and the values a season and
    a cycle before (seasonal naive), by the seasons that were known at the origin. Where
    that much past is not there yet, the value a season before counts in place of a
    cycle's, and the last value in place of a season's; forecasts for which a method had
    a value of its own are counted. A missing value is not scored.
    The last value is the last that is known; in seasonal naive forecasts a missing one
    counts as the value a season before it. The mean of the season is that of all known
    values at the same position since the season is known, and of the ``PAST_VALUES``
    before; where there is none, the value of a cycle before counts in its place.

    The result does not depend on how rows are cut into calls of ``add``.
    """

    Snapshot: ClassVar[Any] = BacktestSnapshot

    def __init__(self, horizon: int) -> None:
        self.horizon, self.steps = horizon, scored_steps(horizon)
        count = len(self.steps)
        self.rows = 0
        self.counts, self.held = np.zeros(count), np.zeros(count)
        self.squared: FloatArray = np.zeros((len(METHODS), count))
        self.absolute: FloatArray = np.zeros((len(METHODS), count))
        self.values: FloatArray = np.empty(0)
        self.carried: FloatArray = np.empty(0)
        self.own: FloatArray = np.zeros((len(METHODS), count))
        self.waiting: FloatArray = np.empty((0, count, 4))
        self.seasons: FloatArray = np.empty((0, 2))
        self.totals: FloatArray = PhaseMeans.initial(1).totals

    def add(self, backtest: Backtest) -> None:
        """Score the next rows, and let their forecasts wait."""
        y, chosen = backtest.y, self.steps - 1
        if not len(y):
            return
        parts = (backtest.mean, backtest.low, backtest.high)
        seasons = np.concatenate([self.seasons, backtest.seasons.astype(np.float64)])
        before = len(self.values)
        values = _with_filled(self.values, y, seasons[-len(y) :])
        means = self._seasonal_means(values, y, seasons[-len(y) :].astype(np.int64))
        new = np.stack([*(part[:, chosen] for part in parts), means], axis=2)
        waiting = np.concatenate([self.waiting, new])
        carried = _with_carried(self.carried, y)
        last = _take(
            carried, len(self.carried) + np.arange(len(y))[:, None] - self.steps
        )
        origins = len(self.waiting) + np.arange(len(y))[:, None] - self.steps
        is_there = origins >= 0
        at = np.maximum(origins, 0)
        columns = np.arange(len(self.steps))
        forecasts = waiting[at, columns]  # (T, S, 4)
        naive, had_own = zip(
            *self._naive(values, before, last, seasons[at]), strict=True
        )
        has_mean = ~np.isnan(forecasts[:, :, 3])
        mean = np.where(has_mean, forecasts[:, :, 3], naive[-1])
        predictions = np.stack([forecasts[:, :, 0], *naive, mean])
        first = np.maximum(WARM_UP, seasons[at, 0])
        origin_rows = self.rows + np.arange(len(y))[:, None] - self.steps
        is_scored = is_there & (origin_rows >= first - 1) & ~np.isnan(y)[:, None]
        is_scored &= np.isfinite(predictions).all(axis=0)
        self._add_errors(y, predictions, forecasts, is_scored)
        is_own = np.stack([is_there, *had_own, has_mean & (seasons[at, 0] > 1)])
        self.own = self.own + (is_own & is_scored).sum(axis=1)
        self.rows += len(y)
        self.carried = carried[-self.horizon :].copy()
        self._keep(values, waiting, seasons)

    def errors(self, method: str) -> StepErrors:
        """Mean errors of a method by step; NaN where no forecast was scored."""
        row, counts = METHODS.index(method), np.where(self.counts, self.counts, np.nan)
        squared = self.squared[row] / counts
        return StepErrors(np.sqrt(squared), self.absolute[row] / counts)

    def overall_error(self, method: str) -> float:
        """The root mean squared error over all scored steps; NaN where none was."""
        total = self.counts.sum()
        squared = self.squared[METHODS.index(method)].sum()
        return float(np.sqrt(squared / total)) if total else float("nan")

    def typical_error(self, method: str) -> float:
        """The mean absolute error over all scored steps; NaN where none was."""
        total = self.counts.sum()
        absolute = self.absolute[METHODS.index(method)].sum()
        return float(absolute / total) if total else float("nan")

    def coverage(self) -> FloatArray:
        """The share of values that were inside their band, by step."""
        counts = np.where(self.counts, self.counts, np.nan)
        return np.asarray(self.held / counts)

    def own_share(self, method: str) -> float:
        """The share of scored forecasts for which a method had a value of its own;
        NaN where none was scored."""
        total = self.counts.sum()
        own = self.own[METHODS.index(method)].sum()
        return float(own / total) if total else float("nan")

    def naive_methods(self) -> tuple[str, ...]:
        """The methods without a model that differ from each other, best first.

        One that never had a value of its own is left out, and one that seldom had
        comes after the others.
        """
        season, cycle = self.seasons[-1] if len(self.seasons) else (1, 1)
        names = [SEASON_AGO, SEASON_MEAN] if season > 1 else []
        names += [CYCLE_AGO] if cycle > season else []
        names = [LAST_VALUE, *(name for name in names if self.own_share(name) > 0)]
        return tuple(
            sorted(
                names,
                key=lambda name: (
                    self.own_share(name) < MIN_OWN_SHARE, self.typical_error(name), name
                ),
            )
        )  # fmt: skip

    def rules(self, snapshot: BacktestSnapshot) -> Iterator[tuple[str, Any]]:
        """Arrays have the sizes that so many rows leave."""
        steps, rows = len(self.steps), snapshot.rows
        yield "rows", Count()
        for name in ("counts", "held"):
            yield name, Array((steps,), 0, rows, whole=True)
        yield (
            "held",
            Condition(
                (snapshot.held <= snapshot.counts).all(), "no more than the scored ones"
            ),
        )
        for name in ("squared", "absolute"):
            yield name, Array((len(METHODS), steps), 0.0)
        yield "own", Array((len(METHODS), steps), 0, rows, whole=True)
        is_part = (snapshot.own <= snapshot.counts).all()
        yield "own", Condition(is_part, "no more than the scored ones")
        kept = min(rows, self.horizon)
        yield "waiting", Array((kept, steps, 4), may_be_nan=True)
        yield "carried", Array((kept,), may_be_nan=True)
        yield "seasons", Array((kept, 2), 1, whole=True)
        shape = snapshot.totals.shape if len(snapshot.totals) == 2 else (2, 1)
        yield "totals", Array(shape)
        yield "totals", Condition(len(shape) == 2 and shape[1] > 0, "sums and counts")
        length = min(rows, _kept_values(self.horizon, snapshot.seasons))
        yield "values", Array((length,), may_be_nan=True)

    def _seasonal_means(
        self, values: FloatArray, y: FloatArray, seasons: IntArray
    ) -> FloatArray:
        """The means (T, S) that each of the last rows y (T,) forecasts with.

        ``values`` are all that are kept, y the last of them; ``seasons`` (T, 2) are
        those known at each row. Another season begins with the means of past values.
        """
        means, parts = PhaseMeans(self.totals), []
        periods = np.array([mean_period(*row) for row in seasons.tolist()])
        edges = [0, *(np.flatnonzero(np.diff(periods)) + 1).tolist(), len(y)]
        for start, stop in pairwise(edges):
            if periods[start] != means.period:
                past = values[: len(values) - len(y) + start][-PAST_VALUES:]
                row = self.rows + start - len(past)
                means = PhaseMeans.initial(int(periods[start]))
                means, _ = means.play(past, row, self.steps)
            means, part = means.play(y[start:stop], self.rows + start, self.steps)
            parts.append(part)
        self.totals = means.totals
        return np.concatenate(parts)

    def _naive(
        self, values: FloatArray, before: int, last: FloatArray, seasons: FloatArray
    ) -> Iterator[tuple[FloatArray, npt.NDArray[np.bool_]]]:
        """Forecasts (T, S) of each method without a model, and where they are its own.

        ``last`` are the first, which stand in for what the others lack.
        """
        at = before + np.arange(len(last))[:, None]
        yield last, ~np.isnan(last)
        shorter = np.ones_like(seasons[:, :, 0], np.int64)
        for periods in np.moveaxis(seasons, 2, 0).astype(np.int64):
            back = at - periods * -(-self.steps // periods)
            found = _take(values, back)
            last = np.where(np.isnan(found), last, found)
            yield last, ~np.isnan(found) & (periods > shorter)
            shorter = periods

    def _add_errors(
        self, y: FloatArray, predictions: FloatArray, forecasts: FloatArray,
        is_scored: npt.NDArray[np.bool_],
    ) -> None:  # fmt: skip
        actual = np.where(np.isnan(y), 0.0, y)[:, None]
        errors = np.where(is_scored, actual - predictions, 0.0)
        is_held = (forecasts[:, :, 1] <= actual) & (actual <= forecasts[:, :, 2])
        self.counts = self.counts + is_scored.sum(axis=0)
        self.held = self.held + (is_scored & is_held).sum(axis=0)
        self.squared = _add_rows(self.squared, errors**2)
        self.absolute = _add_rows(self.absolute, np.abs(errors))

    def _keep(
        self, values: FloatArray, waiting: FloatArray, seasons: FloatArray
    ) -> None:
        """Keep what later rows need."""
        self.waiting = waiting[-self.horizon :].copy()
        self.seasons = seasons[-self.horizon :].copy()
        self.values = values[-_kept_values(self.horizon, self.seasons) :].copy()


def _kept_values(horizon: int, seasons: FloatArray) -> int:
    """How many past values are kept."""
    longest = int(seasons[-1, 1]) if len(seasons) else 1
    return PAST_VALUES + horizon + longest


def _with_filled(values: FloatArray, y: FloatArray, seasons: FloatArray) -> FloatArray:
    """All values; a missing one is that a season before, or else the one before it."""
    joined, start = np.append(values, y), len(values)
    for row in np.flatnonzero(np.isnan(y)):
        at, season = start + row, int(seasons[row, 0])
        season_ago = joined[at - season] if at >= season else np.nan
        before = joined[at - 1] if at else np.nan
        joined[at] = before if np.isnan(season_ago) else season_ago
    return joined


def _with_carried(carried: FloatArray, y: FloatArray) -> FloatArray:
    """The last known value at each row; NaN before the first."""
    joined = np.append(carried, y)
    known = np.where(np.isnan(joined), 0, np.arange(len(joined)))
    return np.asarray(joined[np.maximum.accumulate(known)])


def _take(values: FloatArray, at: IntArray) -> FloatArray:
    """The values at these places; NaN before the first."""
    return np.where(at >= 0, values[np.maximum(at, 0)], np.nan)


def _add_rows(sums: FloatArray, rows: FloatArray) -> FloatArray:
    """The sums (m, S) plus all rows (m, T, S), one after the other: in this order the
    result is the same to the last bit however rows are cut."""
    stacked = np.concatenate([sums[:, None], rows], axis=1)
    return np.cumsum(stacked, axis=1)[:, -1]
