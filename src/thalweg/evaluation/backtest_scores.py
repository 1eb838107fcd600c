"""Errors of a backtest by step, beside those of forecasts that need no model.

Also known as: rolling-origin evaluation by horizon. Memory does not grow with the rows:
what is kept are sums for each step, the forecasts that still wait for their values, and
as many past values as the seasons need.
"""

from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.season_finder import HISTORY, Seasons
from thalweg.forecasting.forecast import Backtest
from thalweg.forecasting.naive import (
    MEAN,
    NaiveForecasts,
    NaiveSnapshot,
    complete,
)
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition
from thalweg.types import FloatArray

IntArray = npt.NDArray[np.int64]

METHODS = FORECASTER, LAST_VALUE, SEASON_AGO, CYCLE_AGO, SEASON_MEAN = (
    "forecast", "last value", "season ago", "longer season ago", "mean of the season",
)  # fmt: skip
"""The forecasts that are scored, in the order of the rows of all arrays of errors."""
MAX_SCORED_STEPS = 48
"""Limit of the number of steps that are scored, evenly spaced in longer horizons."""
WARM_UP = 24
"""Minimum number of first origins that are not scored; a season, if that is longer."""
NAIVE = MEAN + 1
"""Number of naive forecasts that are scored: all but the drift."""
FIELDS = 3 + NAIVE
"""Number of fields of a forecast that waits: mean, ends of the band, naive ones."""
PAST_VALUES = HISTORY
"""Number of past values kept: seasons are searched in them, and naive forecasts with
another season begin with them."""
MIN_OWN_SHARE = 0.25
"""Minimum share of the scored forecasts that a method made itself to be called the
best: the others are errors of another method."""


STEPS = "len(steps)"
OWN_ARE_SCORED = Condition("(own <= counts).all()", "no more than the scored ones")
HELD_ARE_SCORED = Condition("(held <= counts).all()", "no more than the scored ones")


class BacktestSnapshot(NamedTuple):
    """All that the scores of a backtest remember."""

    rows: int  # rows so far, each an origin
    # (S,) forecasts of each step that were scored
    counts: Annotated[FloatArray, Array((STEPS,), 0, "rows", whole=True)]
    # (5, S) sums of squared errors, and of absolute errors
    squared: Annotated[FloatArray, Array((len(METHODS), STEPS), 0.0)]
    absolute: Annotated[FloatArray, Array((len(METHODS), STEPS), 0.0)]
    # (5, S) scored forecasts for which a method had a value of its own
    own: Annotated[
        FloatArray, Array((len(METHODS), STEPS), 0, whole=True), OWN_ARE_SCORED
    ]
    # (S,) values that were inside their band
    held: Annotated[FloatArray, Array((STEPS,), 0, whole=True), HELD_ARE_SCORED]
    # (≤ PAST_VALUES,) the last values
    values: Annotated[
        FloatArray, Array((f"min(rows, {PAST_VALUES})",), may_be_nan=True)
    ]
    naive: NaiveSnapshot
    # (≤ H, S, FIELDS) forecasts, bands and naive forecasts of the last origins
    waiting: Annotated[
        FloatArray, Array(("min(rows, horizon)", STEPS, FIELDS), may_be_nan=True)
    ]


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

    On the same origins and steps are scored the last known value, the newest one at the
    same phase of the season and of the cycle (seasonal naive), and the mean of all at
    the same phase, by the seasons that were known at the origin. Where there is none at
    that phase, the season's value counts in place of a cycle's, the last one in place
    of a season's, and the cycle's in place of a mean; forecasts for which a method had
    a value of its own are counted. A missing value is not scored.

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
        self.own: FloatArray = np.zeros((len(METHODS), count))
        self.values: FloatArray = np.empty(0)
        self.naive = NaiveForecasts(Seasons())
        self.waiting: FloatArray = np.empty((0, count, FIELDS))

    def add(self, backtest: Backtest) -> None:
        """Score the next rows, and let their forecasts wait."""
        y, chosen = backtest.y, self.steps - 1
        if not len(y):
            return
        bands = (backtest.mean, backtest.low, backtest.high)
        naive = self._play_naive(y, backtest.seasons)
        new = np.dstack([*(part[:, chosen] for part in bands), naive])
        waiting = np.concatenate([self.waiting, new])
        origins = len(self.waiting) + np.arange(len(y))[:, None] - self.steps
        made = waiting[np.maximum(origins, 0), np.arange(len(self.steps))]
        made[origins < 0] = np.nan
        own = np.delete(made, [1, 2], axis=2)
        predictions = np.dstack([made[..., :1], complete(made[..., 3:])])
        own, predictions = (np.moveaxis(part, 2, 0) for part in (own, predictions))
        is_scored = ~np.isnan(y)[:, None] & np.isfinite(predictions).all(axis=0)
        self._add_errors(y, predictions, made, is_scored)
        self.own = self.own + (~np.isnan(own) & is_scored).sum(axis=1)
        self.rows += len(y)
        self.waiting = waiting[-self.horizon :].copy()

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
        season, cycle = self.naive.seasons
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

    def _play_naive(self, y: FloatArray, seasons: IntArray) -> FloatArray:
        """The naive forecasts (T, S, 4) after each of the rows y (T,).

        ``seasons`` (T, 2) are those known at each. Others than before begin with the
        past values. Origins before the first one that is scored have no forecasts.
        """
        values, before = np.append(self.values, y), len(self.values)
        changes = np.flatnonzero((np.diff(seasons, axis=0) != 0).any(axis=1)) + 1
        edges, parts = [0, *changes.tolist(), len(y)], []
        for start, stop in pairwise(edges):
            known = Seasons(*seasons[start].tolist())
            if known != self.naive.seasons:
                self.naive = NaiveForecasts(known)
                past = values[: before + start][-PAST_VALUES:]
                self._learn(past, self.rows + start - len(past), self.steps[:0])
            part = self._learn(y[start:stop], self.rows + start, self.steps)
            late = max(WARM_UP, known.season) - 1 - self.rows - start
            part[: max(late, 0)] = np.nan
            parts.append(part)
        self.values = values[-PAST_VALUES:].copy()
        return np.concatenate(parts)

    def _learn(self, y: FloatArray, first_row: int, steps: IntArray) -> FloatArray:
        """Learn rows y (T,); the naive forecasts (T, S, 4) of the rows ``steps`` after
        each."""
        rows, is_known = first_row + np.arange(len(y)), ~np.isnan(y)
        asked = rows[:, None] + steps
        known = np.repeat(np.cumsum(is_known), len(steps))
        made = self.naive.play(rows[is_known], y[is_known], asked.ravel(), known)
        return made[:, :NAIVE].reshape(len(y), len(steps), NAIVE)

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


def _add_rows(sums: FloatArray, rows: FloatArray) -> FloatArray:
    """The sums (m, S) plus all rows (m, T, S), one after the other: in this order the
    result is the same to the last bit however rows are cut."""
    stacked = np.concatenate([sums[:, None], rows], axis=1)
    return np.cumsum(stacked, axis=1)[:, -1]
