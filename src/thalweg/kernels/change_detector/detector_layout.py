"""The layout of the change detector's state and of its workspace.

The one dimension is ``columns``, the number of given columns of numbers. Rows are
counted from 0; values are in units of their own, powers of two.
"""

from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels.compiler.layout import FINITE, Layout, Shape, whole

Array = np.ndarray

# Features of a reference model: the row's number, the last two values less their
# season, the season's value, two harmonics of the time of the year; then the given
# columns.
TREND, LAST, LAST_BUT_ONE, SEASON_VALUE, YEAR = range(5)
YEAR_FEATURES = 4
OWN_FEATURES = YEAR + YEAR_FEATURES
FIRST_COLUMN = 1 + YEAR_FEATURES
"""Position of the first column in a row's values, which are its label, the cosines and
sines of the time of year, and the columns."""

# The reference models: of values, of their differences, of values without a trend.
VALUES, DIFFERENCES, LEVEL = 0, 1, 2
MODELS = 3


class Statistic(NamedTuple):
    """What a CUSUM statistic says of the change that it signals, and its threshold."""

    kind: str  # that changes/change_words.py has words for
    is_down: bool
    threshold: float


STATISTICS = (
    Statistic("level", False, 21.0), Statistic("level", True, 21.0),  # small shifts
    Statistic("level", False, 9.9), Statistic("level", True, 9.9),  # large shifts
    Statistic("variance", False, 18.0), Statistic("variance", True, 20.0),
    Statistic("relation", False, 30.0),  # each column's, up and then down
)  # fmt: skip
"""The last line is that of statistic ``OWN_STATISTICS`` and of all after it."""
SMALL_UP, SMALL_DOWN, LARGE_UP, LARGE_DOWN, VARIANCE_UP, VARIANCE_DOWN = range(6)
OWN_STATISTICS = len(STATISTICS) - 1
# The columns of the table, for kernels.
IS_LEVEL = np.array([one.kind == "level" for one in STATISTICS])
IS_VARIANCE = np.array([one.kind == "variance" for one in STATISTICS])
IS_DOWN = np.array([one.is_down for one in STATISTICS])
THRESHOLDS = np.array([one.threshold for one in STATISTICS])

MEMORY = 2000.0
"""Limit of the effective number of rows in the reference models: drift that is slower
than this is not a change."""
RECENT_ROWS = 256
"""Number of recent rows kept unchanged, for the models to learn from after a change."""
PAST_VALUES = 2048
"""Number of past values kept for the season's means."""
SEARCHED_ROWS = 1024
"""Number of recent rows searched for a season."""
RECURRENT_ALARMS = 16
"""Number of recent alarms kept, to find alarms that recur."""
MAX_SEASON = 512
"""Limit of a season's length in rows."""
MAX_PERIOD = 13
"""Limit of the number of rows in a year (rows of four weeks) for which shifts of the
level are detected by level_shift.py instead of CUSUM statistics."""
EARLIER_SHIFTS = 4
"""Number of recent alarms whose shifts level_shift.py includes in its regression."""
PHIS = 7
"""Number of autoregressive coefficients that level_shift.py tries."""

# counters
ROWS = 0  # rows seen
MODEL_START = 1  # the row from which the models learn
REGIME_START = 2  # the row from which on there was no change
WEIGHT = 3  # discounted number of rows learnt
DEGREES = 4  # errors that the scales were estimated from, up to twice the memory
SEASON = 5  # in rows; 0: none
LABEL_UNIT = 6  # what labels are divided by; 0: not known yet
JUMP_ROW = 7  # one more than the row of a jump that may stay; 0: none
JUMP_BASE, JUMP_SIZE = 8, 9  # the forecast of that row, and its error
SQUARE_MEAN, SQUARE_VARIANCE = 10, 11  # of squared scores, limited
FIRST_TIME, LAST_TIME, TIMED_ROWS = 12, 13, 14  # in years; rows that had a time
IS_YEARLY = 15  # 1 if the models use the time of the year
IS_LOGARITHMIC = 16  # 1 if labels are taken as their logarithms
SCALE_ROW = 17  # the row after which the scale of labels last changed
ROW_STEP, LAST_STEP = 18, 19  # years between rows: last repeated step, last step
CLOCK_REGIONS = 20  # regions with summer time in the last row, as bits
COUNTERS = 21
LEGAL_COUNTERS = {...: FINITE, ROWS: whole(2**53), SEASON: whole(MAX_SEASON)}

