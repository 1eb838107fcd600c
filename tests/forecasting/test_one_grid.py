"""All that reads a series with times finds the same grid in its first rows."""

import numpy as np
import pandas as pd
import pytest

from thalweg.calendar.row_clock import GRID_ROWS, RowClock
from thalweg.calendar.series_clock import RowTimes
from thalweg.evaluation.forecast_run import ForecastRun, ForecastSettings
from thalweg.forecasting import Forecaster
from thalweg.forecasting.panel import Panel
from thalweg.tables.timestamps import TimedRows

MINUTE = np.timedelta64(1, "m").astype("timedelta64[ns]")
FIRST = np.datetime64("2026-01-05", "ns")


def grids_of(times):
    """The grids that a stream, a forecaster, a file and a long frame have."""
    y = np.arange(len(times)) % 7.0
    run = ForecastRun(ForecastSettings(2))
    run.play(TimedRows(y, RowTimes(times), np.empty((len(times), 0))))
    frame = pd.DataFrame({"unique_id": 1, "ds": times, "y": y})
    panel = Panel(frame, "unique_id", "ds", "y", None, "forecast")
    return [
        RowClock().advance(times.astype(np.int64))[0].grid,
        Forecaster(2).update(y, time=times).grid,
        run.clock.grid,
        *(panel.place(series).grid for series in panel),
    ]


@pytest.mark.parametrize("later", [60, 120])
def test_24_rows_decide_whatever_comes_later(later):
    steps = np.repeat([30, later], [GRID_ROWS, 70])
    grids = grids_of(FIRST + np.cumsum(steps) * MINUTE)
    assert {str(grid) for grid in grids} == {"30 minutes"}
    assert len(set(grids)) == 1


def test_weekdays_without_rows_are_those_of_the_first_24():
    days = FIRST + np.arange(120) * 1440 * MINUTE
    weekends = (days.astype("datetime64[D]").astype(np.int64) + 3) % 7 >= 5
    times = days[~weekends | (np.arange(120) > 60)]
    with pytest.warns(UserWarning, match="no rows on Saturdays"):
        grids = grids_of(times)
    assert {grid.weekdays for grid in grids} == {0b11111}
