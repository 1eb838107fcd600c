"""The change detector's loop over rows: forecast, test, learn; and what an alarm does.

After an alarm the models forget all rows before the onset of the change, and learn
those since then anew, so that one change is one alarm. Where a season or the scale of
labels explains what looked like a change, that is taken in place of an alarm. A change
that is small beside the season's swing is none.
"""

import math

from thalweg.kernels.change_detector.alarm_record import change_onset, record_alarm
from thalweg.kernels.change_detector.alarm_relevance import is_small
from thalweg.kernels.change_detector.change_statistics import (
    MIN_DEGREES,
    NORMAL_SQUARE,
    NORMAL_SQUARE_VARIANCE,
    has_jump_stayed,
    highest_statistic,
    jump_statistic,
    normal_score,
    update_statistics,
)
from thalweg.kernels.change_detector.detector_layout import (
    DEGREES,
    FIRST_COLUMN,
    FIRST_TIME,
    IS_LOGARITHMIC,
    IS_YEARLY,
    JUMP_ROW,
    LABEL_UNIT,
    LAST_TIME,
    MEMORY,
    MODEL_START,
    MODELS,
    OWN_FEATURES,
    PAST_VALUES,
    RECENT_ROWS,
    REGIME_START,
    ROWS,
    SCALE_ROW,
    SEARCHED_ROWS,
    SEASON,
    SQUARE_MEAN,
    SQUARE_VARIANCE,
    STATE,
    TIMED_ROWS,
    WEIGHT,
    WORKSPACE,
    YEAR_FEATURES,
)
from thalweg.kernels.change_detector.reference_model import (
    FIRST_ERRORS,
    PAST_ROWS,
    SCORE_LIMIT,
    SEASONS,
    chosen_model,
    column_effect,
    error_scale,
    factorise,
    has_features,
    is_yearly,
    learn,
    least_scale,
    set_forecasts,
    set_season_prior,
    target_base,
    update_scales,
)
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
)
from thalweg.kernels.jit import inner_function, kernel

unpack_state, unpack_workspace = STATE.unpack, WORKSPACE.unpack
CLEAN_LIMIT = 4.0
"""Values are learnt as if their errors were at most so many standard deviations."""
MAX_VALUE = 1e60
"""Limit of values in units of the first one, whose squares are then finite."""
NO_ALARM = -1


@kernel(ieee_division=True, nogil=True)
def detect_changes(buffer, work, labels, years, columns, records):
    """Play rows, and record their alarms; returns how many there were.

    Shapes: buffer and work by the layouts, zeros before the first row; labels (T,), NaN
    where unknown; years (T,), the times of the rows in years, NaN where unknown;
    columns (T, p), NaN where missing; records (≥ T, ALARM_FIELDS).
    """
    s = unpack_state(buffer, 0, columns.shape[1])
    w = unpack_workspace(work, 0, columns.shape[1])
    count = 0
    if s.counters[ROWS] == 0.0:
        _restart_models(s)
    for t in range(labels.size):
        label = _in_units(labels[t], s.counters, LABEL_UNIT)
        w.values[0] = _on_scale(s, w, label)
        _set_year(s.counters, years[t], w.values)
        for j in range(columns.shape[1]):
            w.values[FIRST_COLUMN + j] = _in_units(columns[t, j], s.column_units, j)
        statistic = _play_row(s, w, True)
        if statistic == NO_ALARM and is_scale_row(s):
            if is_other_scale_better(s, int(s.counters[ROWS])):
                _change_scale(s, w)
        if statistic == NO_ALARM and not is_search_row(int(s.counters[ROWS])):
            continue
        onset, slope, season = 0, 0.0, 0
        if statistic != NO_ALARM:
            onset, slope = change_onset(s, statistic)
            _restore_values(s, onset)
            if s.counters[SCALE_ROW] <= onset and is_other_scale_better(s, onset):
                _change_scale(s, w)
                continue
            if is_small(s, statistic, onset):
                s.sums.fill(0.0)
                continue
            season = recurrence(s, statistic, onset)
        if season == 0:
            season = find_season(s.counters, s.adjusted, s.past_squares, w.ratios)
        if season > 0:
            _take_season(s, season)
        elif statistic != NO_ALARM:
            record_alarm(s, statistic, onset, slope, records[count])
            count += 1
            _restart_regime(s, w, onset)
    return count


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
    if s.counters[IS_LOGARITHMIC] == 0.0 or math.isnan(value):
        return value
    if value > 0.0:
        return math.log(max(value, MIN_VALUE))
    _change_scale(s, w)
    return value


