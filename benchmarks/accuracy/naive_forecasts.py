"""Forecasts that need no model: the last value, and the value a season ago."""

import numpy as np

from benchmarks.accuracy.forecast_origins import IntArray
from benchmarks.public_series import PublicSeries
from thalweg.types import FloatArray


def naive_forecasts(
    series: PublicSeries, origins: IntArray, horizon: int
) -> dict[str, FloatArray]:
    """Forecasts (m, horizon) of each method that needs no model."""
    y = fill_from_last_season(series)
    forecasts = {
        "persistence": np.repeat(y[origins][:, None], horizon, axis=1),
        "seasonal naive": repeat_season(y, origins, horizon, series.season),
    }
    if series.long_season:
        forecasts["long seasonal naive"] = repeat_season(
            y, origins, horizon, series.long_season
        )
    return forecasts


def repeat_season(
    y: FloatArray, origins: IntArray, horizon: int, season: int
) -> FloatArray:
    """The last known values of the same place in the season: (m, horizon)."""
    steps = np.arange(1, horizon + 1)
    rows = origins[:, None] + steps - rows_back(steps, season)
    return np.take(y, rows)


def rows_back(steps: IntArray, season: int) -> IntArray:
    """As many whole seasons, in rows, as lead from a step ahead to a known row."""
    return season * -(-steps // season)


def fill_from_last_season(series: PublicSeries) -> FloatArray:
    """The values with missing ones replaced by those a (long) season before.

    By the value before, where that is not known either.
    """
    y, season = series.y.copy(), series.long_season or series.season
    for row in np.flatnonzero(np.isnan(y)):
        season_ago = y[row - season] if row >= season else np.nan
        y[row] = y[row - 1] if np.isnan(season_ago) else season_ago
    return y
