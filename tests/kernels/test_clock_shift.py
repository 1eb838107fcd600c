import numpy as np
import pytest

from thalweg.calendar.summer_time import RULES
from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.clock_shift import _move_past, note_clock

HOUR = 1 / 8765.82


def state(rows):
    """A detector's views after so many rows whose values are their numbers."""
    s = layout.STATE.views(np.zeros(layout.STATE.size(columns=1)), columns=1)
    s.counters[layout.ROWS] = rows
    for t in range(max(rows - layout.PAST_VALUES, 0), rows):
        s.past_values[t % layout.PAST_VALUES] = s.adjusted[t % layout.PAST_VALUES] = t
        s.recent[t % layout.RECENT_ROWS] = t
    return s


@pytest.mark.parametrize("rows", [3000, 2050, 600])
@pytest.mark.parametrize("shift", [1, 2, -1, -2])
def test_rows_before_a_shift_are_moved_and_others_are_not(rows, shift):
    s, row = state(rows), rows - 40
    _move_past(s, row, shift)
    for t in range(max(rows - layout.PAST_VALUES, 0) + 2, rows):
        is_moved = t < row - max(shift, 0)
        if is_moved or t >= row:
            moved = t + shift * is_moved
            assert s.past_values[t % layout.PAST_VALUES] == moved
            assert s.adjusted[t % layout.PAST_VALUES] == moved
            if t >= rows - layout.RECENT_ROWS + 2:
                assert (s.recent[t % layout.RECENT_ROWS] == moved).all()
    # An hour that the new clock skipped has no label.
    skipped = [
        t for t in range(row - 5, row) if np.isnan(s.recent[t % layout.RECENT_ROWS, 0])
    ]
    assert skipped == list(range(row - max(shift, 0), row))


def noted_shifts(steps, regions):
    """(row, hours) of the last shift of each region and of times, by row from 0."""
    s = layout.STATE.views(np.zeros(layout.STATE.size(columns=0)), columns=0)
    times = 40 + HOUR * np.cumsum(steps)
    for time, region in zip(times, regions, strict=True):
        note_clock(s, time, region)
        if np.isfinite(time):
            s.counters[layout.LAST_TIME] = time
            s.counters[layout.TIMED_ROWS] += 1
        s.counters[layout.ROWS] += 1
    return [(int(row) - 1, int(hours)) for row, hours in s.clock_shifts]


def test_the_last_shift_of_each_region_is_noted():
    noted = noted_shifts(np.ones(8), [0, 0, 1, 1, 3, 3, 2, 2])
    assert noted == [(6, -1), (4, 1), (-1, 0), (-1, 0), (-1, 0)]


@pytest.mark.parametrize("step", [1, 0.5, 0.25])
@pytest.mark.parametrize("hours", [1, -1])
def test_an_hour_that_times_skip_or_repeat_is_noted(step, hours):
    steps = np.full(12, step)
    steps[7] += hours
    assert noted_shifts(steps, np.zeros(12))[layout.CLOCK_RULES] == (7, hours)


def test_rows_without_times_note_nothing():
    steps, unknown = np.ones(8), np.full(8, np.nan)
    assert noted_shifts(steps, unknown) == noted_shifts(unknown, [0, 1] * 4)
    assert noted_shifts(steps, unknown) == [(-1, 0)] * (layout.CLOCK_RULES + 1)


def test_all_rules_of_summer_time_are_known():
    assert len(RULES) == layout.CLOCK_RULES
