"""The CUSUM statistics of the change detector, and their thresholds.

A score is the error of the chosen reference model in standard deviations, as a normal
score, limited to 3. A CUSUM statistic S ← max(0, S + a - k) grows where its input a is
above its allowance k for long; it started where it last left zero, which estimates the
onset of a change (Page 1954, Biometrika 41). The inputs:

- the score and its negative, for shifts of the level: k = 0.3 for small, 1 for large;
- the squared score, limited to 4, standardised by its own mean and variance so far, and
  its negative, for changes of variance whatever the distribution of errors is;
- the score times each column's deviation, standardised, and its negative, for changes
  of the relation to a column (a score test of its coefficient).

A shift of a random walk is one large error, and no input grows. So a jump of more than
``JUMP_LIMIT`` standard deviations that stays for ``JUMP_ROWS`` rows is an alarm, too.

Thresholds were set on stable streams of 100,000 rows (docs/change-alarms.md).

To add a kind of change: the lines of its statistics in ``STATISTICS`` and their names,
before that of the columns (detector_layout.py, where the version of STATE is raised); a
call of ``add`` for each in ``update_statistics``; its words in changes/change_words.py.
"""

import math

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.level_shift import rows_per_year
from thalweg.kernels.compiler.jit import inner_function

MIN_DEGREES = 12.0
"""Minimum number of errors that the scale is estimated from before rows are tested."""
SMALL_ALLOWANCE, LARGE_ALLOWANCE = 0.3, 1.0
UP_ALLOWANCE, MONTHS_UP_ALLOWANCE, DOWN_ALLOWANCE = 0.5, 0.65, 0.25
COLUMN_ALLOWANCE = 0.3
SQUARE_LIMIT = 4.0
NORMAL_SQUARE, NORMAL_SQUARE_VARIANCE = 0.9205, 1.233
"""Mean and variance of min(z², 4) of a standard normal z."""
MIN_SQUARE_VARIANCE, MIN_COLUMN_POWER = 0.6, 0.5
"""Minimum variance of squared scores, and minimum mean square of a column's scores.
Streams that are nearly always constant have less, and there a single error would raise
an alarm."""
PRIOR_ROWS = 20.0
"""Number of rows that the prior mean and variance count as: those of a normal score."""
COLUMN_LIMIT = 2.5
"""Limit of a column's deviation, in standard deviations."""
JUMP_LIMIT, JUMP_ROWS, JUMP_PART = 15.0, 7, 0.75
"""Minimum size of a jump in standard deviations, number of rows for which it must stay,
and the minimum share of it that every value in them must keep. An autoregression
returns from a large shock: with a coefficient of 0.9, to half in seven rows."""


@inner_function
def normal_score(t, degrees):
    """The normal score of a t statistic, by the approximation of Wallace (1959)."""
    corrected = (8 * degrees + 1) / (8 * degrees + 3)
    size = corrected * math.sqrt(degrees * math.log1p(t * t / degrees))
    return math.copysign(size, t)


@inner_function
def add(s, k, amount):
    """Add to a CUSUM statistic; its onset is the row in which it leaves zero."""
    if s.sums[k] <= 0.0:
        s.onsets[k] = s.counters[layout.ROWS]
    s.sums[k] = max(s.sums[k] + amount, 0.0)


@inner_function
def update_statistics(s, model, row, score, has_noise):
    """Add the score of a row, whose features ``row`` are those of ``model``.

    Without noise there is no variance that could change. Where rows are months, shifts
    of the level are detected in another way (level_shift.py), and falls of the variance
    are ignored: errors become smaller as models learn the year.
    """
    rate = 1.0 / (min(s.counters[layout.DEGREES], layout.MEMORY) + PRIOR_ROWS)
    if rows_per_year(s.counters) == 0:
        add(s, layout.SMALL_UP, score - SMALL_ALLOWANCE)
        add(s, layout.SMALL_DOWN, -score - SMALL_ALLOWANCE)
        add(s, layout.LARGE_UP, score - LARGE_ALLOWANCE)
        add(s, layout.LARGE_DOWN, -score - LARGE_ALLOWANCE)
    are_months = rows_per_year(s.counters) > 0
    if has_noise:
        allowance = MONTHS_UP_ALLOWANCE if are_months else UP_ALLOWANCE
        _update_variance_statistics(s, rate, score, allowance)
    if are_months:
        s.sums[layout.VARIANCE_DOWN] = 0.0
    for j in range(s.column_units.size):
        _update_column_statistics(s, model, row, rate, score, j)


