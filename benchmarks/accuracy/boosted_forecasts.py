"""LightGBM several steps ahead: one model of all steps, fitted again every week.

Also known as: direct forecasts with the step as a feature. A row of its features is an
origin and a step: values at the origin, a season and two seasons before the time that
is forecast, means of the last season, and the calendar of that time. Whether it
forecasts the value, its change since the origin or its change since a season ago, the
end of the first half decides.
"""

from typing import Any

import lightgbm
import numpy as np
import pandas as pd

from benchmarks.accuracy.forecast_origins import IntArray
from benchmarks.accuracy.naive_forecasts import rows_back
from benchmarks.public_series import PublicSeries
from thalweg.types import FloatArray

LIBRARY = f"LightGBM {lightgbm.__version__}"
MAX_ROWS = 60_000
"""Pairs of an origin and a step that a model is fitted to; drawn, if there are more."""
TREES = 200
PARAMETERS: dict[str, Any] = {
    "objective": "regression", "num_leaves": 31, "learning_rate": 0.05,
    "num_threads": 1, "verbosity": -1, "force_col_wise": True, "deterministic": True,
    "seed": 0,
}  # fmt: skip
BASES = ("zero", "season ago", "origin")
"""What a forecast is counted from."""
TWO_YEARS = np.timedelta64(2 * 365 + 300, "D")
"""The day of the year is a feature of series that are longer, with margin: of others it
only says that the time is a new one."""
VALIDATION_ORIGINS = 100


def boosted_forecasts(
    series: PublicSeries, origins: IntArray, horizon: int
) -> FloatArray:
    """Forecasts (m, horizon), each by a model of the rows before it."""
    rows = StepRows(series, horizon)
    generator = np.random.default_rng(0)
    base = choose_base(rows, generator)
    forecasts = np.empty((len(origins), horizon))
    start = 0
    while start < len(origins):
        known = int(origins[start])
        end = int(np.searchsorted(origins, known + series.refit_every))
        model = _fit(rows, known, base, generator)
        forecasts[start:end] = _predict(rows, model, origins[start:end], base)
        start = end
    return forecasts


def choose_base(rows: "StepRows", generator: np.random.Generator) -> str:
    """What to count forecasts from: the best on the end of the first half.

    That is its last fifth, or a season of origins if that is longer.
    """
    half = len(rows.y) // 2
    start = min(int(0.8 * half), half - rows.horizon - rows.season)
    every = max(1, (half - rows.horizon - start) // VALIDATION_ORIGINS)
    origins = np.arange(start, half - rows.horizon, every)
    targets = rows.y[origins[:, None] + np.arange(1, rows.horizon + 1)]
    errors = dict[str, float]()
    for base in BASES:
        model = _fit(rows, start, base, generator)
        forecasts = _predict(rows, model, origins, base)
        errors[base] = float(np.nanmean((forecasts - targets) ** 2))
    return min(errors, key=errors.__getitem__)


class StepRows:
    """Features of pairs of an origin and a step ahead."""

    def __init__(self, series: PublicSeries, horizon: int) -> None:
        self.y, self.horizon = series.y, horizon
        self.season, self.long_season = series.season, series.long_season
        self._calendar = _calendar(series)
        longer = series.long_season or 2 * series.season
        self._means = [_trailing_mean(self.y, n) for n in (series.season, longer)]

    def base(self, kind: str, origins: IntArray, steps: IntArray) -> FloatArray:
        """What the forecasts of these pairs are counted from."""
        if kind == "zero":
            return np.zeros(len(origins))
        season_ago = origins + steps - rows_back(steps, self.season)
        return self._at(season_ago if kind == "season ago" else origins)

    def features(self, origins: IntArray, steps: IntArray) -> FloatArray:
        """The features (m, k) of these pairs."""
        season_ago = origins + steps - rows_back(steps, self.season)
        last = self._at(origins)
        columns = [
            steps, last, self._at(origins - 1), self._at(origins - 2),
            self._at(season_ago), self._at(season_ago - self.season),
            *(mean[origins] for mean in self._means),
            last - self._at(origins - self.season),
        ]  # fmt: skip
        if self.long_season:
            long_ago = origins + steps - rows_back(steps, self.long_season)
            columns += [self._at(long_ago), self._at(long_ago - self.long_season)]
        return np.column_stack([*columns, self._calendar[origins + steps]])

    def pairs(
        self, known: int, generator: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """Origins and steps whose values are known after row ``known``."""
        all_steps = np.arange(1, self.horizon + 1)
        all_origins = np.arange(self.season, known)
        origins = np.repeat(all_origins, self.horizon)
        steps = np.tile(all_steps, len(all_origins))
        usable = origins + steps <= known
        usable[usable] = np.isfinite(self.y[(origins + steps)[usable]])
        origins, steps = origins[usable], steps[usable]
        if len(origins) > MAX_ROWS:
            chosen = generator.choice(len(origins), MAX_ROWS, replace=False)
            chosen.sort()
            origins, steps = origins[chosen], steps[chosen]
        return origins, steps

    def _at(self, rows: IntArray) -> FloatArray:
        """The values of rows, nan before the first."""
        return np.where(rows >= 0, self.y[np.maximum(rows, 0)], np.nan)


def _calendar(series: PublicSeries) -> FloatArray:
    """What the calendar says of each row: (T, k)."""
    times, spacing = series.times, series.times[-1] - series.times[-2]
    stamps = pd.DatetimeIndex(times)
    columns = [stamps.dayofyear] if times[-1] - times[0] > TWO_YEARS else []
    if spacing < np.timedelta64(1, "D"):
        columns += [stamps.hour * 60 + stamps.minute, stamps.dayofweek]
    elif spacing < np.timedelta64(2, "D"):
        columns += [stamps.dayofweek, stamps.day]
    return np.array(columns, float).reshape(len(columns), len(times)).T


def _trailing_mean(y: FloatArray, rows: int) -> FloatArray:
    """The mean of the known values among the last ``rows`` rows, up to each row."""
    means: FloatArray = pd.Series(y).rolling(rows, min_periods=1).mean().to_numpy()
    return means


def _fit(
    rows: StepRows, known: int, base: str, generator: np.random.Generator
) -> lightgbm.Booster:
    origins, steps = rows.pairs(known, generator)
    targets = rows.y[origins + steps] - rows.base(base, origins, steps)
    usable = np.isfinite(targets)
    data = lightgbm.Dataset(rows.features(origins, steps)[usable], targets[usable])
    return lightgbm.train(PARAMETERS, data, TREES)


def _predict(
    rows: StepRows, model: lightgbm.Booster, origins: IntArray, base: str
) -> FloatArray:
    """Forecasts (m, horizon)."""
    all_origins = np.repeat(origins, rows.horizon)
    steps = np.tile(np.arange(1, rows.horizon + 1), len(origins))
    start = rows.base(base, all_origins, steps)
    if np.isnan(start).any():
        start = np.where(np.isnan(start), np.nanmean(rows.y[: origins[0] + 1]), start)
    changes = model.predict(rows.features(all_origins, steps), num_threads=1)
    forecasts: FloatArray = np.asarray(start + changes)
    return forecasts.reshape(-1, rows.horizon)
