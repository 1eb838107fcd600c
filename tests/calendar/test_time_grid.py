"""Time stamps as rows of a grid."""

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thalweg.calendar.time_grid import (
    TimeGrid,
    as_times,
    find_grid,
    require_increasing,
)
from thalweg.errors import StreamError

DAY = 86_400 * 10**9


def grid_of(*stamps):
    return find_grid(as_times(list(stamps)))


@pytest.mark.parametrize(
    ("freq", "months"),
    [("MS", 1), ("ME", 1), ("BME", 1), ("BMS", 1), ("2MS", 2), ("QS", 3), ("QE", 3)]
    + [("4MS", 4), ("6ME", 6), ("YS", 12), ("YE", 12), ("SME", 0), ("W", 0), ("D", 0)]
    + [("28D", 0), ("30D", 0), ("4W", 0), ("h", 0), ("7min", 0)],
)
def test_months_are_told_from_durations(freq, months):
    index = pd.date_range("2019-03-01", periods=40, freq=freq)
    grid = find_grid(as_times(index.to_numpy()))
    assert grid.months == months
    if freq != "SME":  # twice a month is neither
        np.testing.assert_array_equal(grid.positions(as_times(index)), np.arange(40))


@pytest.mark.parametrize("freq", ["MS", "ME", "QS", "QE", "YS", "W", "D", "h", "s"])
@pytest.mark.parametrize("start", ["2019-02-28", "2020-01-31", "2020-12-01"])
def test_the_stamps_of_a_grid_are_those_it_was_found_in(freq, start):
    index = as_times(pd.date_range(start, periods=60, freq=freq))
    grid = find_grid(index[:3])
    np.testing.assert_array_equal(grid.times(np.arange(60)), index)
    np.testing.assert_array_equal(grid.positions(index), np.arange(60))


