"""Daylight saving time: a shift of daily patterns by an hour, which is no alarm.

When summer time begins, daily patterns (and so the season) come an hour earlier in rows
whose times do not shift, such as those in UTC; the dates are known. Where times shift
with the clock, they skip an hour or repeat one. If an alarm is due soon after either,
the recent rows are replayed with the rows before the shift moved by an hour, as if the
new clock had always been used. The clock has shifted if that makes the rows since then
likelier (Laplace errors, as in scale_choice.py) and they raise no alarm.
"""

import math

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.change_statistics import threshold
from thalweg.kernels.change_detector.detector_row import play_recent_rows, replay_rows
from thalweg.kernels.change_detector.reference_model import (
    PAST_ROWS,
    chosen_model,
    error_scale,
    least_scale,
)
from thalweg.kernels.compiler.jit import inner_function

HOUR_IN_YEARS = 1 / (365.2425 * 24)
STEP_TOLERANCE = 0.01
"""Limit of the relative difference of two steps between rows that count as equal."""
MIN_ROWS_BEFORE = 48
"""Minimum number of rows before the shift that the models learn in a replay."""
MIN_ADVANTAGE = 6.0
"""Minimum difference of log-likelihoods for a shift of the clock to be accepted."""
QUIET = 0.5
"""Limit of the statistics after a replay on the new clock, as a share of their
thresholds: models that have learnt few rows are slow to show a change."""
SLACK_HOURS = 2
"""Number of hours by which a shift may come before or after that of its region, since
time zones differ."""
ERROR_LIMIT = 6.0
"""Limit of errors, in standard deviations."""


@inner_function
def note_clock(s, time, regions):
    """Record, before a row, shifts of clocks, by its time and regions with summer time.

    ``regions`` has a bit for each, NaN if unknown. The last shift of each region is
    remembered, and the last hour that times skipped or repeated.
    """
    c = s.counters
    if not (math.isfinite(time) and math.isfinite(regions)):
        return
    if c[layout.TIMED_ROWS] > 0.0:
        step = time - c[layout.LAST_TIME]
        jump = step - c[layout.ROW_STEP]
        if c[layout.ROW_STEP] > 0.0 and _is_hour(abs(jump)):
            s.clock_shifts[layout.CLOCK_RULES, layout.SHIFT_ROW] = c[layout.ROWS] + 1
            s.clock_shifts[layout.CLOCK_RULES, layout.SHIFT_HOURS] = math.copysign(
                1.0, jump
            )
        if step > 0.0 and abs(step - c[layout.LAST_STEP]) <= STEP_TOLERANCE * step:
            c[layout.ROW_STEP] = step
        c[layout.LAST_STEP] = step
        if regions != c[layout.CLOCK_REGIONS]:
            now, before = int(regions), int(c[layout.CLOCK_REGIONS])
            for region in range(layout.CLOCK_RULES):
                hours = (now >> region & 1) - (before >> region & 1)
                if hours != 0:
                    s.clock_shifts[region, layout.SHIFT_ROW] = c[layout.ROWS] + 1
                    s.clock_shifts[region, layout.SHIFT_HOURS] = hours
    c[layout.CLOCK_REGIONS] = regions


