"""Daily grids without some weekdays: held to calendars that are walked day by day."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.calendar.frequency import parse_frequency
from thalweg.calendar.row_clock import GRID_ROWS, NO_TIME, RowClock
from thalweg.calendar.row_places import grid_steps
from thalweg.calendar.season_finder import Seasons, calendar_seasons
from thalweg.calendar.time_grid import TimeGrid, as_times, find_grid
from thalweg.calendar.weekdays import (
    ALL,
    DAY,
    MONDAY_TO_FRIDAY,
    WeekdayCalendar,
    count_weekdays,
    find_weekdays,
    is_possible_set,
    rows_of_year,
    week_sentence,
)
from thalweg.errors import StreamError

MONDAY = np.datetime64("2024-01-01", "D")
weekday_sets = st.sets(st.integers(0, 6), min_size=2, max_size=6)
starts = st.integers(-30_000, 60_000)  # days from 1 January 1970


def days_of(weekdays, start, count):
    """The first days on these weekdays from a day on, found one by one."""
    days, day = [], np.datetime64(int(start), "D")
    while len(days) < count:
        if (day - MONDAY).astype(int) % 7 in weekdays:
            days.append(day)
        day += np.timedelta64(1, "D")
    return np.array(days).astype("datetime64[ns]")


def bits(weekdays):
    return sum(1 << day for day in weekdays)


def found_in(days):
    return find_weekdays(as_times(days).astype(np.int64))


@given(weekday_sets, starts, st.integers(40, 120))
def test_the_next_rows_of_a_grid_are_the_next_such_days(weekdays, start, rows):
    days = days_of(weekdays, start, rows + 30)
    grid = find_grid(days[:rows])
    assert grid.weekdays == bits(weekdays)
    np.testing.assert_array_equal(grid.times(np.arange(rows + 30)), days)
    np.testing.assert_array_equal(grid.positions(days), np.arange(rows + 30))


@given(weekday_sets, starts, st.lists(st.integers(-500, 500), min_size=1))
def test_positions_and_times_are_inverse(weekdays, start, positions):
    grid = TimeGrid(
        int(days_of(weekdays, start, 1).astype(np.int64)[0]), DAY, 0, 0, bits(weekdays)
    )
    np.testing.assert_array_equal(grid.positions(grid.times(positions)), positions)


@given(weekday_sets, starts)
def test_a_day_that_has_no_rows_counts_as_the_next_that_has(weekdays, start):
    days = days_of(weekdays, start, 60)
    grid = find_grid(days)
    every = np.arange(days[0], days[-1] + 1, DAY).astype("datetime64[ns]")
    positions, is_off = grid.nearest_positions(every)
    np.testing.assert_array_equal(is_off, ~np.isin(every, days))
    np.testing.assert_array_equal(grid.is_absent_weekday(every), is_off)
    np.testing.assert_array_equal(positions, np.searchsorted(days, every))


@given(weekday_sets, starts, st.data())
def test_a_holiday_is_a_missing_row(weekdays, start, data):
    days = days_of(weekdays, start, 150)
    missing = data.draw(st.sets(st.integers(1, 148), max_size=10))
    kept = np.delete(np.arange(150), sorted(missing))
    grid = find_grid(days[kept])
    assert grid.weekdays == bits(weekdays)
    np.testing.assert_array_equal(grid.positions(days[kept]), kept)


def test_days_may_have_any_time_of_day():
    stamps = days_of(range(5), 19_000, 40) + np.timedelta64(23 * 60 + 50, "m")
    jitter = np.resize([0, 20, -5], 40).astype("timedelta64[m]")
    grid = find_grid(stamps + jitter)
    assert grid.weekdays == MONDAY_TO_FRIDAY
    np.testing.assert_array_equal(grid.positions(stamps + jitter), np.arange(40))


@pytest.mark.parametrize(("rows", "is_found"), [(10, False), (11, True), (15, True)])
def test_a_weekday_has_to_lack_a_row_twice(rows, is_found):
    days = days_of(range(5), 19_723, rows)  # from Monday, 1 January 2024, on
    assert (found_in(days) == MONDAY_TO_FRIDAY) == is_found


def test_with_a_holiday_it_takes_a_week_more():
    days = np.delete(days_of(range(5), 19_723, 21), 7)
    assert found_in(days[:14]) == 0
    assert found_in(days) == MONDAY_TO_FRIDAY


def test_one_row_on_a_weekday_makes_it_a_day_of_the_series():
    days = np.sort(
        np.append(days_of(range(5), 19_723, 200), np.datetime64("2024-03-09"))
    )
    assert found_in(days) == bits(range(6))


@pytest.mark.parametrize("share", [0.3, 0.6, 0.8])
def test_rows_that_are_missing_by_chance_leave_all_weekdays(share):
    rng, taken = np.random.default_rng(4), 0
    for _ in range(300):
        every = np.arange(int(rng.integers(14, 60)))
        days = every[rng.random(len(every)) < share]
        if len(days) > 1:
            taken += found_in(days.astype("datetime64[D]")) != 0
    assert taken <= 15


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 6, 7, 14])
@pytest.mark.parametrize("rows", [4, 8, 12, 24, 100])
def test_equal_steps_stay_what_they_are(step, rows):
    days = np.datetime64("2024-01-01") + step * np.arange(rows)
    assert find_grid(as_times(days)) == TimeGrid(19_723 * DAY, step * DAY)


def test_weeks_of_which_one_is_a_day_late_stay_weeks():
    days = np.datetime64("2024-01-01") + 7 * np.arange(60)
    days[[9, 30]] += 1
    assert find_grid(as_times(days)) == TimeGrid(19_723 * DAY, 7 * DAY)


def test_hours_of_working_days_stay_hours():
    hours = np.arange("2024-01-01", "2024-03-01", dtype="datetime64[h]")
    is_worked = (hours.astype("datetime64[D]") - MONDAY).astype(int) % 7 < 5
    assert find_grid(as_times(hours[is_worked])) == TimeGrid(19_723 * DAY, DAY // 24)


def test_seasons_are_those_of_the_days_that_have_rows():
    for count, year in ((5, 261), (6, 313), (3, 157), (2, 104)):
        grid = TimeGrid(19_723 * DAY, DAY, weekdays=bits(range(count)))
        assert calendar_seasons(grid) == Seasons(count, year)
    assert calendar_seasons(TimeGrid(0, DAY)) == Seasons(7, 365)
    assert (count_weekdays(0), rows_of_year(0)) == (7, 365)


def test_a_week_is_described():
    assert week_sentence(MONDAY_TO_FRIDAY) == (
        "The season is a week (5 rows, no Saturdays and Sundays)."
    )
    assert week_sentence(ALL & ~1) == "The season is a week (6 rows, no Mondays)."


def test_sets_that_no_series_has_are_told_apart():
    assert all(is_possible_set(bits) for bits in (0, 3, MONDAY_TO_FRIDAY, ALL - 1))
    for wrong in (ALL, 1, 64, -1, 128, True, 5.0, None):
        assert not is_possible_set(wrong)
    with pytest.raises(StreamError, match="on one of its days"):
        WeekdayCalendar(MONDAY_TO_FRIDAY, 2 * DAY)


def test_the_frequency_b_is_monday_to_friday_from_the_first_such_day_on():
    saturday = as_times(["2024-01-06", "2024-01-08"])
    grid = parse_frequency("B", "forecast", False).grid(saturday)
    assert grid == TimeGrid(19_730 * DAY, DAY, weekdays=MONDAY_TO_FRIDAY)
    assert grid.is_absent_weekday(saturday).tolist() == [True, False]


def stamps_of(days):
    return as_times(days).astype(np.int64)


@given(weekday_sets, starts, st.integers(0, 60), st.integers(0, 60))
def test_a_clock_is_the_same_however_rows_are_cut(weekdays, start, first, second):
    times = stamps_of(days_of(weekdays, start, 60))
    times[40:43] = NO_TIME
    whole, filled = RowClock().advance(times)
    clock, parts = RowClock(), []
    for part in np.split(times, sorted((first, second))):
        clock, own = clock.advance(part)
        parts.append(own)
    assert clock == whole
    np.testing.assert_array_equal(np.concatenate(parts), filled)
    np.testing.assert_array_equal(filled, stamps_of(days_of(weekdays, start, 60)))
    assert whole.grid.weekdays == bits(weekdays)


def test_a_clock_looks_at_24_rows_and_no_later_one():
    times = stamps_of(days_of(range(5), 19_723, 60))
    early, _ = RowClock().advance(times[: GRID_ROWS - 1])
    assert early.grid.weekdays == 0
    late = np.append(times[:GRID_ROWS], times[GRID_ROWS - 1] + DAY * np.arange(1, 9))
    clock, _ = RowClock().advance(late)
    assert clock.grid.weekdays == MONDAY_TO_FRIDAY
    assert clock.grid_after(GRID_ROWS - 1).weekdays == 0


def test_steps_lead_from_friday_to_monday_and_past_days_without_rows():
    grid = TimeGrid(19_723 * DAY, DAY, weekdays=MONDAY_TO_FRIDAY)
    names = ["2024-01-04", "2024-01-05", "2024-01-06", "2024-01-08", "2024-01-10"]
    thursday, friday, saturday, monday, wednesday = stamps_of(names)
    pairs = [(friday, monday), (friday, saturday), (saturday, monday),
             (saturday, wednesday), (thursday, saturday), (monday, monday)]  # fmt: skip
    before, after = np.array(pairs).T
    assert grid_steps(grid, before, after).tolist() == [1, 1, 0, 2, 2, 0]
