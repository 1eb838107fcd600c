"""The Forecaster against others, several steps ahead, on public series.

Rolling-origin evaluation (also known as: backtest, time series cross-validation). The
rivals forecast from at most 200 origins, evenly spaced over the second half of a
series, and the errors are those from the same origins; how many values the bands hold
is counted at every origin of the second half. The rivals' forecasts come from
``saved_forecasts``.
"""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from benchmarks.accuracy.forecast_origins import (
    evaluation_origins,
    root_mean_square,
    values_after,
)
from benchmarks.accuracy.naive_forecasts import naive_forecasts
from benchmarks.accuracy.saved_forecasts import SavedForecasts
from benchmarks.public_series import PUBLIC_SERIES as PUBLIC_SERIES
from benchmarks.public_series import PublicSeries
from thalweg.forecasting import Forecaster
from thalweg.forecasting.forecast import Backtest

BAND_COVERAGE = 0.9
COVERAGE_STEPS = (1, 2, 6, 12, 24)
"""Steps ahead at which coverage is counted."""
SHORT_SERIES = ("waterflow", "peyton", "co2", "airline")
"""Series of fewer than 3,000 rows."""


class ForecastAccuracy(NamedTuple):
    """One series: root mean squared errors, and how many values the bands hold."""

    series: str
    rows: int
    origins: int  # from which errors are counted
    error: float  # of the Forecaster, in the unit of the series
    rivals: Mapping[str, float]  # errors of the others
    covered: Mapping[int, float]  # share of values inside the bands, by steps ahead
    micros: float  # microseconds of one processor a row, forecasts and bands included

    @property
    def best_rival(self) -> str:
        """The rival with the least error."""
        return min(self.rivals, key=self.rivals.__getitem__)

    @property
    def ratio(self) -> float:
        """The Forecaster's error over the best rival's."""
        return self.error / self.rivals[self.best_rival]


def run_forecaster(series: PublicSeries, horizon: int) -> Backtest:
    """The Forecaster's forecasts, no setting touched."""
    forecaster = Forecaster(horizon)
    return forecaster.run(series.y, time=series.times, interval=BAND_COVERAGE)


def measure_forecaster(
    series: PublicSeries, horizon: int, saved: SavedForecasts,
    run: Callable[[PublicSeries, int], Backtest] = run_forecaster,
) -> ForecastAccuracy:  # fmt: skip
    """Compare forecasts of one series with those of the rivals that are saved."""
    start = time.process_time()
    backtest = run(series, horizon)
    seconds = time.process_time() - start
    origins = evaluation_origins(series.y, horizon)
    targets = values_after(series.y, origins, horizon)
    rivals = naive_forecasts(series, origins, horizon)
    rivals |= saved.load(series, origins, horizon)
    return ForecastAccuracy(
        series.name, len(series.y), len(origins),
        root_mean_square(backtest.mean[origins] - targets),
        {name: root_mean_square(rival - targets) for name, rival in rivals.items()},
        coverage_by_step(backtest), 1e6 * seconds / len(series.y),
    )  # fmt: skip


def coverage_by_step(backtest: Backtest) -> dict[int, float]:
    """The share of values inside the bands, of all forecasts of the second half."""
    rows, horizon = backtest.mean.shape
    shares = np.nanmean(backtest.is_inside[rows // 2 :], axis=0)
    return {step: float(shares[step - 1]) for step in COVERAGE_STEPS if step <= horizon}
