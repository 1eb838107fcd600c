"""A row of the change detector: forecast, test, learn; and replays of recent rows."""

import math

from thalweg.kernels.change_detector import detector_layout as layout
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
from thalweg.kernels.compiler.jit import inner_function

CLEAN_LIMIT = 4.0
"""Limit of an error, in standard deviations, in the value that is learnt."""
FEWEST_ROWS, FEW_ROWS, DOUBT = 64.0, 256.0, 3.5
"""Minimum and maximum number of rows of models that stop learning while a CUSUM
statistic of large shifts is above ``DOUBT``: two errors at their limit, where five or
more raise an alarm."""
ABRUPT = 1.5
"""Minimum growth of that statistic per row since it left zero, in the first year; it
grows by 2 at most."""
NO_ALARM = -1


@inner_function
def restart_models(s):
    """Forget all that was learnt, but not past values and the season."""
    c = s.counters
    c[layout.MODEL_START] = c[layout.ROWS]
    c[layout.WEIGHT] = 0.0
    c[layout.DEGREES] = 0.0
    c[layout.JUMP_ROW] = 0.0
    c[layout.SQUARE_MEAN] = NORMAL_SQUARE
    c[layout.SQUARE_VARIANCE] = NORMAL_SQUARE_VARIANCE
    s.means.fill(0.0)
    s.moments.fill(0.0)
    s.scales.fill(0.0)
    s.column_powers.fill(1.0)
    s.sums.fill(0.0)


@inner_function
def replay_rows(s, w, start, end, is_tested):
    """Learn recent rows with models that begin at ``start``."""
    s.counters[layout.ROWS] = start
    restart_models(s)
    play_recent_rows(s, w, start, end, is_tested)


@inner_function
def play_recent_rows(s, w, start, end, is_tested):
    """Play rows as they were received; returns whether any raises an alarm."""
    is_alarm = False
    for t in range(start, end):
        for j in range(w.values.size):
            w.values[j] = s.recent[t % layout.RECENT_ROWS, j]
        if play_row(s, w, is_tested) != NO_ALARM:
            is_alarm = True
    return is_alarm


@inner_function
def play_row(s, w, is_tested):
    """Forecast a row, test its error and learn it; returns a statistic or NO_ALARM."""
    c, y, alarm = s.counters, w.values[0], NO_ALARM
    t = int(c[layout.ROWS])
    for j in range(w.values.size):
        s.recent[t % layout.RECENT_ROWS, j] = w.values[j]
    error, clean, has_score, chosen = 0.0, y, False, chosen_model(s)
    if has_features(c):
        if c[layout.WEIGHT] == 0.0:
            set_season_prior(s)
            c[layout.IS_YEARLY] = is_yearly(c)
        for model in range(layout.MODELS):
            factorise(
                c[layout.WEIGHT], s.means[model], s.moments[model], w.lower[model]
            )
        set_forecasts(s, w)
        if math.isnan(y):
            clean = w.forecasts[chosen]
        else:
            has_score = c[layout.DEGREES] >= FIRST_ERRORS
            if has_score:
                error, clean, alarm = _test(s, w, is_tested)
            if not _is_in_doubt(s):
                _learn_row(s, w, clean)
    elif math.isnan(y):
        clean = s.past_values[(t - 1) % layout.PAST_VALUES] if t > 0 else 0.0
    residual = (clean - (y - error)) / w.spreads[chosen]
    s.past_values[t % layout.PAST_VALUES] = s.adjusted[t % layout.PAST_VALUES] = clean
    if has_score and w.values.size > layout.FIRST_COLUMN:
        s.adjusted[t % layout.PAST_VALUES] -= column_effect(s, w, chosen)
    s.past_squares[t % layout.SEARCHED_ROWS] = (
        residual * residual if has_score else -1.0
    )
    s.recent_errors[t % layout.RECENT_ROWS] = error
    c[layout.ROWS] += 1
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
    if not is_tested or c[layout.DEGREES] < MIN_DEGREES:
        return error, clean, NO_ALARM
    score = normal_score(error / scale, c[layout.DEGREES])
    score = min(max(score, -SCORE_LIMIT), SCORE_LIMIT)
    update_statistics(s, model, w.rows[model], score, noise > least)
    best, ratio = highest_statistic(s)
    has_stayed = has_jump_stayed(s, y, error, scale)
    if ratio > 1.0:
        return error, clean, best
    return error, clean, jump_statistic(s) if has_stayed else NO_ALARM


@inner_function
def _choose_last_value(s, w, model):
    """Use the last value as received, if it was an outlier and this row follows it."""
    t, y = int(s.counters[layout.ROWS]), w.values[0]
    came = s.recent[(t - 1) % layout.RECENT_ROWS, 0]
    place = (t - 1) % layout.PAST_VALUES
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
    """Whether the last rows may have another level, while the models know few rows.

    Such models would follow the new level before the shift raises an alarm. With a
    season, or with fewer than ``FEWEST_ROWS`` rows, they have to follow.
    """
    c = s.counters
    if not FEWEST_ROWS <= c[layout.WEIGHT] < FEW_ROWS or c[layout.SEASON] > 0.0:
        return False
    least = DOUBT
    step = (c[layout.LAST_TIME] - c[layout.FIRST_TIME]) / c[layout.TIMED_ROWS]
    is_new_year = c[layout.IS_YEARLY] > 0.0 and step * c[layout.WEIGHT] < 1.0
    for k in (layout.LARGE_UP, layout.LARGE_DOWN):
        if is_new_year:  # a wave that is hardly known has errors like a slow shift
            least = max(DOUBT, ABRUPT * (c[layout.ROWS] - s.onsets[k] + 1.0))
        if s.sums[k] > least:
            return True
    return False


@inner_function
def _learn_row(s, w, clean):
    """The models learn the row with the label ``clean``, scales with its own."""
    c, y, target = s.counters, w.values[0], w.rows.shape[1] - 1
    # Errors of a model that has seen fewer rows than features are its own.
    used = (
        target
        - layout.OWN_FEATURES
        + 2
        + (c[layout.SEASON] > 0.0)
        + layout.YEAR_FEATURES * c[layout.IS_YEARLY]
    )
    is_scaled, weight = c[layout.WEIGHT] >= used, 0.0
    for model in range(layout.MODELS):
        w.rows[model, target] = clean - target_base(s, model, w.rows[model])
        if is_scaled:
            residual = (y - w.forecasts[model]) / w.spreads[model]
            update_scales(c[layout.DEGREES], s.scales[model], residual)
        weight = learn(
            c[layout.WEIGHT],
            s.means[model],
            s.moments[model],
            w.rows[model],
            w.deviation,
        )
    c[layout.WEIGHT] = weight
    if is_scaled:
        c[layout.DEGREES] = min(c[layout.DEGREES] + 1.0, 2 * layout.MEMORY)
