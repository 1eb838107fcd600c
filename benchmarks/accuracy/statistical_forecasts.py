"""Theta, MSTL and exponential smoothing of statsforecast, fitted at every origin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import statsforecast
from statsforecast.models import MSTL, AutoETS, AutoTheta

from benchmarks.accuracy.forecast_origins import IntArray
from benchmarks.accuracy.naive_forecasts import fill_from_last_season
from benchmarks.public_series import PublicSeries
from thalweg.types import FloatArray

LIBRARY = f"statsforecast {statsforecast.__version__}"
MAX_ETS_SEASON = 12
"""Rows; exponential smoothing with longer seasons takes seconds an origin, and MSTL
smooths what it leaves of them."""


def statistical_models(series: PublicSeries) -> dict[str, Callable[[], Any]]:
    """What makes each model of statsforecast for a series, by the model's name."""
    season = series.season
    models: dict[str, Callable[[], Any]] = {
        "theta": lambda: AutoTheta(season),
        "mstl": lambda: MSTL(_seasons(series), AutoETS(model="ZZN")),
    }
    if season <= MAX_ETS_SEASON:
        models["ets"] = lambda: AutoETS(season)
    return models


def refitted_forecasts(
    series: PublicSeries, origins: IntArray, horizon: int, make: Callable[[], Any]
) -> FloatArray:
    """Forecasts (m, horizon), each by a model of the rows before it.

    Missing values are replaced first, as the models take none.
    """
    y = fill_from_last_season(series)
    starts = np.maximum(0, origins + 1 - series.history)
    return np.array(
        [
            make().forecast(y[start : origin + 1], horizon)["mean"]
            for start, origin in zip(starts, origins, strict=True)
        ]
    )


def _seasons(series: PublicSeries) -> list[int]:
    """The seasons that MSTL removes: those that the history holds twice."""
    rows = min(series.history, len(series.y) // 2)
    longer = series.long_season
    return [series.season, longer] if longer and 2 * longer <= rows else [series.season]