@inner_function
def _change_scale(s, w):
    """Learn and test the last rows anew on the other scale; the regime goes on.

    A change among them raises its alarm after the next row, if it is one on this scale.
    """
    c = s.counters
    change_scale(s)
    end = int(c[ROWS])
    # Before so many rows, the season's values are means of fewer seasons.
    first = int(c[REGIME_START] + SEASONS * c[SEASON])
    start = min(max(end - RECENT_ROWS, first), end)
    _replay_rows(s, w, start, end, True)


@inner_function
def _set_year(counters, time, values):
    """Cosines and sines of the time of the year; NaN where the time is unknown."""
    values[1:FIRST_COLUMN] = math.nan
    if math.isfinite(time):
        if counters[TIMED_ROWS] == 0.0:
            counters[FIRST_TIME] = time
        counters[LAST_TIME] = time
        counters[TIMED_ROWS] += 1
        angle = 2 * math.pi * (time - math.floor(time))
        values[1], values[2] = math.cos(angle), math.sin(angle)
        values[3], values[4] = math.cos(2 * angle), math.sin(2 * angle)


@inner_function
def _restore_values(s, onset):
    """Take values since an onset as they came: they are no outliers."""
    for t in range(onset, int(s.counters[ROWS])):
        came, place = s.recent[t % RECENT_ROWS, 0], t % PAST_VALUES
        if not math.isnan(came):
            s.adjusted[place] += came - s.past_values[place]
            s.past_values[place] = came


@inner_function
def _take_season(s, season):
    """Start the models anew, with a season; values before are of the same regime."""
    c = s.counters
    c[SEASON] = season
    # After alarms that recur the regime began with the first of them, or before.
    first = c[ROWS] - 2 * season - PAST_ROWS
    c[REGIME_START] = max(min(c[REGIME_START], first), 0.0)
    s.past_squares.fill(-1.0)
    _restart_models(s)


@inner_function
def _restart_models(s):
    """Forget all that was learnt, but not past values and the season."""
    c = s.counters
    c[MODEL_START], c[WEIGHT], c[DEGREES], c[JUMP_ROW] = c[ROWS], 0.0, 0.0, 0.0
    c[SQUARE_MEAN], c[SQUARE_VARIANCE] = NORMAL_SQUARE, NORMAL_SQUARE_VARIANCE
    s.means.fill(0.0)
    s.moments.fill(0.0)
    s.scales.fill(0.0)
    s.column_powers.fill(1.0)
    s.sums.fill(0.0)


@inner_function
def _restart_regime(s, w, onset):
    """Learn the rows since the onset anew, as the first of a regime."""
    c = s.counters
    end = int(c[ROWS])
    c[REGIME_START] = onset
    _replay_rows(s, w, onset, end, False)


@inner_function
def _replay_rows(s, w, start, end, is_tested):
    """Learn recent rows with models that begin at ``start``."""
    s.counters[ROWS] = start
    _restart_models(s)
    for t in range(start, end):
        for j in range(w.values.size):
            w.values[j] = s.recent[t % RECENT_ROWS, j]
        _play_row(s, w, is_tested)


