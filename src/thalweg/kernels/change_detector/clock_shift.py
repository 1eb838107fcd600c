"""Shifts of the clock that habits follow: a cause of errors that is no alarm.

When summer time begins, habits come an hour earlier in rows whose times do not shift
(UTC, say), and so does the season; the dates are known. Where times shift with the
clock, they skip an hour or repeat one. If an alarm is due soon after either, the rows
around it are played anew with the rows before it moved by an hour, as if the clock had
always been that of now. The clock has shifted if the rows since then are likelier so
(Laplace errors, as in scale_choice.py), and no alarm of theirs is near.
"""

import math

from thalweg.kernels.change_detector.change_statistics import threshold
from thalweg.kernels.change_detector.detector_layout import (
    CLOCK_REGIONS,
    CLOCK_RULES,
    LAST_STEP,
    LAST_TIME,
    PAST_VALUES,
    RECENT_ROWS,
    REGIME_START,
    ROW_STEP,
    ROWS,
    SEASON,
    SHIFT_HOURS,
    SHIFT_ROW,
    TIMED_ROWS,
    VARIANCE_DOWN,
)
from thalweg.kernels.change_detector.detector_row import play_recent_rows, replay_rows
from thalweg.kernels.change_detector.reference_model import (
    PAST_ROWS,
    chosen_model,
    error_scale,
    least_scale,
)
from thalweg.kernels.jit import inner_function

HOUR_IN_YEARS = 1 / (365.2425 * 24)
STEP_TOLERANCE = 0.01
"""Steps between rows that differ by no more than this part are the same."""
MIN_ROWS_BEFORE = 48
"""So many rows before the shift are played at least, from which the models learn."""
MIN_ADVANTAGE = 6.0
"""The difference of log-likelihoods from which on the clock has shifted."""
QUIET = 0.5
"""On the clock of now statistics must end below this part of their thresholds: models
of few rows are slow to show a change."""
SLACK_HOURS = 2
"""A clock may shift so many hours before or after its region's: time zones differ."""
ERROR_LIMIT = 6.0
"""Errors count as at most so many standard deviations."""


@inner_function
def note_clock(s, time, regions):
    """Before a row: whether clocks shifted, by its time and regions with summer time.

    ``regions`` has a bit for each, NaN if unknown. The last shift of each region is
    remembered, and the last hour that times skipped or repeated.
    """
    c = s.counters
    if not (math.isfinite(time) and math.isfinite(regions)):
        return
    if c[TIMED_ROWS] > 0.0:
        step = time - c[LAST_TIME]
        jump = step - c[ROW_STEP]
        if c[ROW_STEP] > 0.0 and _is_hour(abs(jump)):
            s.clock_shifts[CLOCK_RULES, SHIFT_ROW] = c[ROWS] + 1
            s.clock_shifts[CLOCK_RULES, SHIFT_HOURS] = math.copysign(1.0, jump)
        if step > 0.0 and abs(step - c[LAST_STEP]) <= STEP_TOLERANCE * step:
            c[ROW_STEP] = step
        c[LAST_STEP] = step
        if regions != c[CLOCK_REGIONS]:
            now, before = int(regions), int(c[CLOCK_REGIONS])
            for region in range(CLOCK_RULES):
                hours = (now >> region & 1) - (before >> region & 1)
                if hours != 0:
                    s.clock_shifts[region, SHIFT_ROW] = c[ROWS] + 1
                    s.clock_shifts[region, SHIFT_HOURS] = hours
    c[CLOCK_REGIONS] = regions


