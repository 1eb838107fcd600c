"""A forecaster on one series of a table: the same however its rows come."""

import numpy as np
import pytest

from thalweg.calendar.row_clock import GRID_ROWS
from thalweg.calendar.series_clock import RowTimes
from thalweg.evaluation import forecast_run
from thalweg.evaluation.forecast_run import ForecastRun, ForecastSettings
from thalweg.tables.timestamps import TimedRows

HORIZON, ROWS = 3, 70 + GRID_ROWS
SETTINGS = ForecastSettings(HORIZON, ("price", "wind"), ("price",))


def hourly_rows(count=ROWS, seed=0):
    """Rows an hour apart of which some are absent, and the odd feature is missing."""
    rng = np.random.default_rng(seed)
    places = np.setdiff1d(np.arange(count + 6), [GRID_ROWS + k for k in (3, 4, 9)])
    places = places[:count]
    times = np.datetime64("2024-01-01", "ns") + places * np.timedelta64(1, "h")
    x = rng.normal(size=(count, 2))
    y = 5 + x[:, 0] + np.sin(places / 24 * 2 * np.pi) + 0.1 * rng.normal(size=count)
    x[30:31, 1] = np.nan
    return TimedRows(y, RowTimes(times), x)


def played(cuts):
    """A run over rows in pieces, each with the rows that follow in hand."""
    run, rows = ForecastRun(SETTINGS), hourly_rows()
    for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        later = rows.take(slice(stop, stop + HORIZON))
        run.play(rows.take(slice(start, stop)), later if len(later) else None)
    return run


def assert_same(run, other):
    one, two = run.snapshot(), other.snapshot()
    assert one.rows == two.rows
    np.testing.assert_equal(one.clock, two.clock)
    np.testing.assert_array_equal(one.tail, two.tail)
    np.testing.assert_array_equal(one.tail_times, two.tail_times)
    ahead = hourly_rows(4, seed=1)
    for part in ("mean", "low", "high", "times"):
        found, expected = (getattr(each.forecast(ahead), part) for each in (run, other))
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(
        run.scores.snapshot(), other.scores.snapshot(), strict=True
    ):
        np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("cuts", [[GRID_ROWS], [GRID_ROWS + k for k in (0, 5, 30, 31)]])
def test_pieces_of_rows_are_the_whole(cuts):
    assert_same(played(cuts), played([]))


@pytest.mark.parametrize("rows", [1, 7])
def test_pieces_that_are_held_at_once_are_the_whole(monkeypatch, rows):
    whole = played([])
    monkeypatch.setattr(forecast_run, "PIECE_NUMBERS", rows * HORIZON)
    assert_same(played([]), whole)


def test_rows_that_are_absent_have_a_place_on_the_grid():
    run = played([])
    assert run.rows == ROWS
    assert np.isnan(run.tail).sum() == 3
    assert (np.diff(run.tail_times) == 3600e9).all()
    assert run.forecaster.rounds == ROWS + 3


def test_no_rows_change_nothing():
    run = played([])
    run.play(hourly_rows().take(slice(0, 0)))
    assert_same(run, played([]))
