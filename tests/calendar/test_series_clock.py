"""Times of a series as places on a grid."""

import numpy as np
import pytest

from thalweg.calendar.series_clock import RowTimes, SeriesClock
from thalweg.rules import obeys

HOUR = np.timedelta64(1, "h")
START = np.datetime64("2024-03-01T00", "ns")
HOURS = START + np.arange(100) * HOUR


def clock_of(times, offsets=None):
    rows = RowTimes(times, offsets)
    clock = SeriesClock().start(rows)
    placed = clock.place(rows, len(times))
    return clock.advance(rows, placed, len(times)), placed


def times_of(clock, placed):
    """The times on the grid of the first rows that were placed."""
    return clock.grid.times(placed.steps - 1)


def test_even_times_have_a_place_each_and_go_on():
    clock, placed = clock_of(HOURS)
    assert clock.kind == "grid" and placed.rows.tolist() == list(range(100))
    assert (clock.times_ahead(2) == HOURS[-1] + np.arange(1, 3) * HOUR).all()


def test_gaps_move_later_rows_and_repeated_times_are_left_out():
    times = np.delete(HOURS, [40, 41])
    times = np.insert(times, 20, times[19])
    clock, placed = clock_of(times)
    assert placed.rows.tolist() == [k for k in range(99) if k != 20]
    assert clock.left_out == 1 and placed.steps[-1] == 100
    assert (times_of(clock, placed) == np.delete(HOURS, [40, 41])).all()


def test_jitter_is_rounded_to_the_grid():
    rng = np.random.default_rng(0)
    jitter = rng.integers(-60, 60, 100).astype("timedelta64[s]")
    clock, placed = clock_of(HOURS + jitter - jitter[0])
    assert clock.kind == "grid" and (np.diff(times_of(clock, placed)) == HOUR).all()


def test_uneven_times_count_as_steps():
    rng = np.random.default_rng(0)
    gaps = rng.integers(1, 10**6, 100).astype("timedelta64[s]")
    clock, placed = clock_of(START + np.cumsum(gaps))
    assert clock.kind == "rows" and clock.times_ahead(3) is None
    assert clock.grid is None and placed.steps.tolist() == list(range(1, 101))


def test_numbers_in_even_steps_go_on():
    clock, _ = clock_of(2000 + np.arange(30) / 12)
    assert clock.kind == "numbers"
    assert clock.times_ahead(1)[0] == pytest.approx(2002.5)
    clock, _ = clock_of(np.array([1.0, 2.0, 7.0, 8.0]))
    assert clock.kind == "rows"


def test_local_days_are_a_day_apart_where_summer_time_begins():
    local = np.datetime64("2024-03-28", "ns") + np.arange(10) * np.timedelta64(1, "D")
    ahead = np.where(np.arange(10) < 4, 1, 2).astype("timedelta64[h]")
    offsets = ahead.astype("timedelta64[ns]")
    clock, _ = clock_of(local - offsets, offsets)
    assert clock.kind == "grid" and clock.is_local
    assert clock.times_ahead(1)[0] == np.datetime64("2024-04-07")


def test_hours_are_counted_in_utc_and_written_with_the_last_offset():
    offsets = np.full(100, 2).astype("timedelta64[h]").astype("timedelta64[ns]")
    clock, _ = clock_of(HOURS, offsets)
    assert not clock.is_local
    assert clock.times_ahead(1)[0] == HOURS[-1] + 3 * HOUR


def test_rows_on_weekdays_without_rows_are_left_out_and_counted():
    every = np.datetime64("2024-01-01", "ns") + np.arange(70) * np.timedelta64(1, "D")
    clock, _ = clock_of(every[np.arange(70) % 7 < 5])
    later = RowTimes(every[-1] + np.arange(1, 15) * np.timedelta64(1, "D"))
    placed = clock.place(later, 14)
    assert placed.rows.tolist() == [0, 1, 2, 3, 4, 7, 8, 9, 10, 11]
    assert placed.absent.tolist() == [5, 6, 12, 13]
    assert placed.steps.tolist() == list(range(1, 11))
    clock = clock.advance(later, placed, 14)
    assert clock.on_absent_weekdays == 4 and clock.left_out == 0
    monday = every[-1] + np.timedelta64(15, "D")
    assert clock.times_ahead(1) == monday
    wrong = tuple(clock.grid._replace(weekdays=128))
    assert obeys(SeriesClock, clock)
    assert not obeys(SeriesClock, clock._replace(grid_fields=wrong))


def test_what_a_file_cannot_hold_is_refused():
    clock, _ = clock_of(HOURS)
    assert obeys(SeriesClock, SeriesClock()) and obeys(SeriesClock, clock)
    for change in (
        {"kind": "months"}, {"grid_fields": None}, {"position": "1"},
        {"position": None}, {"last_time": 1.5}, {"offset": "x"},
    ):  # fmt: skip
        assert not obeys(SeriesClock, clock._replace(**change))