@inner_function
def take_clock_shift(buffer, saved, s, w):
    """Whether a shift of the clock explains the last rows, and an alarm of theirs.

    If so, the past is as if it had been of the new clock, and what was learnt follows
    from recent rows alone. Else nothing changes. ``saved`` is as large as the buffer.
    """
    hour = _rows_per_hour(s.counters)
    if not 0 < hour < s.counters[SEASON]:
        return False
    best, best_row, most = -1, 0, MIN_ADVANTAGE
    half = max(hour // 2, 1)
    for region in range(CLOCK_RULES + 1):
        noted = int(s.clock_shifts[region, SHIFT_ROW]) - 1
        slack = SLACK_HOURS * hour if region < CLOCK_RULES else 0
        for row in range(noted - slack, noted + slack + 1, half):
            if _can_play(s, row, hour):
                advantage = _clock_advantage(buffer, saved, s, w, region, row)
                if advantage > most:
                    best, best_row, most = region, row, advantage
    if best < 0:
        return False
    _play_on_clock(s, w, best, best_row)
    s.clock_shifts[best, SHIFT_ROW] = 0.0
    return True


@inner_function
def _rows_per_hour(counters):
    """The rows of an hour, 0 where that is no whole number."""
    step = counters[ROW_STEP]
    if step <= 0.0:
        return 0
    rows = round(HOUR_IN_YEARS / step)
    return int(rows) if _is_hour(rows * step) else 0


@inner_function
def _is_hour(years):
    return abs(years - HOUR_IN_YEARS) <= STEP_TOLERANCE * HOUR_IN_YEARS


@inner_function
def _first_row(s):
    """The row from which rows are played anew."""
    c = s.counters
    known = int(c[REGIME_START] + c[SEASON]) + PAST_ROWS
    return max(int(c[ROWS]) - RECENT_ROWS + 1 + _rows_per_hour(c), known)


@inner_function
def _can_play(s, row, hour):
    """Whether enough rows before a shift of the clock, and rows after it, are known."""
    is_past = row < s.counters[ROWS]
    return is_past and row >= _first_row(s) + max(MIN_ROWS_BEFORE, hour)


@inner_function
def _clock_advantage(buffer, saved, s, w, region, row):
    """How much likelier rows since a shift are on its clock; 0 if an alarm is near.

    Both times they are played anew from the same row. What is remembered stays.
    """
    end = int(s.counters[ROWS])
    _copy(buffer, saved)
    replay_rows(s, w, _first_row(s), end, True)
    limit = ERROR_LIMIT * max(error_scale(s, chosen_model(s)), least_scale(s))
    errors = _error_sum(s, row, end, limit)
    _copy(saved, buffer)
    is_alarm = _play_on_clock(s, w, region, row)
    moved_errors = _error_sum(s, row, end, limit)
    _copy(saved, buffer)
    if is_alarm or moved_errors == 0.0:
        return 0.0
    return (end - row) * math.log(errors / moved_errors)


@inner_function
def _copy(source, target):
    for k in range(source.size):
        target[k] = source[k]


@inner_function
def _error_sum(s, first, end, limit):
    total = 0.0
    for t in range(first, end):
        total += min(abs(s.recent_errors[t % RECENT_ROWS]), limit)
    return total


@inner_function
def _play_on_clock(s, w, region, row):
    """Play recent rows anew as if a region's clock had always been that since ``row``.

    Returns whether rows since then raise an alarm, or one is near.
    """
    hour, end = _rows_per_hour(s.counters), int(s.counters[ROWS])
    shift = hour if s.clock_shifts[region, SHIFT_HOURS] > 0.0 else -hour
    first = _first_row(s)
    _move_past(s, row, shift)
    replay_rows(s, w, first, row, True)
    if not _is_quiet(s):
        s.sums.fill(0.0)  # models of few rows may have raised an alarm
    is_alarm = play_recent_rows(s, w, row, end, True)
    return is_alarm or not _is_quiet(s)


@inner_function
def _is_quiet(s):
    """Whether no statistic of a change is high, but for a fall of the variance."""
    for k in range(s.sums.size):
        limit = QUIET * threshold(k, s.column_units.size)
        if s.sums[k] > limit and k != VARIANCE_DOWN:
            return False
    return True


@inner_function
def _move_past(s, row, shift):
    """Rows before ``row`` come ``shift`` rows earlier.

    An hour that the new clock skipped has no label; one that it repeats is left out.
    """
    end = int(s.counters[ROWS])
    for k in range(PAST_VALUES - (end - row) - abs(shift)):
        t = end - PAST_VALUES + k if shift > 0 else row - 1 - k
        place, source = t % PAST_VALUES, (t + shift) % PAST_VALUES
        s.past_values[place], s.adjusted[place] = (
            s.past_values[source],
            s.adjusted[source],
        )
    for k in range(RECENT_ROWS - (end - row) - abs(shift)):
        t = end - RECENT_ROWS + k if shift > 0 else row - 1 - k
        for j in range(s.recent.shape[1]):
            source = (t + shift) % RECENT_ROWS
            s.recent[t % RECENT_ROWS, j] = s.recent[source, j]
    for t in range(row - shift, row):
        s.recent[t % RECENT_ROWS, 0] = math.nan
