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
moments, is solved for every row. One-step errors divided by √(1 + leverage) are
recursive residuals, which have one variance while nothing changes: Brown, Durbin &
Evans (1975), J. R. Stat. Soc. B 37.

The scale of errors is Huber's proposal 2, so that heavy tails hardly inflate it. An
outlier's error is limited to four standard deviations before it enters moments and
past values (a robust filter: Martin & Thomson 1982, Proc. IEEE 70).
"""

import math

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.cholesky import factorise_row, solve_column, solve_row
from thalweg.kernels.compiler.jit import inner_function

TREND_ROWS = 15.0
"""Minimum increase of the sum of squared errors without a trend, in error variances,
for the trend to be used: an unnecessary trend would follow a shift of the level."""
RIDGE = 4.0
"""Ridge of a feature in units of its variance: it counts as this number of rows without
information. Without it, the first errors of a model would mostly be overfitting."""
YEAR_RIDGE = 1.0
"""The same for the time of the year, whose cosines and sines are nearly dependent in
the first months: with more, they would not follow a slow cycle."""
DEPENDENT = 1e-9
"""Minimum share of a feature's variance that the features before it leave, else it is
linearly dependent on them."""
PAST_ROWS = 3
"""Number of rows at the start of a regime that only serve as past values."""
SEASONS = 8
"""Limit of the number of seasons in the mean that is a season's value."""
SCORE_LIMIT = 3.0
"""Limit of errors, in standard deviations."""
LIMITED_SQUARE = 0.9950
"""E min(z², 9) of a standard normal z."""
FIRST_ERRORS = 8
"""Number of errors from which the scales start; later ones are limited."""
SIZE_LIMIT, MIN_SCALE_RATIO = 20.0, 0.5
"""Limit of an error in the mean |error|, in units of that mean; and minimum of the
scale, in the same units. They matter where most values are equal, such as zeros: the
robust variance above would ignore all others."""
NOISE_PART = 0.1
"""Minimum of the scale, in units of the standard deviation of y_t - y_{t-1}: smaller
errors are not noise, but those of a model that still learns."""
MIN_YEAR_STEP, MAX_YEAR_STEP = 1 / 800, 1 / 20
"""Minimum and maximum number of years between rows, such as daily and weekly ones, that
have features of the time of year. The memory of hourly rows is shorter than a year;
months have a season of twelve rows."""
RELATIVE_ROUNDING, TINY = 1e-12, 1e-200
"""Limit of deviations that count as rounding errors, in units of the mean."""


