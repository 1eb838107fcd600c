"""Shifts of the level in monthly or sparser rows, where there are few of them.

A model that learns row by row follows a shift before its errors add up, where a year is
twelve rows. So all recent rows are fitted together, after each row, with a mean for
each month (or quarter), a trend, the given columns, the level and trend since each of
the last alarms, and noise that is an autoregression of order one: the least squares of
Cochrane & Orcutt (1949, J. Am. Stat. Assoc. 44) for each of a few coefficients φ. With
RSS the sum of squares, ν the degrees of freedom and D = ν log RSS - log(1 - φ²), the
statistic

    min D without a shift - min D with a shift

is a generalised likelihood ratio: the best fit without one, whatever its φ, against the
best one with a shift, whatever its φ and row. A random walk needs no shift, as a φ near
1 explains its steps; nor does growth that is a line in logarithms, as both fits may
take these in place of the values. Where a shift may have been, squares of the first fit
count as at most 9 of the second's variances, so that outliers are no shift.
"""

import math

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.cholesky import factorise_row, solve_column, solve_row
from thalweg.kernels.compiler.jit import inner_function

THRESHOLD = 4.85 * 4.85
"""Threshold of the statistic, which is about the square of a normal score; chosen on
stable monthly series."""
MIN_SHIFT_ROWS, MAX_SHIFT_ROWS = 6, 12
"""Minimum and maximum number of rows since the onset when a shift is detected."""
MIN_YEARS, MIN_ROWS_BEFORE, MIN_FREEDOM = 2, 12, 10
"""Minimum numbers of years and of rows before a shift, and of degrees of freedom."""
PHI = (0.0, 0.25, 0.5, 0.7, 0.85, 0.95, 0.99)
"""The autoregressive coefficients of the noise that are tried."""
SQUARE_LIMIT = 9.0
DEPENDENT, LEAST_PART, TINY = 1e-9, 1e-6, 1e-200
"""Minimum share of a feature's square that the features before it leave, else it is
linearly dependent on them; minimum of the noise, in units of the values' root mean
square; and minimum of any sum of squares."""


@inner_function
def rows_per_year(counters):
    """How many rows a year has; 0 where they are less than four weeks apart."""
    step = counters[layout.ROW_STEP]
    return max(round(1.0 / step), 1) if step * (layout.MAX_PERIOD + 0.5) > 1.0 else 0


@inner_function
def find_level_shift(s, w):
    """The first row of the new level, and the size of the shift; -1 without a shift."""
    period = rows_per_year(s.counters)
    if period == 0:
        return -1, 0.0
    count, features = _collect_rows(s, w, period)
    first = max(MIN_YEARS * period, MIN_ROWS_BEFORE, count - MAX_SHIFT_ROWS)
    for i in range(count):
        if w.places[i] <= s.alarms[0, 0] + MIN_SHIFT_ROWS and s.alarms[0, 1] > 0.0:
            first = max(first, i + 1)
    freedom = count - features - 2
    if freedom < MIN_FREEDOM or count < first + MIN_SHIFT_ROWS:
        return -1, 0.0
    best, least, place, size = math.inf, math.inf, 0, 0.0
    for scale in range(2):
        logs = _take_scale(s, w, count, scale == 1)
        if not math.isnan(logs):
            given, without, row, shift = _best_shift(w, count, features, first)
            jacobian = 2.0 * logs * freedom / count
            least = min(least, without + jacobian)
            if given + jacobian < best:
                best, place, size = given + jacobian, row, shift
    return (int(w.places[place]), size) if least - best > THRESHOLD else (-1, 0.0)


@inner_function
def _collect_rows(s, w, period):
    """Features of the recent rows that have a value and a time; how many of both."""
    c = s.counters
    end, columns = int(c[layout.ROWS]), s.column_units.size
    oldest = (
        s.alarms[layout.EARLIER_SHIFTS, 0]
        if s.alarms[layout.EARLIER_SHIFTS, 1] > 0.0
        else 0.0
    )
    count, given, shifts = 0, period + 1, 0
    while shifts < layout.EARLIER_SHIFTS and s.alarms[shifts, 1] > 0.0:
        shifts += 1
    for t in range(max(end - layout.RECENT_ROWS, int(oldest)), end):
        values = s.recent[t % layout.RECENT_ROWS]
        if math.isnan(values[0]) or math.isnan(values[1]):
            continue
        x = w.design[count]
        x[:] = 0.0
        time = (
            math.atan2(values[2], values[1]) / (2 * math.pi)
            - c[layout.FIRST_TIME] % 1.0
        )
        x[round(time * period) % period] = 1.0
        x[period] = (t - end) / layout.RECENT_ROWS
        for j in range(columns):
            x[given + j] = values[layout.FIRST_COLUMN + j]
        for k in range(shifts):
            since, j = t - s.alarms[k, 0], given + columns + 2 * k
            x[j] = 1.0 if since >= 0.0 else 0.0
            x[j + 1] = max(since, 0.0) / layout.RECENT_ROWS
        w.places[count] = t
        count += 1
    _fill_columns(w, count, given, given + columns)
    return count, given + columns + 2 * shifts


