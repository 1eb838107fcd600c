from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thalweg.changes.change_detector import YEAR_SECONDS, ChangeDetector

ROWS = 1200
SHIFT = 800
"""The row in which the clock shifts."""
SUMMER, WINTER = "2023-03-26T01:00", "2022-10-30T01:00"
"""When summer time began and ended in Europe."""
AMERICAN = "2022-11-06T06:00"
"""When it ended in New York."""


def times_around(text, step=1.0):
    """Times in seconds of rows ``step`` hours apart, SHIFT of which are before one."""
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    return moment + 3600 * step * (np.arange(ROWS) - SHIFT)


def habits(times, hours, seed=0, noise=0.4):
    """A day that is an hour early or late from SHIFT on."""
    rng = np.random.default_rng(seed)
    shape = 2 * rng.normal(size=24) + 5 * np.sin(np.arange(24) * 2 * np.pi / 24)
    hour = times / 3600 + hours * (np.arange(ROWS) >= SHIFT)
    y = 40 + np.interp(hour % 24, np.arange(25), np.append(shape, shape[0]))
    return y + noise * rng.normal(size=ROWS)


def detector_of(y, times=None):
    detector = ChangeDetector(0)
    years = None if times is None else times / YEAR_SECONDS
    detector.add(y, np.empty((len(y), 0)), years=years)
    return detector


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("text", "hours"), [(SUMMER, 1), (WINTER, -1), (AMERICAN, -1)])
def test_a_shift_of_the_clock_is_no_alarm(text, hours, seed):
    times = times_around(text)
    y = habits(times, hours, seed)
    assert detector_of(y, times).total == 0 < detector_of(y).total


@pytest.mark.parametrize(("text", "hours"), [(SUMMER, 1), (WINTER, -1)])
def test_a_shift_of_the_clock_in_half_hours_is_no_alarm(text, hours):
    times = times_around(text, 0.5)
    y = habits(times, hours)
    assert detector_of(y, times).total == 0 < detector_of(y).total


@pytest.mark.parametrize("hours", [1, -1])
def test_times_that_shift_with_the_clock_are_no_alarm(hours):
    times = times_around("2023-05-20T02:00")  # no known rule
    y = habits(times, hours)
    local = times + 3600 * hours * (np.arange(ROWS) >= SHIFT)
    assert detector_of(y, local).total == 0 < detector_of(y, times).total


@pytest.mark.parametrize("after", [-20, 0, 5, 30, 150])
@pytest.mark.parametrize("size", [1.0, -1.0])
def test_a_change_of_level_near_a_date_is_the_alarm_that_it_would_be(after, size):
    times = times_around(SUMMER)
    y = habits(times, 0) + size * (np.arange(ROWS) >= SHIFT + after)
    (alarm,) = detector_of(y, times).alarms(())
    assert abs(alarm.onset - 1 - SHIFT - after) <= 8
    assert (alarm,) == detector_of(y).alarms(())


@pytest.mark.parametrize("after", [24, 60, 200])
def test_a_change_of_level_after_a_shift_of_the_clock_is_an_alarm(after):
    times = times_around(SUMMER)
    y = habits(times, 1) + 2.0 * (np.arange(ROWS) >= SHIFT + after)
    (alarm,) = detector_of(y, times).alarms(())
    assert alarm.kind == "level"
    assert SHIFT + after < alarm.row <= SHIFT + after + 24


def test_a_shift_of_habits_at_another_date_is_an_alarm():
    times = times_around("2023-06-11T01:00")
    assert detector_of(habits(times, 1), times).total > 0


def test_a_column_and_gaps_do_not_hide_a_shift_of_the_clock():
    rng, times = np.random.default_rng(3), times_around(SUMMER)
    columns = rng.normal(size=(ROWS, 1))
    y = habits(times, 1) + 3 * columns[:, 0]
    y[rng.integers(0, ROWS, 40)] = np.nan
    detector = ChangeDetector(1)
    detector.add(y, columns, years=times / YEAR_SECONDS)
    assert detector.total == 0


@settings(max_examples=15, deadline=None)
@given(
    cuts=st.lists(st.integers(SHIFT - 5, SHIFT + 60), max_size=6),
    hours=st.sampled_from([0, 1]),
)
def test_clock_shifts_do_not_depend_on_cuts_or_restarts(cuts, hours):
    times = times_around(SUMMER)
    y = habits(times, hours) + 1.5 * (np.arange(ROWS) >= SHIFT + 100)
    whole, pieces = detector_of(y, times), ChangeDetector(0)
    edges = sorted({0, ROWS, *cuts})
    for start, end in zip(edges, edges[1:], strict=False):
        years = times[start:end] / YEAR_SECONDS
        pieces.add(y[start:end], np.empty((end - start, 0)), years=years)
        snapshot, pieces = pieces.snapshot(), ChangeDetector(0)
        pieces.restore(snapshot)
    assert pieces.alarms(()) == whole.alarms(()) and whole.total == 1
    np.testing.assert_array_equal(pieces.buffer, whole.buffer)
