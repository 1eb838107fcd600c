"""The practical size of a change: beside the swing of a season, small ones are none.

Where errors are small, a statistic tells changes that nobody would act on. Without a
season the swing of values is that of their errors, and there is no such change.
"""

import math

from thalweg.kernels.change_detector.alarm_record import (
    level_after,
    level_before,
    spread_after,
)
from thalweg.kernels.change_detector.detector_layout import (
    LARGE_DOWN,
    PAST_VALUES,
    REGIME_START,
    ROWS,
    SEASON,
    VARIANCE_DOWN,
)
from thalweg.kernels.change_detector.reference_model import chosen_model, error_scale
from thalweg.kernels.jit import inner_function

MIN_LEVEL_PART, MIN_SPREAD_PART = 0.1, 0.3
"""A change of the level, and of the standard deviation of errors, is at least this part
of the standard deviation of values in a season."""


@inner_function
def is_small(s, statistic, onset):
    """Whether a change is small beside the swing of the season."""
    season, end = int(s.counters[SEASON]), int(s.counters[ROWS])
    first = onset - season
    if season == 0 or statistic > VARIANCE_DOWN or first < s.counters[REGIME_START]:
        return False
    if statistic <= LARGE_DOWN:
        change = level_after(s, onset, end) - level_before(s, onset, end)
        part = MIN_LEVEL_PART
    else:
        change = spread_after(s, onset, end) - error_scale(s, chosen_model(s))
        part = MIN_SPREAD_PART
    mean, square = 0.0, 0.0
    for t in range(first, onset):
        value = s.past_values[t % PAST_VALUES]
        mean += value / season
        square += value * value / season
    return abs(change) < part * math.sqrt(max(square - mean * mean, 0.0))