@inner_function
def _fill_columns(w, count, first, last):
    """Missing values of columns count as the mean of the others."""
    for j in range(first, last):
        total, known = 0.0, 0
        for i in range(count):
            if not math.isnan(w.design[i, j]):
                total += w.design[i, j]
                known += 1
        for i in range(count):
            if math.isnan(w.design[i, j]):
                w.design[i, j] = total / max(known, 1)


@inner_function
def _take_scale(s, w, count, is_log):
    """Set the values, or their logarithms; returns the sum of logarithms, or 0.

    NaN where there are no logarithms.
    """
    logs = 0.0
    for i in range(count):
        value = s.recent[int(w.places[i]) % layout.RECENT_ROWS, 0]
        if s.counters[layout.IS_LOGARITHMIC] > 0.0:
            value = math.exp(value)
        if is_log and value <= 0.0:
            return math.nan
        w.series[i] = math.log(value) if is_log else value
        logs += w.series[i] if is_log else 0.0
    return logs


@inner_function
def _best_shift(w, count, features, first):
    """D of the best fits with a shift and without, the shift's place and its size."""
    freedom, square = count - features - 2, 0.0
    for i in range(count):
        square += w.series[i] * w.series[i]
    least = freedom * LEAST_PART * LEAST_PART * square / count + TINY
    best, place, size, variance = math.inf, 0, 0.0, 0.0
    for k in range(len(PHI)):
        _fit(w, count, features, k)
        total = 0.0
        for i in range(count):
            total += w.residuals[k, i] * w.residuals[k, i]
        for row in range(first, count - MIN_SHIFT_ROWS + 1):
            cross, own = _shift_products(w, count, features, k, row)
            if own > DEPENDENT * count:
                rest = max(total - cross * cross / own, least)
                likelihood = freedom * math.log(rest) - math.log(1.0 - PHI[k] ** 2)
                if likelihood < best:
                    best, place, size = likelihood, row, cross / own
                    variance = rest / freedom
    without = math.inf
    for k in range(len(PHI)):
        total = 0.0
        for i in range(count):
            square = w.residuals[k, i] * w.residuals[k, i]
            total += min(square, SQUARE_LIMIT * variance) if i >= place else square
        likelihood = freedom * math.log(max(total, least))
        without = min(without, likelihood - math.log(1.0 - PHI[k] ** 2))
    return best, without, place, size


@inner_function
def _fit(w, count, features, k):
    """The residuals without a shift, of rows less φ times those before."""
    phi, x, y = PHI[k], w.differences, w.residuals[k]
    for j in range(features):
        x[0, j] = math.sqrt(1.0 - phi * phi) * w.design[0, j]
    y[0] = math.sqrt(1.0 - phi * phi) * w.series[0]
    for i in range(1, count):
        for j in range(features):
            x[i, j] = w.design[i, j] - phi * w.design[i - 1, j]
        y[i] = w.series[i] - phi * w.series[i - 1]
    _factorise_products(w, count, features)
    _take_off_features(w, count, features, y)


@inner_function
def _factorise_products(w, count, features):
    """The Cholesky factor of the features' products; zeros where one follows from
    others. Most features of a row are 0."""
    x, lower = w.differences, w.lower_products
    lower[:features, :features] = 0.0
    for t in range(count):
        for i in range(features):
            if x[t, i] != 0.0:
                for j in range(i + 1):
                    lower[i, j] += x[t, i] * x[t, j]
    for i in range(features):
        factorise_row(lower, i, features, DEPENDENT * lower[i, i])


@inner_function
def _take_off_features(w, count, features, values):
    """Subtract the least squares fit of the features from values."""
    b, x, lower = w.products, w.differences, w.lower_products
    b[:features] = 0.0
    for i in range(count):
        for j in range(features):
            b[j] += x[i, j] * values[i]
    for j in range(features):
        b[j] = solve_row(lower, j, b[j], b)
    for j in range(features - 1, -1, -1):
        b[j] = solve_column(lower, j, features, b[j], b)
    for i in range(count):
        for j in range(features):
            values[i] -= x[i, j] * b[j]


@inner_function
def _shift_products(w, count, features, k, row):
    """Of a shift from a row on: its product with the residuals, and its own square
    less what follows from the features."""
    after, b = 1.0 - PHI[k], w.products
    cross = w.residuals[k, row]
    own = 1.0 + after * after * (count - row - 1)
    for i in range(row + 1, count):
        cross += after * w.residuals[k, i]
    for j in range(features):
        rest = w.differences[row, j]
        for i in range(row + 1, count):
            rest += after * w.differences[i, j]
        b[j] = solve_row(w.lower_products, j, rest, b)
        own -= b[j] * b[j]
    return cross, own
