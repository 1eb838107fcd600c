"""The scale of labels: as they are, or their logarithms.

Where growth, seasons and noise multiply, errors are proportional to the level, and
logarithms have errors of one variance and seasons that do not grow. With Laplace errors
of size b the log-likelihood of n rows is -n log b, and that of errors b·level is
-n log b - Σ log level; the scale is the one with the higher likelihood (a choice of two
Box-Cox transformations: Box & Cox 1964, J. R. Stat. Soc. B 26).
"""

import math

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.change_statistics import highest_statistic
from thalweg.kernels.compiler.jit import inner_function

MIN_ADVANTAGE = 2.0
"""Minimum difference of log-likelihoods for a change to the other scale."""
SCALE_ROWS = 64
"""Number of rows between two choices of the scale."""
QUIET = 0.5
"""Limit of all statistics, as a share of their thresholds, for the scale to change:
rows of a change are no evidence for either scale."""
MIN_VALUE = 1e-60
"""Minimum of values in logarithms, in units of the first value."""


@inner_function
def is_scale_row(s):
    """Whether the scale is chosen again after this row."""
    return s.counters[layout.ROWS] % SCALE_ROWS == 0 and highest_statistic(s)[1] < QUIET


@inner_function
def is_other_scale_better(s, end):
    """Whether the last rows before ``end`` are likelier on the other scale.

    With columns, whose effects add up, labels stay as they are.
    """
    if s.column_units.size > 0 or not _has_logarithms(s):
        return False
    is_log = s.counters[layout.IS_LOGARITHMIC] > 0.0
    rows = int(s.counters[layout.ROWS])
    number, sizes, shares, logs = 0, 0.0, 0.0, 0.0
    for t in range(rows - min(rows, layout.SEARCHED_ROWS), end):
        value = s.past_values[t % layout.PAST_VALUES]
        square = s.past_squares[t % layout.SEARCHED_ROWS]
        if square >= 0.0:
            level = math.exp(value) if is_log else value
            size = math.sqrt(square)
            number += 1
            sizes += size * level if is_log else size
            shares += size if is_log else size / level
            logs += math.log(level)
    if number == 0 or sizes == 0.0:
        return False
    advantage = number * math.log(sizes / shares) - logs
    return (-advantage if is_log else advantage) > MIN_ADVANTAGE


@inner_function
def _has_logarithms(s):
    """Whether all values of the past are above 0, or are logarithms."""
    if s.counters[layout.IS_LOGARITHMIC] > 0.0:
        return True
    rows = int(s.counters[layout.ROWS])
    for t in range(rows - min(rows, layout.PAST_VALUES), rows):
        came = (
            s.recent[t % layout.RECENT_ROWS, 0]
            if t >= rows - layout.RECENT_ROWS
            else 1.0
        )
        if s.past_values[t % layout.PAST_VALUES] <= 0.0 or came <= 0.0:
            return False
    return True


@inner_function
def change_scale(s):
    """Convert past values and errors to the other scale."""
    is_log, rows = s.counters[layout.IS_LOGARITHMIC] > 0.0, int(s.counters[layout.ROWS])
    for t in range(rows - min(rows, layout.SEARCHED_ROWS), rows):
        value, place = s.past_values[t % layout.PAST_VALUES], t % layout.SEARCHED_ROWS
        level = math.exp(value) if is_log else max(value, MIN_VALUE)
        if s.past_squares[place] >= 0.0:
            factor = level if is_log else 1.0 / level
            s.past_squares[place] *= factor * factor
    for i in range(layout.PAST_VALUES):
        s.past_values[i] = _on_other_scale(s.past_values[i], is_log)
        s.adjusted[i] = s.past_values[i]
    for i in range(layout.RECENT_ROWS):
        s.recent[i, 0] = _on_other_scale(s.recent[i, 0], is_log)
        s.recent_errors[i] = 0.0
    s.counters[layout.IS_LOGARITHMIC] = 0.0 if is_log else 1.0
    s.counters[layout.SCALE_ROW] = rows


@inner_function
def _on_other_scale(value, is_log):
    if is_log:
        return math.exp(value)
    return value if math.isnan(value) else math.log(max(value, MIN_VALUE))