@inner_function
def _update_variance_statistics(s, rate, score, up_allowance):
    c = s.counters
    deviation = min(score * score, SQUARE_LIMIT) - c[layout.SQUARE_MEAN]
    standard = deviation / math.sqrt(
        max(c[layout.SQUARE_VARIANCE], MIN_SQUARE_VARIANCE)
    )
    add(s, layout.VARIANCE_UP, standard - up_allowance)
    add(s, layout.VARIANCE_DOWN, -standard - DOWN_ALLOWANCE)
    c[layout.SQUARE_MEAN] += rate * deviation
    c[layout.SQUARE_VARIANCE] += rate * (
        deviation * deviation - c[layout.SQUARE_VARIANCE]
    )


@inner_function
def _update_column_statistics(s, model, row, rate, score, j):
    i = layout.OWN_FEATURES + j
    variance = s.moments[model, i, i] / s.counters[layout.WEIGHT]
    z = (row[i] - s.means[model, i]) / math.sqrt(variance) if variance > 0.0 else 0.0
    product = score * min(max(z, -COLUMN_LIMIT), COLUMN_LIMIT)
    standard = product / math.sqrt(max(s.column_powers[j], MIN_COLUMN_POWER))
    add(s, layout.OWN_STATISTICS + 2 * j, standard - COLUMN_ALLOWANCE)
    add(s, layout.OWN_STATISTICS + 2 * j + 1, -standard - COLUMN_ALLOWANCE)
    s.column_powers[j] += rate * (product * product - s.column_powers[j])


@inner_function
def threshold(k, columns):
    """The threshold of statistic k.

    That of columns grows with the logarithm of their number, as the maximum of that
    many statistics does.
    """
    if k < layout.OWN_STATISTICS:
        return layout.THRESHOLDS[k]
    least = layout.THRESHOLDS[layout.OWN_STATISTICS]
    return least + math.log(columns) / (2 * COLUMN_ALLOWANCE)


@inner_function
def highest_statistic(s):
    """The statistic that is highest in units of its threshold, and that ratio.

    A change of level or relation makes errors larger as well. So a statistic of these
    has priority over that of variance if its ratio is at least half as high, and if it
    left zero at least half as long ago.
    """
    best, ratio, cause, cause_ratio = 0, 0.0, 0, 0.0
    for k in range(s.sums.size):
        part = s.sums[k] / threshold(k, s.column_units.size)
        if part > ratio:
            best, ratio = k, part
        if part > cause_ratio and k != layout.VARIANCE_UP and k != layout.VARIANCE_DOWN:
            cause, cause_ratio = k, part
    since = s.counters[layout.ROWS] - s.onsets[best]
    cause_since = s.counters[layout.ROWS] - s.onsets[cause]
    if (
        best == layout.VARIANCE_UP
        and 2 * cause_ratio >= ratio
        and 2 * cause_since >= since
    ):
        best = cause
    return best, ratio


@inner_function
def has_jump_stayed(s, y, error, scale):
    """Whether a jump of many standard deviations has stayed for ``JUMP_ROWS`` rows."""
    c = s.counters
    if c[layout.JUMP_ROW] > 0.0:
        part = (y - c[layout.JUMP_BASE]) / c[layout.JUMP_SIZE]
        if not JUMP_PART <= part <= 1.0 / JUMP_PART:
            c[layout.JUMP_ROW] = 0.0
        elif c[layout.ROWS] + 2 - c[layout.JUMP_ROW] >= JUMP_ROWS:
            return True
    if c[layout.JUMP_ROW] == 0.0 and abs(error) > JUMP_LIMIT * scale:
        c[layout.JUMP_ROW] = c[layout.ROWS] + 1
        c[layout.JUMP_BASE] = y - error
        c[layout.JUMP_SIZE] = error
    return False


@inner_function
def jump_statistic(s):
    """The statistic under which a jump is recorded; its onset is the jump's."""
    k = layout.LARGE_UP if s.counters[layout.JUMP_SIZE] > 0.0 else layout.LARGE_DOWN
    s.onsets[k] = s.counters[layout.JUMP_ROW] - 1
    return k