@inner_function
def take_clock_shift(buffer, saved, s, w):
    """Whether a shift of the clock explains the last rows and the alarm they raised.

    If so, past rows are moved to the new clock, and the models are those of a replay of
    recent rows. Else nothing changes. ``saved`` is as large as the buffer.
    """
    hour = _rows_per_hour(s.counters)
    if not 0 < hour < s.counters[layout.SEASON]:
        return False
    best, best_row, most = -1, 0, MIN_ADVANTAGE
    half = max(hour // 2, 1)
    for region in range(layout.CLOCK_RULES + 1):
        noted = int(s.clock_shifts[region, layout.SHIFT_ROW]) - 1
        slack = SLACK_HOURS * hour if region < layout.CLOCK_RULES else 0
        for row in range(noted - slack, noted + slack + 1, half):
            if _can_play(s, row, hour):
                advantage = _clock_advantage(buffer, saved, s, w, region, row)
                if advantage > most:
                    best, best_row, most = region, row, advantage
    if best < 0:
        return False
    _play_on_clock(s, w, best, best_row)
    s.clock_shifts[best, layout.SHIFT_ROW] = 0.0
    return True


@inner_function
def _rows_per_hour(counters):
    """The rows of an hour, 0 where that is no whole number."""
    step = counters[layout.ROW_STEP]
    if step <= 0.0:
        return 0
    rows = round(HOUR_IN_YEARS / step)
    return int(rows) if _is_hour(rows * step) else 0


@inner_function
def _is_hour(years):
    return abs(years - HOUR_IN_YEARS) <= STEP_TOLERANCE * HOUR_IN_YEARS


@inner_function
def _first_row(s):
    """The first row of a replay."""
    c = s.counters
    known = int(c[layout.REGIME_START] + c[layout.SEASON]) + PAST_ROWS
    return max(int(c[layout.ROWS]) - layout.RECENT_ROWS + 1 + _rows_per_hour(c), known)


@inner_function
def _can_play(s, row, hour):
    """Whether enough rows before a shift of the clock, and rows after it, are known."""
    is_past = row < s.counters[layout.ROWS]
    return is_past and row >= _first_row(s) + max(MIN_ROWS_BEFORE, hour)


@inner_function
def _clock_advantage(buffer, saved, s, w, region, row):
    """Log-likelihood gained by the rows since a shift on its clock; 0 near an alarm.

    Both replays begin at the same row. The state is restored afterwards.
    """
    end = int(s.counters[layout.ROWS])
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
        total += min(abs(s.recent_errors[t % layout.RECENT_ROWS]), limit)
    return total


@inner_function
def _play_on_clock(s, w, region, row):
    """Replay recent rows as if a region's clock had always been that since ``row``.

    Returns whether rows since then raise an alarm, or come near to one.
    """
    hour, end = _rows_per_hour(s.counters), int(s.counters[layout.ROWS])
    shift = hour if s.clock_shifts[region, layout.SHIFT_HOURS] > 0.0 else -hour
    first = _first_row(s)
    _move_past(s, row, shift)
    replay_rows(s, w, first, row, True)
    if not _is_quiet(s):
        s.sums.fill(0.0)  # models of few rows may have raised an alarm
    is_alarm = play_recent_rows(s, w, row, end, True)
    return is_alarm or not _is_quiet(s)


@inner_function
def _is_quiet(s):
    """Whether all statistics are low, apart from that of a fall of the variance."""
    for k in range(s.sums.size):
        limit = QUIET * threshold(k, s.column_units.size)
        if s.sums[k] > limit and k != layout.VARIANCE_DOWN:
            return False
    return True


@inner_function
def _move_past(s, row, shift):
    """Rows before ``row`` come ``shift`` rows earlier.

    An hour that the new clock skipped has no label; one that it repeats is left out.
    """
    end = int(s.counters[layout.ROWS])
    for k in range(layout.PAST_VALUES - (end - row) - abs(shift)):
        t = end - layout.PAST_VALUES + k if shift > 0 else row - 1 - k
        place, source = t % layout.PAST_VALUES, (t + shift) % layout.PAST_VALUES
        s.past_values[place] = s.past_values[source]
        s.adjusted[place] = s.adjusted[source]
    for k in range(layout.RECENT_ROWS - (end - row) - abs(shift)):
        t = end - layout.RECENT_ROWS + k if shift > 0 else row - 1 - k
        for j in range(s.recent.shape[1]):
            source = (t + shift) % layout.RECENT_ROWS
            s.recent[t % layout.RECENT_ROWS, j] = s.recent[source, j]
    for t in range(row - shift, row):
        s.recent[t % layout.RECENT_ROWS, 0] = math.nan
