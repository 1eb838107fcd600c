"""What the change detector records of an alarm: when, which kind, and how much."""

import math

from thalweg.kernels.change_detector.detector_layout import (
    ALARM_ONSET,
    ALARM_ROW,
    ALARM_STATISTIC,
    IS_LOGARITHMIC,
    JUMP_ROW,
    JUMP_SIZE,
    LABEL_UNIT,
    LARGE_DOWN,
    LEVEL_AFTER,
    LEVEL_BEFORE,
    PAST_VALUES,
    RECENT_ROWS,
    REGIME_START,
    ROWS,
    SEASON,
    SMALL_UP,
    SPREAD_AFTER,
    SPREAD_BEFORE,
    TREND_CHANGE,
)
from thalweg.kernels.change_detector.level_shift import rows_per_year
from thalweg.kernels.change_detector.reference_model import (
    chosen_model,
    error_scale,
    least_scale,
)
from thalweg.kernels.jit import inner_function

LEVEL_ROWS = 32
"""Rows before the onset whose mean is the level before, where there is no season."""
SLOPE_ADVANTAGE = 1.05
"""A slope must explain errors so many times as well as a step to be the change."""
STUCK_ROWS = 5
"""A value is stuck if so many at least are the same."""
ERROR_LIMIT = 6.0
"""Errors count as at most so many standard deviations where the onset is looked for."""
MARGIN, MIN_FIT = 10, 2
"""So many rows before a statistic's onset are looked at, and so many must follow."""


@inner_function
def change_onset(s, statistic):
    """The first row of the change that a statistic tells, and its slope or 0.

    It looks back ``RECENT_ROWS`` rows at most.
    """
    c, end = s.counters, int(s.counters[ROWS])
    oldest = end - RECENT_ROWS
    onset = max(int(s.onsets[statistic]), oldest)
    if statistic > LARGE_DOWN:
        return onset, 0.0
    is_down = statistic % 2 == 1
    if c[JUMP_ROW] > 0.0 and is_down == (c[JUMP_SIZE] < 0.0):
        return int(c[JUMP_ROW]) - 1, 0.0  # it has stayed until now
    # A slope is small at first: the statistic of small shifts sees it begin.
    small = SMALL_UP + (statistic - SMALL_UP) % 2
    began = int(s.onsets[small]) if s.sums[small] > 0.0 else onset
    return _fit_errors(s, max(min(began, onset) - MARGIN, oldest, 0), end)


@inner_function
def record_alarm(s, statistic, onset, slope, record):
    """Fill in a record of ``ALARM_FIELDS`` numbers."""
    end, unit = int(s.counters[ROWS]), s.counters[LABEL_UNIT]
    record[ALARM_ROW], record[ALARM_ONSET] = end - 1, onset
    before, after = level_before(s, onset, end), level_after(s, onset, end)
    spread_unit = unit
    if s.counters[IS_LOGARITHMIC] > 0.0:
        before, after = math.exp(before), math.exp(after)
        spread_unit *= before
    record[ALARM_STATISTIC], record[TREND_CHANGE] = statistic, spread_unit * slope
    record[LEVEL_BEFORE], record[LEVEL_AFTER] = unit * before, unit * after
    record[SPREAD_BEFORE] = spread_unit * error_scale(s, chosen_model(s))
    record[SPREAD_AFTER] = spread_unit * spread_after(s, onset, end)
    if is_stuck(s, onset, end):
        # The last value, which a mean would round; no error tells of it.
        last = s.recent[(end - 1) % RECENT_ROWS, 0]
        is_log = s.counters[IS_LOGARITHMIC] > 0.0
        record[LEVEL_AFTER] = unit * (math.exp(last) if is_log else last)
        record[SPREAD_AFTER] = 0.0


@inner_function
def level_before(s, onset, end):
    """The mean of values before the onset, in the same phases of the season."""
    c = s.counters
    season = int(c[SEASON]) if c[SEASON] > 0.0 else rows_per_year(c)
    shift = -(-(end - onset) // season) * season if season > 0 else 0
    first, last = onset - shift, end - shift
    if season == 0 or first < c[REGIME_START]:
        first, last = max(onset - LEVEL_ROWS, int(c[REGIME_START])), onset
    total = 0.0
    for t in range(first, last):
        total += s.past_values[t % PAST_VALUES]
    return total / max(last - first, 1)


@inner_function
def level_after(s, onset, end):
    """The mean of values since the onset."""
    total, count = 0.0, 0
    for t in range(onset, end):
        y = s.recent[t % RECENT_ROWS, 0]
        if not math.isnan(y):
            total += y
            count += 1
    return total / max(count, 1)


@inner_function
def spread_after(s, onset, end):
    """The root mean square of errors since the onset."""
    total, count = 0.0, 0
    for t in range(onset, end):
        if not math.isnan(s.recent[t % RECENT_ROWS, 0]):
            total += s.recent_errors[t % RECENT_ROWS] ** 2
            count += 1
    return math.sqrt(total / max(count, 1))


@inner_function
def is_stuck(s, onset, end):
    """Whether all values since the onset are the same, and enough to tell."""
    last = s.recent[(end - 1) % RECENT_ROWS, 0]
    for t in range(onset, end):
        if s.recent[t % RECENT_ROWS, 0] != last:
            return False
    return end - onset >= STUCK_ROWS


@inner_function
def _fit_errors(s, first, end):
    """The onset and the slope, or 0, of the step or slope that fits errors best.

    Each row from ``first`` on is tried as the onset; what a fit takes off the sum of
    squares is compared (a generalised likelihood ratio). Errors are limited.
    """
    limit = ERROR_LIMIT * max(error_scale(s, chosen_model(s)), least_scale(s))
    best_step, best_slope, slope = 0.0, 0.0, 0.0
    step_onset, slope_onset = end - 1, end - 1
    for onset in range(first, end - MIN_FIT + 1):
        count, errors, ramp, ramp_squares = 0.0, 0.0, 0.0, 0.0
        for t in range(onset, end):
            if not math.isnan(s.recent[t % RECENT_ROWS, 0]):
                error = s.recent_errors[t % RECENT_ROWS]
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
