"""The change detector's loop over rows: forecast, test, learn; and what an alarm does.

After an alarm the models forget all rows before the onset of the change and learn those
since then again, so that one change is one alarm. Where a season, the scale of labels
or a shift of the clock explains what looked like a change, the models adopt that
explanation and no alarm is raised; nor is one for a change that is small beside the
season's swing.
"""

import math

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.alarm_record import (
    change_onset,
    is_small,
    record_alarm,
)
from thalweg.kernels.change_detector.clock_shift import note_clock, take_clock_shift
from thalweg.kernels.change_detector.detector_row import (
    NO_ALARM,
    play_row,
    replay_rows,
    restart_models,
)
from thalweg.kernels.change_detector.level_shift import find_level_shift
from thalweg.kernels.change_detector.reference_model import PAST_ROWS, SEASONS
from thalweg.kernels.change_detector.scale_choice import (
    MIN_VALUE,
    change_scale,
    is_other_scale_better,
    is_scale_row,
)
from thalweg.kernels.change_detector.season_search import (
    find_season,
    is_search_row,
    recurrence,
    remember_alarm,
)
from thalweg.kernels.compiler.jit import inner_function, kernel

unpack_state, unpack_workspace = layout.STATE.unpack, layout.WORKSPACE.unpack
MAX_VALUE = 1e60
"""Limit of values in units of the first one, whose squares are then finite."""


@kernel(ieee_division=True, nogil=True)
def detect_changes(buffer, saved, work, labels, years, regions, columns, records):
    """Play rows, and record their alarms; returns how many there were.

    Shapes: buffer and work by the layouts, zeros before the first row; saved like the
    buffer, to work in; labels (T,), NaN where unknown; years (T,), the times of the
    rows in years, NaN where unknown; regions (T,), those that have summer time, as
    bits, NaN where unknown; columns (T, p), NaN where missing; records
    (≥ T, ALARM_FIELDS).
    """
    s = unpack_state(buffer, 0, columns.shape[1])
    w = unpack_workspace(work, 0, columns.shape[1])
    count = 0
    if s.counters[layout.ROWS] == 0.0:
        restart_models(s)
    for t in range(labels.size):
        label = _in_units(labels[t], s.counters, layout.LABEL_UNIT)
        w.values[0] = _on_scale(s, w, label)
        note_clock(s, years[t], regions[t])
        _set_year(s.counters, years[t], w.values)
        for j in range(columns.shape[1]):
            w.values[layout.FIRST_COLUMN + j] = _in_units(
                columns[t, j], s.column_units, j
            )
        statistic = play_row(s, w, True)
        if _has_level_shift(s, w, records[count]):
            count += 1
            continue
        if statistic == NO_ALARM and is_scale_row(s):
            if is_other_scale_better(s, int(s.counters[layout.ROWS])):
                _change_scale(s, w)
        if statistic == NO_ALARM and not is_search_row(int(s.counters[layout.ROWS])):
            continue
        onset, slope, season = 0, 0.0, 0
        if statistic != NO_ALARM:
            onset, slope = change_onset(s, statistic)
            _restore_values(s, onset)
            if take_clock_shift(buffer, saved, s, w):
                continue
            if s.counters[layout.SCALE_ROW] <= onset and is_other_scale_better(
                s, onset
            ):
                _change_scale(s, w)
                continue
            if is_small(s, statistic, onset):
                s.sums.fill(0.0)
                continue
            remember_alarm(s, statistic, onset)
            season = recurrence(s)
        if season == 0:
            season = find_season(s.counters, s.adjusted, s.past_squares, w.ratios)
        if season > 0:
            _take_season(s, season)
        elif statistic != NO_ALARM:
            record_alarm(s, w, statistic, onset, slope, records[count])
            count += 1
            _restart_regime(s, w, onset)
    return count


@inner_function
def _has_level_shift(s, w, record):
    """Whether monthly (or similar) rows have a level shift, which is then recorded.

    Models restart from its onset, while the search for shifts still uses the rows
    before it.
    """
    onset, size = find_level_shift(s, w)
    statistic = layout.LARGE_UP if size > 0.0 else layout.LARGE_DOWN
    if onset < 0 or is_small(s, statistic, onset):
        return False
    _restore_values(s, onset)
    remember_alarm(s, statistic, onset)
    record_alarm(s, w, statistic, onset, 0.0, record)
    _restart_regime(s, w, onset)
    return True


@inner_function
def _in_units(value, units, j):
    """The value in units of a power of two near the first one that was not 0."""
    if math.isnan(value) or value == 0.0:
        return value
    if units[j] == 0.0:
        units[j] = 2.0 ** float(min(max(math.frexp(value)[1], -1000), 1000))
    return min(max(value / units[j], -MAX_VALUE), MAX_VALUE)


@inner_function
def _on_scale(s, w, value):
    """The label, or its logarithm; a label without one ends the scale of logarithms."""
    if s.counters[layout.IS_LOGARITHMIC] == 0.0 or math.isnan(value):
        return value
    if value > 0.0:
        return math.log(max(value, MIN_VALUE))
    _change_scale(s, w)
    return value


@inner_function
def _change_scale(s, w):
    """Learn and test the last rows again on the other scale; the regime goes on.

    A change among them raises its alarm after the next row, if the new scale shows it.
    """
    c = s.counters
    change_scale(s)
    end = int(c[layout.ROWS])
    # In earlier rows, the season's values are means of fewer than SEASONS seasons.
    first = int(c[layout.REGIME_START] + SEASONS * c[layout.SEASON])
    start = min(max(end - layout.RECENT_ROWS, first), end)
    replay_rows(s, w, start, end, True)


@inner_function
def _set_year(counters, time, values):
    """Cosines and sines of the time of the year; NaN where the time is unknown."""
    values[1 : layout.FIRST_COLUMN] = math.nan
    if math.isfinite(time):
        if counters[layout.TIMED_ROWS] == 0.0:
            counters[layout.FIRST_TIME] = time
        counters[layout.LAST_TIME] = time
        counters[layout.TIMED_ROWS] += 1
        angle = 2 * math.pi * (time - math.floor(time))
        values[1], values[2] = math.cos(angle), math.sin(angle)
        values[3], values[4] = math.cos(2 * angle), math.sin(2 * angle)


@inner_function
def _restore_values(s, onset):
    """Undo the limit on outliers for values since an onset: the change caused them."""
    for t in range(onset, int(s.counters[layout.ROWS])):
        came, place = s.recent[t % layout.RECENT_ROWS, 0], t % layout.PAST_VALUES
        if not math.isnan(came):
            s.adjusted[place] += came - s.past_values[place]
            s.past_values[place] = came


@inner_function
def _take_season(s, season):
    """Restart the models with a season; earlier values belong to the same regime."""
    c = s.counters
    c[layout.SEASON] = season
    # After alarms that recur the regime began with the first of them, or before.
    first = c[layout.ROWS] - 2 * season - PAST_ROWS
    c[layout.REGIME_START] = max(min(c[layout.REGIME_START], first), 0.0)
    s.past_squares.fill(-1.0)
    restart_models(s)


@inner_function
def _restart_regime(s, w, onset):
    """Learn the rows since the onset again, as the first of a regime."""
    c = s.counters
    end = int(c[layout.ROWS])
    c[layout.REGIME_START] = onset
    replay_rows(s, w, onset, end, False)