# The last shift of each region's clock.
SHIFT_ROW, SHIFT_HOURS = 0, 1  # one more than its first row, 0: none; 1 or -1
CLOCK_RULES = 4
"""Number of regions whose rules of summer time are known. An hour that the times skip
or repeat is stored behind them."""

# The scales of each model: a robust variance of one-step errors, and the mean |error|.
ERROR_VARIANCE, MEAN_SIZE = 0, 1
SCALES = 2

# What is recorded of an alarm.
ALARM_ROW = 0  # in which it is raised
ALARM_ONSET = 1  # the first row of the change
ALARM_STATISTIC = 2  # the CUSUM statistic that raised it, which gives its kind
LEVEL_BEFORE, LEVEL_AFTER = 3, 4
SPREAD_BEFORE, SPREAD_AFTER = 5, 6  # standard deviations of one-step errors; the
# second is 0 where all values since the onset are the same
TREND_CHANGE = 7  # per row; 0 where a step explains the errors better than a slope
ALARM_FIELDS = 8


class DetectorViews(NamedTuple):
    """What the change detector remembers."""

    counters: Annotated[Array, Shape(COUNTERS, legal=LEGAL_COUNTERS)]
    column_units: Annotated[Array, Shape("columns")]  # 0: not known yet
    # Of each model: means of the features and of the target, and their centred moments.
    means: Annotated[Array, Shape(MODELS, "columns + 9")]
    moments: Annotated[Array, Shape(MODELS, "columns + 9", "columns + 9")]
    scales: Annotated[Array, Shape(MODELS, SCALES)]
    column_powers: Annotated[Array, Shape("columns")]  # mean squares of column scores
    # CUSUM statistics, and the row in which each last left zero.
    sums: Annotated[Array, Shape(f"2 * columns + {OWN_STATISTICS}")]
    onsets: Annotated[Array, Shape(f"2 * columns + {OWN_STATISTICS}")]
    # Row r is at r mod RECENT_ROWS: its values as received, and the error.
    recent: Annotated[Array, Shape(RECENT_ROWS, "columns + 5")]
    recent_errors: Annotated[Array, Shape(RECENT_ROWS)]
    # Onset and statistic, counted from 1, of the last alarms, the newest first.
    alarms: Annotated[Array, Shape(RECURRENT_ALARMS, 2)]
    # Values without the excess of outliers; and less the effects of the columns.
    past_values: Annotated[Array, Shape(PAST_VALUES)]
    adjusted: Annotated[Array, Shape(PAST_VALUES)]
    past_squares: Annotated[Array, Shape(SEARCHED_ROWS)]  # of errors; -1: no error
    clock_shifts: Annotated[Array, Shape(CLOCK_RULES + 1, 2)]


class DetectorWorkspace(NamedTuple):
    """Arrays to work in during a row."""

    values: Annotated[Array, Shape("columns + 5")]  # label, year, columns of the row
    rows: Annotated[Array, Shape(MODELS, "columns + 9")]  # features, then the target
    lower: Annotated[Array, Shape(MODELS, "columns + 9", "columns + 9")]
    forecasts: Annotated[Array, Shape(MODELS)]
    spreads: Annotated[Array, Shape(MODELS)]  # √(1 + leverage)
    whitened: Annotated[Array, Shape("columns + 9")]
    deviation: Annotated[Array, Shape("columns + 9")]
    coefficients: Annotated[Array, Shape("columns + 8")]
    ratios: Annotated[Array, Shape(MAX_SEASON + 1)]
    # Of recent rows that are months: their numbers, values and features, which are at
    # most 13 months, a trend, the columns, and 4 shifts with the trends since; the
    # features less φ times those of the row before, and the residuals for each φ.
    places: Annotated[Array, Shape(RECENT_ROWS)]
    series: Annotated[Array, Shape(RECENT_ROWS)]
    design: Annotated[Array, Shape(RECENT_ROWS, "columns + 22")]
    differences: Annotated[Array, Shape(RECENT_ROWS, "columns + 22")]
    residuals: Annotated[Array, Shape(PHIS, RECENT_ROWS)]
    lower_products: Annotated[Array, Shape("columns + 22", "columns + 22")]
    products: Annotated[Array, Shape("columns + 22")]


STATE = Layout(
    "change detector",
    DetectorViews,
    version=4,
    dimensions=("columns",),
    is_finite=False,
)
WORKSPACE = Layout(
    "change detector workspace", DetectorWorkspace, version=3, dimensions=("columns",)
)
