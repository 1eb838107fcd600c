"""The layout of what is remembered of rows with a daily course (daily_steps.py).

The one dimension is ``day``, the number of rows in a day. Rows are counted from 0.
"""

from typing import Annotated, NamedTuple

import numpy as np

from thalweg.kernels.compiler.layout import FINITE, Layout, Shape, whole

Array = np.ndarray

WEEK, KEPT_DAYS = 7, 9
"""Number of past days that a row is compared with, and number of days kept: of the day
of a week ago also the hour before it."""
KEPT_ROWS = 256
"""Number of recent rows of which values are kept: an onset is no further back."""
HOURS = 24
"""Number of parts of the day that have scales of their own."""
VALUES, LOGARITHMS = 0, 1
SCALES = 2
"""Contrasts are taken of values, and of logarithms for noise that grows with them."""

# counters
ROWS = 0  # rows seen
MEAN_SIZE = 1  # the mean of absolute medians, of the last two days
MEAN_ROWS = 2  # the discounted number of rows in it
LAST_ONSET = 3  # one more than the first row of the last step; 0: none
LAST_SIGN = 4  # 1 if that step was up, -1 if it was down
IS_SIGNED = 5  # 1 once a value was below 0: there are no logarithms
COUNTERS = 6
LEGAL_COUNTERS = {...: FINITE, ROWS: whole(2**53)}


class DailyViews(NamedTuple):
    """What is remembered of rows with a daily course."""

    counters: Annotated[Array, Shape(COUNTERS, legal=LEGAL_COUNTERS)]
    # Row r is at r mod the length: its value, what it is compared with, and the median
    # of the seven rows until it.
    recent: Annotated[Array, Shape(KEPT_ROWS)]
    references: Annotated[Array, Shape(KEPT_ROWS)]
    medians: Annotated[Array, Shape(KEPT_DAYS, "day")]
    # By hour of the day: sums of absolute deviations of contrasts from those of other
    # days, and of differences between neighbours; then discounted numbers of rows.
    deviations: Annotated[Array, Shape(SCALES, HOURS, 2)]
    differences: Annotated[Array, Shape(HOURS, 2)]
    # In each hour of the last days, day d at d mod the length: the largest contrast up
    # and down, and the largest deviation in scales.
    contrasts: Annotated[Array, Shape(SCALES, 2, KEPT_DAYS, HOURS)]
    extremes: Annotated[Array, Shape(SCALES, KEPT_DAYS, HOURS)]


STATE = Layout(
    "daily course", DailyViews, version=1, dimensions=("day",), is_finite=False
)
