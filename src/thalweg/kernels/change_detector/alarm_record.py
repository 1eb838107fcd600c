"""What the change detector records of an alarm: when, which kind, and how much.

Where errors are small, the statistics detect changes too small to act on. So a change
that is small beside the swing of the season raises no alarm (``is_small``). Without a
season the values vary only by their errors, and no detectable change is that small.
"""

import math

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.level_shift import rows_per_year
from thalweg.kernels.change_detector.medians import insert
from thalweg.kernels.change_detector.reference_model import (
    chosen_model,
    error_scale,
    least_scale,
)
from thalweg.kernels.compiler.jit import inner_function

LEVEL_ROWS = 32
"""Number of rows before the onset whose median is the level before it, where there is
no season."""
SLOPE_ADVANTAGE = 1.05
"""Minimum ratio of the sums of squares explained by a slope and by a step for the
change to be recorded as a slope."""
STUCK_ROWS = 5
"""Minimum number of equal values in a row for a sensor to count as stuck."""
ERROR_LIMIT = 6.0
"""Limit of errors, in standard deviations, in the search for the onset."""
MARGIN, MIN_FIT = 10, 2
"""Number of rows searched before a statistic's onset, and minimum number of rows from
the onset to the last row."""
MIN_LEVEL_PART, MIN_SPREAD_PART = 0.1, 0.3
"""Minimum change of the level, and of the standard deviation of errors, in units of the
standard deviation of values in a season."""


@inner_function
def change_onset(s, statistic):
    """The first row of the change that a statistic signals, and its slope or 0.

    The onset is at most ``RECENT_ROWS`` rows back.
    """
    c, end = s.counters, int(s.counters[layout.ROWS])
    oldest = end - layout.RECENT_ROWS
    onset = max(int(s.onsets[statistic]), oldest)
    line = min(statistic, layout.OWN_STATISTICS)
    if not layout.IS_LEVEL[line]:
        return onset, 0.0
    is_down = layout.IS_DOWN[line]
    if c[layout.JUMP_ROW] > 0.0 and is_down == (c[layout.JUMP_SIZE] < 0.0):
        return int(c[layout.JUMP_ROW]) - 1, 0.0  # it has stayed until now
    # A slope is small at first: the statistic of small shifts sees it begin.
    small = layout.SMALL_DOWN if is_down else layout.SMALL_UP
    began = int(s.onsets[small]) if s.sums[small] > 0.0 else onset
    return _fit_errors(s, max(min(began, onset) - MARGIN, oldest, 0), end)


@inner_function
def record_alarm(s, w, statistic, onset, slope, record):
    """Fill in a record of ``ALARM_FIELDS`` numbers; its levels are values of rows."""
    end, unit = int(s.counters[layout.ROWS]), s.counters[layout.LABEL_UNIT]
    record[layout.ALARM_ROW], record[layout.ALARM_ONSET] = end - 1, onset
    before, after = level_before(s, w, onset, end), level_after(s, w, onset, end)
    spread_unit = unit
    if s.counters[layout.IS_LOGARITHMIC] > 0.0:
        before, after = math.exp(before), math.exp(after)
        spread_unit *= before
    record[layout.ALARM_STATISTIC] = statistic
    record[layout.TREND_CHANGE] = spread_unit * slope
    record[layout.LEVEL_BEFORE] = unit * before
    record[layout.LEVEL_AFTER] = unit * after
    record[layout.SPREAD_BEFORE] = spread_unit * error_scale(s, chosen_model(s))
    record[layout.SPREAD_AFTER] = spread_unit * spread_after(s, onset, end)
    if is_stuck(s, onset, end):
        record[layout.SPREAD_AFTER] = 0.0