@inner_function
def _play_row(s, w, is_tested):
    """Forecast a row, test its error and learn it; returns a statistic or NO_ALARM."""
    c, y, alarm = s.counters, w.values[0], NO_ALARM
    t = int(c[ROWS])
    for j in range(w.values.size):
        s.recent[t % RECENT_ROWS, j] = w.values[j]
    error, clean, has_score, chosen = 0.0, y, False, chosen_model(s)
    if has_features(c):
        if c[WEIGHT] == 0.0:
            set_season_prior(s)
            c[IS_YEARLY] = is_yearly(c)
        for model in range(MODELS):
            factorise(c[WEIGHT], s.means[model], s.moments[model], w.lower[model])
        set_forecasts(s, w)
        if math.isnan(y):
            clean = w.forecasts[chosen]
        else:
            has_score = c[DEGREES] >= FIRST_ERRORS
            if has_score:
                error, clean, alarm = _test(s, w, is_tested)
            _learn_row(s, w, clean)
    elif math.isnan(y):
        clean = s.past_values[(t - 1) % PAST_VALUES] if t > 0 else 0.0
    residual = (clean - (y - error)) / w.spreads[chosen]
    s.past_values[t % PAST_VALUES] = s.adjusted[t % PAST_VALUES] = clean
    if has_score and w.values.size > FIRST_COLUMN:
        s.adjusted[t % PAST_VALUES] -= column_effect(s, w, chosen)
    s.past_squares[t % SEARCHED_ROWS] = residual * residual if has_score else -1.0
    s.recent_errors[t % RECENT_ROWS] = error
    c[ROWS] += 1
    return alarm


@inner_function
def _test(s, w, is_tested):
    """The error of a row, its value without the excess of an outlier, and an alarm."""
    c, y, model = s.counters, w.values[0], chosen_model(s)
    _choose_last_value(s, w, model)
    error = y - w.forecasts[model]
    noise, least = error_scale(s, model), least_scale(s)
    scale = max(noise, least) * w.spreads[model]
    limit = CLEAN_LIMIT * scale
    clean = w.forecasts[model] + min(max(error, -limit), limit)
    if not is_tested or c[DEGREES] < MIN_DEGREES:
        return error, clean, NO_ALARM
    score = normal_score(error / scale, c[DEGREES])
    score = min(max(score, -SCORE_LIMIT), SCORE_LIMIT)
    update_statistics(s, model, w.rows[model], score, noise > least)
    best, ratio = highest_statistic(s)
    has_stayed = has_jump_stayed(s, y, error, scale)
    if ratio > 1.0:
        return error, clean, best
    return error, clean, jump_statistic(s) if has_stayed else NO_ALARM


@inner_function
def _choose_last_value(s, w, model):
    """Take the last value as it came, if it was an outlier and this row follows it."""
    t, y = int(s.counters[ROWS]), w.values[0]
    came = s.recent[(t - 1) % RECENT_ROWS, 0]
    place = (t - 1) % PAST_VALUES
    clean = s.past_values[place]
    if math.isnan(came) or came == clean:
        return
    error, adjusted = abs(y - w.forecasts[model]), s.adjusted[place]
    s.past_values[place], s.adjusted[place] = came, adjusted + came - clean
    set_forecasts(s, w)
    if abs(y - w.forecasts[model]) >= error:
        s.past_values[place], s.adjusted[place] = clean, adjusted
        set_forecasts(s, w)


@inner_function
def _learn_row(s, w, clean):
    """The models learn the row with the label ``clean``, scales with its own."""
    c, y, target = s.counters, w.values[0], w.rows.shape[1] - 1
    # Errors of a model that has seen fewer rows than features are its own.
    used = target - OWN_FEATURES + 2 + (c[SEASON] > 0.0) + YEAR_FEATURES * c[IS_YEARLY]
    is_scaled, weight = c[WEIGHT] >= used, 0.0
    for model in range(MODELS):
        w.rows[model, target] = clean - target_base(s, model, w.rows[model])
        if is_scaled:
            residual = (y - w.forecasts[model]) / w.spreads[model]
            update_scales(c[DEGREES], s.scales[model], residual)
        weight = learn(
            c[WEIGHT], s.means[model], s.moments[model], w.rows[model], w.deviation
        )
    c[WEIGHT] = weight
    if is_scaled:
        c[DEGREES] = min(c[DEGREES] + 1.0, 2 * MEMORY)