@pytest.mark.parametrize("day", [1, 15, 28, 29, 30, 31])
def test_a_day_that_some_months_lack_is_their_last(day):
    months = [(2023 + m // 12, m % 12 + 1) for m in range(30)]
    stamps = [
        min(date(y, m, 1) + timedelta(day - 1), date(y, m, 28) + timedelta(
            (date(y + m // 12, m % 12 + 1, 1) - date(y, m, 28)).days - 1
        ))
        for y, m in months
    ]  # fmt: skip
    grid = grid_of(*stamps)
    assert grid.months == 1
    np.testing.assert_array_equal(grid.times(np.arange(30)), as_times(stamps))


def test_the_last_day_of_february_alone_is_no_rule():
    assert grid_of("2023-02-28", "2023-03-28", "2023-04-28").times([3])[0] == (
        np.datetime64("2023-05-28")
    )
    assert grid_of("2023-02-28", "2023-03-31").times([2])[0] == (
        np.datetime64("2023-04-30")
    )


def test_months_that_are_missing_are_gaps():
    grid = grid_of("2023-01-31", "2023-02-28", "2023-04-30", "2023-05-31")
    stamps = as_times(["2023-01-31", "2023-04-30", "2023-12-31"])
    np.testing.assert_array_equal(grid.positions(stamps), [0, 3, 11])


def test_a_duration_with_a_gap_is_no_month():
    stamps = np.datetime64("2023-01-01") + np.array([0, 30, 60, 120, 150, 180])
    assert find_grid(as_times(stamps)) == TimeGrid(
        int(as_times(stamps)[0].astype(np.int64)), 30 * DAY
    )


@given(
    st.sampled_from([1, 60, 600, 3600, 7 * 3600, 86_400, 7 * 86_400]),
    st.integers(0, 2**31),
    st.lists(st.integers(1, 3), min_size=20, max_size=40),
)
def test_stamps_with_gaps_and_jitter_find_their_rows(step, first, gaps):
    rng = np.random.default_rng(first)
    # Most rows are there.
    at = np.cumsum([0, *gaps, *[1] * 45])
    jitter = rng.uniform(-0.01, 0.01, len(at)) * step * 1e9
    stamps = (first * 10**9 + at * step * 10**9 + jitter.astype(np.int64)).astype(
        "datetime64[ns]"
    )
    np.testing.assert_array_equal(find_grid(stamps).positions(stamps), at)


def test_clock_changes_of_a_zone_leave_hours_and_days_whole():
    for freq, step in (("h", DAY // 24), ("D", DAY)):
        index = pd.date_range("2026-03-25", "2026-04-02", freq=freq, tz="Europe/Berlin")
        grid = find_grid(as_times(index.to_numpy()))
        assert grid.step == step
        positions = grid.positions(as_times(index.to_numpy()))
        np.testing.assert_array_equal(positions, np.arange(len(index)))


def test_local_hours_without_a_zone_miss_one_in_spring():
    index = pd.date_range("2026-03-28", "2026-03-30", freq="h", tz="Europe/Berlin")
    stamps = as_times(index.tz_localize(None).to_numpy())
    positions = find_grid(stamps).positions(stamps)
    assert set(range(positions[-1] + 1)) - set(positions) == {26}


BERLIN = timezone(timedelta(hours=1))
SAME_TIMES = [
    ["2026-01-01T00:00", "2026-01-01T01:00"],
    ["2026-01-01 00:00:00", "2026-01-01 01:00:00"],
    ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z"],
    ["2026-01-01T01:00:00+01:00", "2026-01-01T02:00:00+01:00"],
    [datetime(2026, 1, 1), datetime(2026, 1, 1, 1)],
    [datetime(2026, 1, 1, h, tzinfo=BERLIN) for h in (1, 2)],
    [pd.Timestamp("2026-01-01"), pd.Timestamp("2026-01-01T01:00")],
    np.array(["2026-01-01T00", "2026-01-01T01"], "datetime64[h]"),
    pd.date_range("2026-01-01", periods=2, freq="h"),
    pd.date_range("2026-01-01T01:00", periods=2, freq="h", tz="Etc/GMT-1"),
    pd.Series(pd.date_range("2026-01-01", periods=2, freq="h")),
    pl.Series([datetime(2026, 1, 1), datetime(2026, 1, 1, 1)]),
    pl.Series(["2026-01-01T00:00", "2026-01-01T01:00"]),
]


@pytest.mark.parametrize("given_times", SAME_TIMES, ids=lambda g: type(g).__name__)
def test_times_of_many_kinds_are_the_same(given_times):
    times = as_times(given_times)
    assert times.dtype == "datetime64[ns]"
    expected = np.array(["2026-01-01T00", "2026-01-01T01"], "datetime64[ns]")
    np.testing.assert_array_equal(times, expected)


def test_dates_are_times_at_midnight():
    expected = np.datetime64("2026-02-03T00:00", "ns")
    for one in (date(2026, 2, 3), "2026-02-03", pl.Series([date(2026, 2, 3)])):
        np.testing.assert_array_equal(as_times(one), [expected])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["yesterday"], "such as 2026-11-16T18:00. Got yesterday"),
        (["yesterday+01:00Z"], "Got yesterday"),
        (["2026-01-01", "noon"], "Got noon in row 1"),
        ([3, 4], r"must be a datetime. Got \[3\]"),
        ([None, 3], "must be a datetime"),
        (["2500-01-01"], "year of a time must be from 1678 to 2261. Got 2500"),
        ([datetime(1500, 1, 1)], "must be from 1678"),
    ],
)
def test_what_is_no_time_is_refused(wrong, message):
    with pytest.raises(StreamError, match=message):
        as_times(wrong)


def test_rows_out_of_order_are_refused_by_name():
    times = as_times(["2026-01-01", "2026-01-02", "2026-01-02", "2026-01-01"])
    with pytest.raises(StreamError, match="2026-01-02.* of row 2 .* comes twice"):
        require_increasing(times)
    with pytest.raises(
        StreamError, match="2026-01-01.* of row 1 .* comes after a later"
    ):
        require_increasing(times[2:])
    with pytest.raises(StreamError, match="row 0 .* comes twice"):
        require_increasing(times[:2], times[0])
    with pytest.raises(StreamError, match="row 0 .* comes after a later"):
        require_increasing(times[:2], times[1])
    require_increasing(times[:2])
    with pytest.raises(StreamError, match="time of row 1 .* is missing"):
        require_increasing(as_times(["2026-01-01", "NaT"]))


def test_a_stamp_between_rows_is_refused_by_name():
    grid = grid_of("2026-01-01T00", "2026-01-01T01", "2026-01-01T02")
    with pytest.raises(StreamError, match="04:30.* is not on the grid.*1 hour apart"):
        grid.positions(as_times(["2026-01-01T03", "2026-01-01T04:30"]))
    quarters = find_grid(as_times(pd.date_range("2026-01-01", periods=5, freq="QS")))
    with pytest.raises(StreamError, match="2027-05-01.* is not .*3 months apart"):
        quarters.positions(as_times(["2027-05-01"]))


@pytest.mark.parametrize(
    ("grid", "text"),
    [(TimeGrid(0, 7 * DAY), "7 days"), (TimeGrid(0, DAY // 24), "1 hour")]
    + [(TimeGrid(0, 90 * 10**9), "90 seconds"), (TimeGrid(0, 1, 1), "1 month")]
    + [(TimeGrid(0, 10**8), "0.1 seconds"), (TimeGrid(0, DAY // 1440), "1 minute")],
)
def test_a_grid_says_how_far_rows_are_apart(grid, text):
    assert str(grid) == text


@pytest.mark.parametrize("odd", [0, 5, 39])
@pytest.mark.parametrize("freq", ["MS", "ME"])
def test_one_stamp_on_another_day_moves_no_other(freq, odd):
    index = as_times(pd.date_range("2019-01-01", periods=52, freq=freq))
    stamps = index[:40].copy()
    stamps[odd] = stamps[odd].astype("datetime64[M]").astype("datetime64[D]")
    stamps[odd] += np.timedelta64(12, "D") + np.timedelta64(7, "h")
    grid = find_grid(stamps)
    np.testing.assert_array_equal(grid.times(np.arange(52)), index)
    np.testing.assert_array_equal(grid.positions(stamps), np.arange(40))


def test_a_missing_time_is_the_one_that_is_refused():
    times = as_times(["2026-01-01", None, "2026-01-03"])
    with pytest.raises(StreamError, match="time of row 1 .* is missing"):
        require_increasing(times)


@pytest.mark.parametrize(("minutes", "waver"), [(30, 4), (60, 8), (10, 1), (1440, 90)])
def test_times_that_waver_about_a_usual_step_are_on_its_grid(minutes, waver):
    """As those of a sensor that answers late, or of somebody who reads a meter."""
    rng = np.random.default_rng(minutes)
    places = np.delete(np.arange(200), [50, 51, 120])
    seconds = 60 * (minutes * places + rng.uniform(-waver, waver, len(places)))
    seconds[0] = 0
    times = np.datetime64("2024-03-01", "ns") + (seconds * 10**9).astype(
        "timedelta64[ns]"
    )
    grid = find_grid(times)
    assert grid.step == minutes * 60 * 10**9
    found, is_off = grid.nearest_positions(times)
    np.testing.assert_array_equal(found, places)
    assert not is_off.any()


def test_times_without_a_usual_step_have_that_of_their_median():
    steps = np.tile([13, 14, 14, 13, 15], 20)  # minutes: no divisor of an hour is near
    times = np.datetime64("2024-03-01", "ns") + np.cumsum(steps) * np.timedelta64(
        60, "s"
    )
    assert find_grid(times[::2]).step == 28 * 60 * 10**9
    bursts = np.cumsum(np.tile([1, 59], 30))  # two a clock hour: no place of its own
    times = np.datetime64("2024-03-01", "ns") + bursts * np.timedelta64(60, "s")
    assert find_grid(times).step != 30 * 60 * 10**9
