"""The change detector's reference models: autoregressions with trend and season.

The model of values regresses y_t less its season on the row's number, the two values
before (less their season), the season's value and the given columns; a second one has
no row's number, so no trend. Values before, and seasons, are less the effects of the
columns (a regression with autoregressive errors), which would else be noise to them.
Rows whose times say that they are daily or weekly have two harmonics of the year as
further features of all three.
The model of differences regresses y_t - y_{t-1}, less that of the season, on the two
differences before and on those of the season and of the columns: it is for values that
move like a random walk. All count all rows since the last change, at most about 2,000.
Least squares with a small ridge in units of each feature's own variance, from centred
moments, is solved anew for every row. One-step errors divided by √(1 + leverage) are
recursive residuals, which have one variance while nothing changes: Brown, Durbin &
Evans (1975), J. R. Stat. Soc. B 37.

The scale of errors is Huber's proposal 2, so that heavy tails hardly inflate it. An
outlier's error is limited to four standard deviations before it enters moments and
past values (a robust filter: Martin & Thomson 1982, Proc. IEEE 70).
"""

import math

from thalweg.kernels.change_detector.detector_layout import (
    DEGREES,
    DIFFERENCES,
    ERROR_VARIANCE,
    FIRST_COLUMN,
    FIRST_TIME,
    IS_YEARLY,
    LAST,
    LAST_BUT_ONE,
    LAST_TIME,
    LEVEL,
    MEAN_SIZE,
    MEMORY,
    MODEL_START,
    OWN_FEATURES,
    PAST_VALUES,
    RECENT_ROWS,
    REGIME_START,
    ROWS,
    SEASON,
    SEASON_VALUE,
    TIMED_ROWS,
    TREND,
    VALUES,
    WEIGHT,
    YEAR,
)
from thalweg.kernels.jit import inner_function

TREND_ROWS = 15.0
"""A trend counts if without it the sum of squared errors is larger by so many error
variances. The end of a line that need not be there follows a shift of the level."""
RIDGE = 4.0
"""The ridge of a feature is its variance times this, as if so many rows said nothing of
it. Without one, the first errors of a model of a few rows are mostly its own."""
YEAR_RIDGE = 1.0
"""That of the time of the year, whose cosines and sines are nearly dependent in the
first months: with more, they would not follow a slow cycle."""
DEPENDENT = 1e-9
"""A feature with less than this part of its variance left follows from the others."""
PAST_ROWS = 3
"""Rows of a regime that only start the past values."""
SEASONS = 8
"""A season's value is the mean of so many seasons at most."""
SCORE_LIMIT = 3.0
"""Errors count as at most so many standard deviations."""
LIMITED_SQUARE = 0.9950
"""E min(z², 9) of a standard normal z."""
FIRST_ERRORS = 8
"""So many errors start the scales, before any is limited."""
SIZE_LIMIT, MIN_SCALE_RATIO = 20.0, 0.5
"""The scale is at least half the mean |error|, in which an error counts as at most 20
of them. It matters where most values are equal, zeros say, and the variance above would
become that of the rest."""
NOISE_PART = 0.1
"""The scale is at least this part of the standard deviation of y_t - y_{t-1}: errors
that are smaller are not those of a noise, but of a model that still learns."""
MIN_YEAR_STEP, MAX_YEAR_STEP = 1 / 800, 1 / 20
"""Rows that are so many years apart, such as daily and weekly ones, may have a year's
cycle. The memory of hourly rows is shorter than a year; months have a season of twelve
rows."""
RELATIVE_ROUNDING, TINY = 1e-12, 1e-200
"""Deviations below this part of the mean are rounding errors."""


