"""The clock of rows: the grid that the first 8 rows show, and then the first 24."""

import numpy as np
import pytest

from thalweg.calendar.row_clock import (
    CLOCK_ROWS,
    GRID_ROWS,
    NO_TIME,
    RowClock,
    find_row_grid,
)
from thalweg.calendar.row_places import grid_steps
from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY
from thalweg.rules import obeys

HOUR = DAY // 24
START = 19_800 * DAY
HOURS = START + HOUR * np.arange(60)


def clock_of(stamps):
    return RowClock().advance(np.asarray(stamps, np.int64))[0]


def test_the_grid_is_known_after_8_rows_and_decided_after_24():
    assert clock_of(HOURS[: CLOCK_ROWS - 1]).grid is None
    assert clock_of(HOURS[:CLOCK_ROWS]).grid == TimeGrid(START, HOUR)
    # 8 rows that are 3 hours apart, then hours.
    mixed = np.append(START + 3 * HOUR * np.arange(8), HOURS[22:41])
    clock = clock_of(mixed)
    assert clock.grid_after(CLOCK_ROWS) == TimeGrid(START, 3 * HOUR)
    assert clock.grid == clock_of(mixed[:GRID_ROWS]).grid == TimeGrid(START, HOUR)
    later = np.append(mixed, mixed[-1] + 7 * DAY * np.arange(1, 50))
    assert clock_of(later).grid == clock.grid


@pytest.mark.parametrize(
    ("odd", "is_on_grid"),
    [
        (np.insert(HOURS[:23], 10, HOURS[9]), True),  # the hour that comes again
        (np.append(HOURS[:22], HOURS[[3, 22]]), True),  # one row late
        (np.insert(HOURS[:20], [5, 9, 12, 15], HOURS[[4, 8, 11, 14]]), False),
        (np.append(HOURS[:12], HOURS[12:24] + 300 * HOUR), True),  # one long gap
        (START + np.cumsum(np.tile([HOUR, 40 * HOUR], 12)), False),  # many of them
        (START + HOUR * np.cumsum(np.tile([1, 2, 3], 8)), True),
        (START + HOUR // 7 * np.cumsum(1 + np.arange(24) ** 2 % 17), False),
        (np.append(HOURS[:23], NO_TIME), False),
    ],
)
def test_a_few_odd_rows_leave_the_grid_what_it_is(odd, is_on_grid):
    grid = find_row_grid(odd.astype(np.int64))
    assert (grid is not None and grid.step == HOUR) == is_on_grid


def test_absent_rows_are_counted():
    clock = clock_of(np.delete(HOURS, [30, 31, 50]))
    assert clock.absent_rows() == 3
    assert clock_of(HOURS[:5]).absent_rows() == 0


def test_steps_between_rows_of_quarters_are_those_of_their_grid():
    months = np.arange("2020-02", "2022-02", 3, dtype="datetime64[M]")
    stamps = months.astype("datetime64[ns]").astype(np.int64)
    grid = clock_of(stamps).grid
    assert grid.months == 3
    assert grid_steps(grid, stamps[:-1], stamps[1:]).tolist() == [1] * 7
    after = stamps.copy()
    after[3] = NO_TIME
    filled = RowClock().advance(np.append(stamps, NO_TIME))[1]
    assert filled[-1] == np.datetime64("2022-02", "ns").astype(np.int64)


def test_what_no_rows_could_show_is_not_possible():
    clock = clock_of(HOURS)
    assert obeys(RowClock, clock)
    for change in (
        {"first_grid": (0, 0, 0, 0, 0)},
        {"last_grid": (1, 2)},
        {"last_grid": tuple(TimeGrid(START, HOUR, weekdays=31))},
        {"first_times": clock.first_times[:-1]},
        {"last_time": 1.5},
        {"backward_row": 61},
        {"rows": 7},
    ):
        assert not obeys(RowClock, clock._replace(**change))
