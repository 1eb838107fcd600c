"""The search for a season that the reference models lack.

With V_l half the variance of y_t - y_{t-l}, about what a model with a season of l rows
would leave, the season is the l at which V_l is clearly below the mean squared error of
the present model in the same rows. A random walk has V_l = l/2 times that, and so no
season.
"""

import math

from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.reference_model import chosen_model, error_scale
from thalweg.kernels.compiler.jit import inner_function

MIN_SEASON = 4
"""Minimum length of a season in rows: autoregressions produce shorter cycles."""
SEASON_COUNT = 3
"""Minimum number of seasons in the rows before a season is adopted."""
MIN_GAIN, MIN_DEVIATIONS = 0.33, 5.0
"""Minimum relative reduction of the mean squared error by V_l, and the same in units of
1/√(number of rows)."""
PREFERENCE = 0.5
"""Minimum share of the best lag's gain: the shortest season with at least this share is
adopted, since multiples of a season are about as good."""
MIN_REPEATED, REPEATED = 12, 2.0
"""Values repeat after a lag if at least this number of rows, and a quarter of the lag,
have a mean squared difference of at most ``REPEATED`` times that of noise."""
DIFFERENCE_LIMIT = 9.0
"""Limit of a squared difference, in units of the mean of two squared errors."""


@inner_function
def is_search_row(rows):
    """Whether a season is searched for after this row: 32, 64, … 1024, 2048, 3072."""
    return rows >= 32 and (rows % layout.SEARCHED_ROWS == 0 or rows & (rows - 1) == 0)


@inner_function
def season_ratio(values, squares, rows, count, lag):
    """V of this lag over the mean squared error of the model, in the same rows.

    Rows without an error, whose square is negative, are skipped. 1 if too few remain.
    """
    mean, errors, total, number = 0.0, 0.0, 0.0, 0
    for t in range(rows - count + lag, rows):
        square = squares[t % layout.SEARCHED_ROWS]
        earlier = squares[(t - lag) % layout.SEARCHED_ROWS]
        if square >= 0.0 and earlier >= 0.0:
            mean += (
                values[t % layout.PAST_VALUES] - values[(t - lag) % layout.PAST_VALUES]
            )
            errors += square + earlier
            number += 1
    if errors == 0.0 or number < (SEASON_COUNT - 1) * lag:
        return 1.0
    mean /= number
    limit = DIFFERENCE_LIMIT * errors / number
    for t in range(rows - count + lag, rows):
        square = squares[t % layout.SEARCHED_ROWS]
        earlier = squares[(t - lag) % layout.SEARCHED_ROWS]
        if square >= 0.0 and earlier >= 0.0:
            step = (
                values[t % layout.PAST_VALUES]
                - values[(t - lag) % layout.PAST_VALUES]
                - mean
            )
            total += min(step * step, limit)
    return total / errors


@inner_function
def find_season(counters, values, squares, ratios):
    """The season to use in place of the present one; 0: no other."""
    rows = int(counters[layout.ROWS])
    count = min(rows, layout.SEARCHED_ROWS)
    longest = min(count // SEASON_COUNT, layout.MAX_SEASON)
    if longest < MIN_SEASON:
        return 0
    highest = 1.0 - max(MIN_GAIN, MIN_DEVIATIONS / math.sqrt(count))
    lowest = highest
    for lag in range(MIN_SEASON - 1, longest + 1):
        ratios[lag] = season_ratio(values, squares, rows, count, lag)
        if lag >= MIN_SEASON:
            lowest = min(lowest, ratios[lag])
    enough = lowest + (1.0 - PREFERENCE) * (highest - lowest)
    for lag in range(MIN_SEASON, longest):
        is_least = ratios[lag] <= min(ratios[lag - 1], ratios[lag + 1])
        if is_least and ratios[lag] < highest and ratios[lag] <= enough:
            return 0 if lag == int(counters[layout.SEASON]) else lag
    return 0


@inner_function
def remember_alarm(s, statistic, onset):
    """Remember an alarm in place of the oldest."""
    for i in range(layout.RECURRENT_ALARMS - 1, 0, -1):
        for k in range(2):
            s.alarms[i, k] = s.alarms[i - 1, k]
    line = min(statistic, layout.OWN_STATISTICS)
    if layout.IS_LEVEL[line]:  # small and large shifts are of the same kind
        statistic = layout.SMALL_DOWN if layout.IS_DOWN[line] else layout.SMALL_UP
    s.alarms[0, 0], s.alarms[0, 1] = onset, statistic + 1


@inner_function
def recurrence(s):
    """The distance of alarms that recur, such as those of every week-end; 0: no such.

    An alarm of the same kind must precede the last one by that distance. And either
    another pair of alarms is as far apart, within one row, or all values repeat those
    of the same number of rows before.
    """
    season = 0
    for i in range(layout.RECURRENT_ALARMS - 1, 0, -1):
        distance = s.alarms[0, 0] - s.alarms[i, 0]
        is_same = s.alarms[i, 1] == s.alarms[0, 1]
        if is_same and MIN_SEASON < distance < layout.MAX_SEASON:
            lag = _nearest_lag(s, int(distance))
            if _has_pair(s, distance) or _repeats(s, lag):
                season = lag
    return 0 if season == int(s.counters[layout.SEASON]) else season


@inner_function
def _has_pair(s, distance):
    """Whether two of the alarms before this one have this distance, within one row."""
    for i in range(1, layout.RECURRENT_ALARMS):
        for j in range(i + 1, layout.RECURRENT_ALARMS):
            is_same = s.alarms[i, 1] == s.alarms[j, 1] and s.alarms[j, 1] > 0.0
            if is_same and abs(s.alarms[i, 0] - s.alarms[j, 0] - distance) <= 1.0:
                return True
    return False


@inner_function
def _repeats(s, lag):
    """Whether the last values differ from those a lag before by no more than noise."""
    rows = int(s.counters[layout.ROWS])
    first = max(rows - lag, lag)
    noise = error_scale(s, chosen_model(s))
    is_enough = rows - first >= max(lag // 4, MIN_REPEATED)
    return is_enough and _mean_square(s, lag, first) < REPEATED * 2.0 * noise * noise


@inner_function
def _nearest_lag(s, season):
    """The lag at which values are most alike: the season or one row less or more."""
    rows, best, least = int(s.counters[layout.ROWS]), 0, math.inf
    for lag in range(season - 1, season + 2):
        square = _mean_square(s, lag, max(rows - season, lag))
        if square < least:
            best, least = lag, square
    return best


@inner_function
def _mean_square(s, lag, first):
    """The mean of squared differences over a lag, from a row on."""
    rows, total = int(s.counters[layout.ROWS]), 0.0
    for t in range(first, rows):
        step = (
            s.adjusted[t % layout.PAST_VALUES]
            - s.adjusted[(t - lag) % layout.PAST_VALUES]
        )
        total += step * step
    return total / max(rows - first, 1)