@inner_function
def season_value(counters, adjusted, row):
    """The mean of the values one season, two seasons, … before; 0 without a season."""
    season = int(counters[layout.SEASON])
    known = row - int(counters[layout.REGIME_START])
    if season == 0 or known < season:
        return 0.0
    count = min(SEASONS, known // season, (layout.PAST_VALUES - PAST_ROWS) // season)
    total = 0.0
    for k in range(1, count + 1):
        total += adjusted[(row - k * season) % layout.PAST_VALUES]
    return total / count


@inner_function
def set_season_prior(s):
    """Set the prior of the season's coefficient: as if it had repeated ``RIDGE`` rows.

    Else the first rows, such as working days that differ little in their season's
    value, would determine the coefficient for the rest of the season.
    """
    c = s.counters
    season, t = int(c[layout.SEASON]), int(c[layout.ROWS])
    mean, square, steps = 0.0, 0.0, 0.0
    for k in range(1, season + 1):
        value = s.adjusted[(t - k) % layout.PAST_VALUES]
        step = value - s.adjusted[(t - k - 1) % layout.PAST_VALUES]
        mean += value / season
        square += value * value
        steps += step * step
    if season > 0:
        variance = max(square / season - mean * mean, 0.0)
        s.moments[layout.VALUES, layout.SEASON_VALUE, layout.SEASON_VALUE] = (
            RIDGE * variance
        )
        s.moments[layout.LEVEL, layout.SEASON_VALUE, layout.SEASON_VALUE] = (
            RIDGE * variance
        )
        s.moments[layout.DIFFERENCES, layout.SEASON_VALUE, layout.SEASON_VALUE] = (
            RIDGE * steps / season
        )


@inner_function
def has_features(counters):
    """Whether the row has a past: a season and three rows of this regime."""
    passed = counters[layout.ROWS] - counters[layout.REGIME_START]
    return passed >= counters[layout.SEASON] + PAST_ROWS


@inner_function
def is_yearly(counters):
    """1 if rows are so far apart that the time of the year counts, else 0."""
    steps = counters[layout.TIMED_ROWS] - 1.0
    if steps < 1.0:
        return 0.0
    step = (counters[layout.LAST_TIME] - counters[layout.FIRST_TIME]) / steps
    return 1.0 if MIN_YEAR_STEP <= step <= MAX_YEAR_STEP else 0.0


@inner_function
def set_features(s, values, rows):
    """The features of the models in the row whose year and columns are values[1:].

    A missing one counts as its mean, a missing difference as 0.
    """
    c = s.counters
    t = int(c[layout.ROWS])
    x, d = rows[layout.VALUES], rows[layout.DIFFERENCES]
    now = season_value(c, s.adjusted, t)
    before = season_value(c, s.adjusted, t - 1)
    y1 = s.adjusted[(t - 1) % layout.PAST_VALUES]
    y2 = s.adjusted[(t - 2) % layout.PAST_VALUES]
    y3 = s.adjusted[(t - 3) % layout.PAST_VALUES]
    x[layout.TREND], d[layout.TREND] = t - c[layout.MODEL_START], 0.0
    x[layout.LAST], d[layout.LAST] = y1 - before, y1 - y2
    x[layout.LAST_BUT_ONE] = y2 - season_value(c, s.adjusted, t - 2)
    d[layout.LAST_BUT_ONE] = y2 - y3
    x[layout.SEASON_VALUE], d[layout.SEASON_VALUE] = now, now - before
    for j in range(1, values.size):
        is_year = j < layout.FIRST_COLUMN and c[layout.IS_YEARLY] == 0.0
        i, value = layout.YEAR + j - 1, math.nan if is_year else values[j]
        x[i] = s.means[layout.VALUES, i] if math.isnan(value) else value
        change = value - s.recent[(t - 1) % layout.RECENT_ROWS, j]
        d[i] = 0.0 if math.isnan(change) else change
    for i in range(x.size - 1):
        rows[layout.LEVEL, i] = x[i]
    rows[layout.LEVEL, layout.TREND] = 0.0


@inner_function
def factorise(weight, means, moments, lower):
    """The Cholesky factor of the features' moments; its last row is the target's.

    A feature that is constant, or follows from those before it, has a row of zeros.
    """
    n = moments.shape[0] - 1
    ridge = 1.0 + RIDGE / max(weight, 1.0)
    for i in range(n + 1):
        for j in range(min(i + 1, n)):
            lower[i, j] = moments[i, j]
        limit = 0.0
        if i < n:
            is_year = layout.YEAR <= i < layout.OWN_FEATURES
            own_ridge = 1.0 + YEAR_RIDGE / max(weight, 1.0) if is_year else ridge
            lower[i, i] = own_ridge * moments[i, i]
            rounding = RELATIVE_ROUNDING * means[i]
            limit = DEPENDENT * ridge * moments[i, i] + weight * rounding**2
        factorise_row(lower, i, n, limit)


@inner_function
def forecast(weight, means, lower, row, whitened):
    """The forecast of a row, and √(1 + leverage).

    With L the factor, it is ȳ + (L⁻¹ M_xy)·(L⁻¹ (x - x̄)), the leverage the square of
    the second vector and 1/weight.
    """
    n = row.size - 1
    total, square = means[n], 1.0 + 1.0 / max(weight, 1.0)
    for i in range(n):
        whitened[i] = solve_row(lower, i, row[i] - means[i], whitened)
        total += lower[n, i] * whitened[i]
        square += whitened[i] * whitened[i]
    return total, math.sqrt(square)


@inner_function
def column_effect(s, w, model):
    """The effect of the columns on the label of a row, as a model estimates it.

    The coefficients solve Lᵀ θ = L⁻¹ M_xy, whose right side is the factor's last row.
    """
    n = s.means.shape[1] - 1
    lower, theta, total = w.lower[model], w.coefficients, 0.0
    for i in range(n - 1, layout.OWN_FEATURES - 1, -1):
        theta[i] = solve_column(lower, i, n, lower[n, i], theta)
        total += theta[i] * (w.rows[layout.VALUES, i] - s.means[layout.VALUES, i])
    return total


@inner_function
def learn(weight, means, moments, row, deviation):
    """Add a row, the target last, to means and moments; returns the weight after."""
    discount = 1.0 if weight < layout.MEMORY else 1.0 - 1.0 / layout.MEMORY
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
        limit = SCORE_LIMIT * SCORE_LIMIT * scales[layout.ERROR_VARIANCE]
        square = min(square, limit) / LIMITED_SQUARE
        size = min(size, SIZE_LIMIT * scales[layout.MEAN_SIZE])
    rate = 1.0 / min(degrees + 1.0, layout.MEMORY)
    scales[layout.ERROR_VARIANCE] += (square - scales[layout.ERROR_VARIANCE]) * rate
    scales[layout.MEAN_SIZE] += (size - scales[layout.MEAN_SIZE]) * rate


@inner_function
def chosen_model(s):
    """The model with the smaller errors so far; one with a trend needs an advantage."""
    gain = 1.0 + TREND_ROWS / max(s.counters[layout.DEGREES], 1.0)
    level = s.scales[layout.LEVEL, layout.ERROR_VARIANCE]
    trend = s.scales[layout.VALUES, layout.ERROR_VARIANCE]
    best = layout.LEVEL if level < gain * trend else layout.VALUES
    is_smaller = (
        s.scales[layout.DIFFERENCES, layout.ERROR_VARIANCE]
        < s.scales[best, layout.ERROR_VARIANCE]
    )
    return layout.DIFFERENCES if is_smaller else best


@inner_function
def error_scale(s, model):
    """The standard deviation of errors."""
    size = MIN_SCALE_RATIO * s.scales[model, layout.MEAN_SIZE]
    return max(math.sqrt(s.scales[model, layout.ERROR_VARIANCE]), size)


@inner_function
def least_scale(s):
    """The minimum of the scale: smaller errors are not noise."""
    target = s.means.shape[1] - 1
    step_variance = s.moments[layout.DIFFERENCES, target, target] / max(
        s.counters[layout.WEIGHT], 1.0
    )
    last = s.past_values[(int(s.counters[layout.ROWS]) - 1) % layout.PAST_VALUES]
    rounding = RELATIVE_ROUNDING * abs(last)
    return max(NOISE_PART * math.sqrt(step_variance), rounding, TINY)


@inner_function
def target_base(s, model, row):
    """What is subtracted from a value to give the target of a model."""
    if model != layout.DIFFERENCES:
        return row[layout.SEASON_VALUE]
    last = s.past_values[(int(s.counters[layout.ROWS]) - 1) % layout.PAST_VALUES]
    return last + row[layout.SEASON_VALUE]


@inner_function
def set_forecasts(s, w):
    """The features, forecasts and spreads of the models, by their factors."""
    weight = s.counters[layout.WEIGHT]
    set_features(s, w.values, w.rows)
    for model in range(s.means.shape[0]):
        row = w.rows[model]
        deviation, spread = forecast(
            weight, s.means[model], w.lower[model], row, w.whitened
        )
        w.forecasts[model] = target_base(s, model, row) + deviation
        w.spreads[model] = spread