@inner_function
def season_value(counters, adjusted, row):
    """The mean of the values one season, two seasons, … before; 0 without a season."""
    season = int(counters[SEASON])
    known = row - int(counters[REGIME_START])
    if season == 0 or known < season:
        return 0.0
    count = min(SEASONS, known // season, (PAST_VALUES - PAST_ROWS) // season)
    total = 0.0
    for k in range(1, count + 1):
        total += adjusted[(row - k * season) % PAST_VALUES]
    return total / count


@inner_function
def set_season_prior(s):
    """Before a model's first row: as if the season had repeated for ``RIDGE`` rows.

    Rows that differ little in their season's value, such as those of a week before the
    week-end, would else decide how the rest of the season counts.
    """
    c = s.counters
    season, t = int(c[SEASON]), int(c[ROWS])
    mean, square, steps = 0.0, 0.0, 0.0
    for k in range(1, season + 1):
        value = s.adjusted[(t - k) % PAST_VALUES]
        step = value - s.adjusted[(t - k - 1) % PAST_VALUES]
        mean += value / season
        square += value * value
        steps += step * step
    if season > 0:
        variance = max(square / season - mean * mean, 0.0)
        s.moments[VALUES, SEASON_VALUE, SEASON_VALUE] = RIDGE * variance
        s.moments[LEVEL, SEASON_VALUE, SEASON_VALUE] = RIDGE * variance
        s.moments[DIFFERENCES, SEASON_VALUE, SEASON_VALUE] = RIDGE * steps / season


@inner_function
def has_features(counters):
    """Whether the row has a past: a season and three rows of this regime."""
    passed = counters[ROWS] - counters[REGIME_START]
    return passed >= counters[SEASON] + PAST_ROWS


@inner_function
def is_yearly(counters):
    """1 if rows are so far apart that the time of the year counts, else 0."""
    steps = counters[TIMED_ROWS] - 1.0
    if steps < 1.0:
        return 0.0
    step = (counters[LAST_TIME] - counters[FIRST_TIME]) / steps
    return 1.0 if MIN_YEAR_STEP <= step <= MAX_YEAR_STEP else 0.0


@inner_function
def set_features(s, values, rows):
    """The features of the models in the row whose year and columns are values[1:].

    A missing one counts as its mean, a missing difference as 0.
    """
    c = s.counters
    t = int(c[ROWS])
    x, d = rows[VALUES], rows[DIFFERENCES]
    now = season_value(c, s.adjusted, t)
    before = season_value(c, s.adjusted, t - 1)
    y1 = s.adjusted[(t - 1) % PAST_VALUES]
    y2 = s.adjusted[(t - 2) % PAST_VALUES]
    y3 = s.adjusted[(t - 3) % PAST_VALUES]
    x[TREND], d[TREND] = t - c[MODEL_START], 0.0
    x[LAST], d[LAST] = y1 - before, y1 - y2
    x[LAST_BUT_ONE] = y2 - season_value(c, s.adjusted, t - 2)
    d[LAST_BUT_ONE] = y2 - y3
    x[SEASON_VALUE], d[SEASON_VALUE] = now, now - before
    for j in range(1, values.size):
        is_year = j < FIRST_COLUMN and c[IS_YEARLY] == 0.0
        i, value = YEAR + j - 1, math.nan if is_year else values[j]
        x[i] = s.means[VALUES, i] if math.isnan(value) else value
        change = value - s.recent[(t - 1) % RECENT_ROWS, j]
        d[i] = 0.0 if math.isnan(change) else change
    for i in range(x.size - 1):
        rows[LEVEL, i] = x[i]
    rows[LEVEL, TREND] = 0.0


@inner_function
def factorise(weight, means, moments, lower):
    """The Cholesky factor of the features' moments; its last row is the target's.

    A feature that is constant, or follows from those before it, has a row of zeros.
    """
    n = moments.shape[0] - 1
    ridge = 1.0 + RIDGE / max(weight, 1.0)
    for i in range(n + 1):
        for j in range(min(i + 1, n)):
            is_year = YEAR <= i < OWN_FEATURES
            own_ridge = 1.0 + YEAR_RIDGE / max(weight, 1.0) if is_year else ridge
            rest = own_ridge * moments[i, i] if i == j else moments[i, j]
            for k in range(j):
                rest -= lower[i, k] * lower[j, k]
            if i == j:
                rounding = RELATIVE_ROUNDING * means[i]
                limit = DEPENDENT * ridge * moments[i, i] + weight * rounding**2
                lower[i, i] = math.sqrt(rest) if rest > limit else 0.0
            else:
                lower[i, j] = rest / lower[j, j] if lower[j, j] > 0.0 else 0.0


@inner_function
def forecast(weight, means, lower, row, whitened):
    """The forecast of a row, and √(1 + leverage).

    With L the factor, it is ȳ + (L⁻¹ M_xy)·(L⁻¹ (x - x̄)), the leverage the square of
    the second vector and 1/weight.
    """
    n = row.size - 1
    total, square = means[n], 1.0 + 1.0 / max(weight, 1.0)
    for i in range(n):
        rest = row[i] - means[i]
        for k in range(i):
            rest -= lower[i, k] * whitened[k]
        whitened[i] = rest / lower[i, i] if lower[i, i] > 0.0 else 0.0
        total += lower[n, i] * whitened[i]
        square += whitened[i] * whitened[i]
    return total, math.sqrt(square)


@inner_function
def column_effect(s, w, model):
    """What the columns add to the label of a row, by a model.

    The coefficients solve Lᵀ θ = L⁻¹ M_xy, whose right side is the factor's last row.
    """
    n = s.means.shape[1] - 1
    lower, theta, total = w.lower[model], w.coefficients, 0.0
    for i in range(n - 1, OWN_FEATURES - 1, -1):
        rest = lower[n, i]
        for k in range(i + 1, n):
            rest -= lower[k, i] * theta[k]
        theta[i] = rest / lower[i, i] if lower[i, i] > 0.0 else 0.0
        total += theta[i] * (w.rows[VALUES, i] - s.means[VALUES, i])
    return total


@inner_function
def learn(weight, means, moments, row, deviation):
    """Add a row, the target last, to means and moments; returns the weight after."""
    discount = 1.0 if weight < MEMORY else 1.0 - 1.0 / MEMORY
    after = discount * weight + 1.0
    part = discount * weight / after
    for i in range(row.size):
        deviation[i] = row[i] - means[i]
        means[i] += deviation[i] / after
    for i in range(row.size):
        for j in range(i + 1):
            product = deviation[i] * deviation[j]
            moments[i, j] = discount * moments[i, j] + part * product
    return after


@inner_function
def update_scales(degrees, scales, error):
    """Learn from a recursive residual; ``degrees`` of them came before."""
    square, size = error * error, abs(error)
    if degrees >= FIRST_ERRORS:
        limit = SCORE_LIMIT * SCORE_LIMIT * scales[ERROR_VARIANCE]
        square = min(square, limit) / LIMITED_SQUARE
        size = min(size, SIZE_LIMIT * scales[MEAN_SIZE])
    rate = 1.0 / min(degrees + 1.0, MEMORY)
    scales[ERROR_VARIANCE] += (square - scales[ERROR_VARIANCE]) * rate
    scales[MEAN_SIZE] += (size - scales[MEAN_SIZE]) * rate


@inner_function
def chosen_model(s):
    """The model whose errors are smaller so far; a trend must have shown its worth."""
    gain = 1.0 + TREND_ROWS / max(s.counters[DEGREES], 1.0)
    level = s.scales[LEVEL, ERROR_VARIANCE]
    trend = s.scales[VALUES, ERROR_VARIANCE]
    best = LEVEL if level < gain * trend else VALUES
    is_smaller = s.scales[DIFFERENCES, ERROR_VARIANCE] < s.scales[best, ERROR_VARIANCE]
    return DIFFERENCES if is_smaller else best


@inner_function
def error_scale(s, model):
    """The standard deviation of errors."""
    size = MIN_SCALE_RATIO * s.scales[model, MEAN_SIZE]
    return max(math.sqrt(s.scales[model, ERROR_VARIANCE]), size)


@inner_function
def least_scale(s):
    """The scale below which errors are no noise."""
    target = s.means.shape[1] - 1
    step_variance = s.moments[DIFFERENCES, target, target] / max(
        s.counters[WEIGHT], 1.0
    )
    last = s.past_values[(int(s.counters[ROWS]) - 1) % PAST_VALUES]
    rounding = RELATIVE_ROUNDING * abs(last)
    return max(NOISE_PART * math.sqrt(step_variance), rounding, TINY)


@inner_function
def target_base(s, model, row):
    """What is taken off a value to make the target of a model."""
    if model != DIFFERENCES:
        return row[SEASON_VALUE]
    last = s.past_values[(int(s.counters[ROWS]) - 1) % PAST_VALUES]
    return last + row[SEASON_VALUE]


@inner_function
def set_forecasts(s, w):
    """The features, forecasts and spreads of the models, by their factors."""
    weight = s.counters[WEIGHT]
    set_features(s, w.values, w.rows)
    for model in range(s.means.shape[0]):
        row = w.rows[model]
        deviation, spread = forecast(
            weight, s.means[model], w.lower[model], row, w.whitened
        )
        w.forecasts[model] = target_base(s, model, row) + deviation
        w.spreads[model] = spread
