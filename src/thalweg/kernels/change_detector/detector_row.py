"""A row of the change detector: forecast, test, learn; and recent rows played anew."""

import math

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
    IS_YEARLY,
    JUMP_ROW,
    LARGE_DOWN,
    LARGE_UP,
    LAST_TIME,
    MEMORY,
    MODEL_START,
    MODELS,
    OWN_FEATURES,
    PAST_VALUES,
    RECENT_ROWS,
    ROWS,
    SEARCHED_ROWS,
    SEASON,
    SQUARE_MEAN,
    SQUARE_VARIANCE,
    TIMED_ROWS,
    WEIGHT,
    YEAR_FEATURES,
)
from thalweg.kernels.change_detector.reference_model import (
    FIRST_ERRORS,
    SCORE_LIMIT,
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
from thalweg.kernels.jit import inner_function

CLEAN_LIMIT = 4.0
"""Values are learnt as if their errors were at most so many standard deviations."""
FEWEST_ROWS, FEW_ROWS, DOUBT = 64.0, 256.0, 3.5
"""Models of so many rows learn none while a CUSUM statistic of large shifts is above
this: two errors at their limit, of the five or more that are an alarm."""
ABRUPT = 1.5
"""In the first year also above so much a row since it left zero, of 2 at most."""
NO_ALARM = -1


@inner_function
def restart_models(s):
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
def replay_rows(s, w, start, end, is_tested):
    """Learn recent rows with models that begin at ``start``."""
    s.counters[ROWS] = start
    restart_models(s)
    play_recent_rows(s, w, start, end, is_tested)


@inner_function
def play_recent_rows(s, w, start, end, is_tested):
    """Play rows as they came; whether any raises an alarm."""
    is_alarm = False
    for t in range(start, end):
        for j in range(w.values.size):
            w.values[j] = s.recent[t % RECENT_ROWS, j]
        if play_row(s, w, is_tested) != NO_ALARM:
            is_alarm = True
    return is_alarm


@inner_function
def play_row(s, w, is_tested):
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
            if not _is_in_doubt(s):
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
def _is_in_doubt(s):
    """Whether the last rows may be of another level, and earlier ones are few.

    Models of so few rows would follow the new level before the shift is an alarm.
    Where there is a season, or rows are too few to tell, they have to follow.
    """
    c = s.counters
    if not FEWEST_ROWS <= c[WEIGHT] < FEW_ROWS or c[SEASON] > 0.0:
        return False
    least, step = DOUBT, (c[LAST_TIME] - c[FIRST_TIME]) / c[TIMED_ROWS]
    is_new_year = c[IS_YEARLY] > 0.0 and step * c[WEIGHT] < 1.0
    for k in (LARGE_UP, LARGE_DOWN):
        if is_new_year:  # a wave that is hardly known has errors like a slow shift
            least = max(DOUBT, ABRUPT * (c[ROWS] - s.onsets[k] + 1.0))
        if s.sums[k] > least:
            return True
    return False


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
