import numpy as np

from thalweg.calendar.row_clock import NO_TIME
from thalweg.calendar.row_places import MAX_ABSENT_ROWS, rows_on_grid
from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY

HOUR, MINUTE = DAY // 24, DAY // 1440


def on_grid(step, *places):
    times = np.array(places, np.int64) * step
    return rows_on_grid(TimeGrid(0, step), int(times[0]), times[1:])


def test_absent_rows_come_before_the_row_that_ends_the_gap():
    rows = on_grid(5 * MINUTE, 0, 1, 4, 5)
    assert rows.present.tolist() == [0, 1, 1, 1, 2]
    assert rows.is_absent.tolist() == [False, True, True, False, False]
    assert (rows.times / (5 * MINUTE)).tolist() == [1, 2, 3, 4, 5]
    values = rows.values(np.array([7.0, 8.0, 9.0]))
    np.testing.assert_array_equal(values, [7, np.nan, np.nan, 8, 9])


def test_a_gap_of_an_hour_may_be_a_clock_that_skips_one():
    assert not on_grid(HOUR, 0, 1, 3, 4).is_absent.any()
    assert not on_grid(HOUR // 2, 0, 3, 4).is_absent.any()
    assert on_grid(HOUR, 0, 1, 4).is_absent.sum() == 2


def test_a_long_gap_loses_whole_days_and_stays_in_step():
    for step, period in ((5 * MINUTE, 288), (HOUR, 24), (DAY, 7)):
        absent = int(on_grid(step, 0, 50_000).is_absent.sum())
        assert MAX_ABSENT_ROWS - period < absent <= MAX_ABSENT_ROWS
        assert (50_000 - absent - 1) % period == 0


def test_rows_without_a_grid_or_of_one_time_have_no_absent_ones():
    times = np.array([NO_TIME, 5 * HOUR, 5 * HOUR, 4 * HOUR, 9 * HOUR])
    rows = rows_on_grid(None, NO_TIME, times)
    assert rows.present.tolist() == [0, 1, 2, 3, 4] and np.isnan(rows.times[0])
    back = rows_on_grid(TimeGrid(0, HOUR), 5 * HOUR, times[2:4])
    assert not back.is_absent.any()


def test_a_weekend_that_never_has_rows_is_no_gap():
    days = np.array(["2026-03-05", "2026-03-06", "2026-03-09", "2026-03-11"])
    times = days.astype("datetime64[ns]").astype(np.int64)
    grid = TimeGrid(int(times[0]), DAY, weekdays=0b11111)
    assert rows_on_grid(grid, NO_TIME, times).is_absent.sum() == 1
