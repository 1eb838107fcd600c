"""Means of rows by half-hours of the clock, for series of many rows a day.

Where a day has hundreds of rows, its course is too slow and too long for a model of
single rows: half-hours have a season of 48, and the noise of a mean.
"""

from typing import NamedTuple

import numpy as np

from thalweg.evaluation.change_detector import AlarmTimes
from thalweg.preprocessing.row_clock import Stamps
from thalweg.preprocessing.time_grid import TimeGrid
from thalweg.preprocessing.weekdays import DAY
from thalweg.types import FloatArray

SECOND, MINUTE = DAY // 86_400, DAY // 1440
MIN_STEP = 10 * SECOND
"""Rows that come more often are not averaged: recordings of some hours would be too
short to see anything in them."""
MIN_NOISE_ROWS = 2
"""Fewer values in a half-hour do not tell its noise."""
ROW, LABEL, FIRST_COLUMN = range(3)
"""A row of a block: its number and its value; then the columns."""


class ClockBlock(NamedTuple):
    """The rows of a half-hour, all of which have come."""

    time: int  # its start, in nanoseconds since 1970
    first_row: float  # the numbers of its first row, and of the one that comes next
    next_row: float
    mean: float  # of the known values, NaN without any
    noise: float  # standard deviation, by differences of neighbours; NaN of a few
    columns: FloatArray  # (p,) means
    texts: AlarmTimes  # of the next row and of its first one


def block_length(grid: TimeGrid | None) -> int:
    """The length of blocks in nanoseconds; 0 where rows are taken one by one.

    A block is half an hour if that has two rows, else an hour.
    """
    if grid is None or grid.months or grid.weekdays:
        return 0
    if not MIN_STEP <= grid.step < 30 * MINUTE:
        return 0
    return 30 * MINUTE if grid.step <= 15 * MINUTE else 60 * MINUTE


def split_blocks(starts: Stamps) -> list[slice]:
    """Which rows (T,), whose blocks start then, are in one; the last may go on."""
    stops = [*(np.flatnonzero(np.diff(starts)) + 1).tolist(), len(starts)]
    return [slice(*pair) for pair in zip([0, *stops], stops, strict=False)]


def mean_block(
    rows: FloatArray, start: int, next_row: float, texts: AlarmTimes
) -> ClockBlock:
    """The block of these rows (T, 2 + p), whose half-hour starts then."""
    labels = rows[:, LABEL]
    known = labels[~np.isnan(labels)]
    noise = np.nan
    if len(known) >= MIN_NOISE_ROWS:
        noise = float(np.sqrt(np.mean(np.diff(known) ** 2) / 2))
    return ClockBlock(
        start,
        float(rows[0, ROW]),
        next_row,
        float(known.mean()) if len(known) else np.nan,
        noise,
        np.array([_known_mean(column) for column in rows[:, FIRST_COLUMN:].T]),
        texts,
    )


def _known_mean(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else np.nan