@inner_function
def rows_before(s, onset, end):
    """The rows before the onset that those since then are compared with.

    They are in the same phases of the season, the first of them and the one after all.
    """
    c = s.counters
    season = int(c[layout.SEASON]) if c[layout.SEASON] > 0.0 else rows_per_year(c)
    shift = -(-(end - onset) // season) * season if season > 0 else 0
    if season == 0 or onset - shift < c[layout.REGIME_START]:
        return max(onset - LEVEL_ROWS, int(c[layout.REGIME_START])), onset
    return onset - shift, end - shift


@inner_function
def level_before(s, w, onset, end):
    """The median of values before the onset, in the same phases of the season."""
    first, last = rows_before(s, onset, end)
    count, oldest = 0, int(s.counters[layout.ROWS]) - layout.RECENT_ROWS
    for t in range(first, last):
        y = s.recent[t % layout.RECENT_ROWS, 0] if t >= oldest else math.nan
        if math.isnan(y):
            y = s.past_values[t % layout.PAST_VALUES]
        count = insert(w.series, count, y)
    return w.series[(count - 1) // 2] if count > 0 else 0.0


@inner_function
def level_after(s, w, onset, end):
    """The median of values since the onset."""
    count = 0
    for t in range(onset, end):
        count = insert(w.series, count, s.recent[t % layout.RECENT_ROWS, 0])
    return w.series[(count - 1) // 2] if count > 0 else 0.0


@inner_function
def mean_change(s, onset, end):
    """The mean of values since the onset less that of those before it."""
    first, last = rows_before(s, onset, end)
    before, after, count = 0.0, 0.0, 0
    for t in range(first, last):
        before += s.past_values[t % layout.PAST_VALUES]
    for t in range(onset, end):
        y = s.recent[t % layout.RECENT_ROWS, 0]
        if not math.isnan(y):
            after += y
            count += 1
    return after / max(count, 1) - before / max(last - first, 1)


@inner_function
def spread_after(s, onset, end):
    """The root mean square of errors since the onset."""
    total, count = 0.0, 0
    for t in range(onset, end):
        if not math.isnan(s.recent[t % layout.RECENT_ROWS, 0]):
            total += s.recent_errors[t % layout.RECENT_ROWS] ** 2
            count += 1
    return math.sqrt(total / max(count, 1))


@inner_function
def is_stuck(s, onset, end):
    """Whether all values since the onset are equal, and at least ``STUCK_ROWS``."""
    last = s.recent[(end - 1) % layout.RECENT_ROWS, 0]
    for t in range(onset, end):
        if s.recent[t % layout.RECENT_ROWS, 0] != last:
            return False
    return end - onset >= STUCK_ROWS


@inner_function
def _fit_errors(s, first, end):
    """The onset and the slope, or 0, of the step or slope that fits errors best.

    Each row from ``first`` on is tried as the onset; the fits are compared by how much
    they reduce the sum of squares (a generalised likelihood ratio). Errors are limited.
    """
    limit = ERROR_LIMIT * max(error_scale(s, chosen_model(s)), least_scale(s))
    best_step, best_slope, slope = 0.0, 0.0, 0.0
    step_onset, slope_onset = end - 1, end - 1
    for onset in range(first, end - MIN_FIT + 1):
        count, errors, ramp, ramp_squares = 0.0, 0.0, 0.0, 0.0
        for t in range(onset, end):
            if not math.isnan(s.recent[t % layout.RECENT_ROWS, 0]):
                error = s.recent_errors[t % layout.RECENT_ROWS]
                error, since = min(max(error, -limit), limit), t - onset + 1.0
                count += 1.0
                errors += error
                ramp += since * error
                ramp_squares += since * since
        if count > 0.0 and errors * errors / count > best_step:
            best_step, step_onset = errors * errors / count, onset
        if count > 0.0 and ramp * ramp / ramp_squares > best_slope:
            best_slope, slope_onset = ramp * ramp / ramp_squares, onset
            slope = ramp / ramp_squares
    if best_slope > SLOPE_ADVANTAGE * best_step:
        return slope_onset, slope
    return step_onset, 0.0


@inner_function
def is_small(s, statistic, onset):
    """Whether a change is small beside the swing of the season."""
    season, end = int(s.counters[layout.SEASON]), int(s.counters[layout.ROWS])
    first, line = onset - season, min(statistic, layout.OWN_STATISTICS)
    if season == 0 or first < s.counters[layout.REGIME_START]:
        return False
    if layout.IS_LEVEL[line]:
        change = mean_change(s, onset, end)
        part = MIN_LEVEL_PART
    elif layout.IS_VARIANCE[line]:
        change = spread_after(s, onset, end) - error_scale(s, chosen_model(s))
        part = MIN_SPREAD_PART
    else:
        return False
    mean, square = 0.0, 0.0
    for t in range(first, onset):
        value = s.past_values[t % layout.PAST_VALUES]
        mean += value / season
        square += value * value / season
    return abs(change) < part * math.sqrt(max(square - mean * mean, 0.0))
