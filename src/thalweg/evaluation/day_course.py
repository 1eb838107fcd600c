"""The course of days by half-hours: what is usual, and so no change."""

import numpy as np

from thalweg.evaluation.change_words import ALARM_VALUES, change_kind
from thalweg.evaluation.clock_blocks import ClockBlock
from thalweg.kernels.change_detector.detector_layout import (
    ALARM_STATISTIC,
    LEVEL_AFTER,
    LEVEL_BEFORE,
    SPREAD_AFTER,
    SPREAD_BEFORE,
    VARIANCE_DOWN,
    VARIANCE_UP,
)
from thalweg.types import FloatArray

MIN_STEP_ROWS, STEP_ROWS, MIN_STEP_SIZE = 4, 8, 4.0
"""A step of the level is seen after so many rows, and is so many standard deviations of
errors: no day of hundreds of rows moves so fast. Fewer rows than the first may be
outliers."""
NOISE_ROWS, MIN_NOISE_RATIO = 32, 2.0
"""Noise that becomes so many times larger is seen after so many rows at most."""
MIN_BLOCK_RATIO = 1.5
"""By half-hours noise has changed if its standard deviation is so many times larger,
or smaller."""
USUAL_BLOCKS = 96
"""Half-hours whose levels and noise are usual: those of two days."""
WEEK = 7 * 86_400
"""In seconds."""
QUIET = 4 * 86_400
"""So long after an alarm, what was a week before is no guide: that was another level. A
later alarm may be of the next week-end."""
WEEKLY_PART = 1 / 3
"""A level that differs from that of a week before by less than this part of the change
has come back with the weekday."""
NEXT_ROW, TIME, MEAN, NOISE = range(4)
"""What is remembered of a half-hour: the row that came next, its start in seconds since
1970, its level and its noise."""
COURSE_FIELDS = 4
COURSE_BLOCKS = 7 * 48 + USUAL_BLOCKS


def with_block(course: FloatArray, block: ClockBlock) -> FloatArray:
    """The course (b, 4) with another half-hour."""
    row = [block.next_row, block.time / 1e9, block.mean, block.noise]
    return np.vstack([course, row])


def is_beyond_course(record: FloatArray, course: FloatArray) -> bool:
    """Whether a change in rows is so abrupt, and goes so far, that it is none of a day.

    ``course`` (b, 4) are the half-hours that were over, since the last alarm.
    """
    before, after = record[SPREAD_BEFORE], record[SPREAD_AFTER]
    kind, values = change_kind(record), record[ALARM_VALUES]
    usual = course[-USUAL_BLOCKS:]
    if kind == "variance":
        is_rise = record[ALARM_STATISTIC] == VARIANCE_UP and values <= NOISE_ROWS
        noise = usual[~np.isnan(usual[:, NOISE]), NOISE]
        is_large = after > max(MIN_NOISE_RATIO * before, noise.max(initial=0.0))
        return bool(is_rise and is_large)
    level = record[LEVEL_AFTER]
    size = abs(level - record[LEVEL_BEFORE])
    is_abrupt = kind == "level" and MIN_STEP_ROWS <= values <= STEP_ROWS
    if not is_abrupt or size < MIN_STEP_SIZE * before:
        return False
    means = usual[~np.isnan(usual[:, MEAN]), MEAN]
    return not (means.size and means.min() <= level <= means.max())


def has_come_with_week(
    record: FloatArray, course: FloatArray, last_row: float, seconds: int
) -> bool:
    """Whether what half-hours tell was so in the same half-hours a week before.

    ``course`` (b, 4) are all that were over; each has so many seconds. The last alarm
    was in ``last_row``; 0 without any.
    """
    kind = change_kind(record)
    if kind == "relation" or not len(course):
        return False
    quiet = course[course[:, NEXT_ROW] > last_row, TIME]
    if last_row and not (len(quiet) and course[-1, TIME] - quiet[0] >= QUIET):
        return False
    fields = (SPREAD_BEFORE, SPREAD_AFTER, NOISE)
    if kind != "variance":
        fields = (LEVEL_BEFORE, LEVEL_AFTER, MEAN)
    before, after, field = fields
    last = course[-1, TIME] - WEEK
    first = last - (record[ALARM_VALUES] - 1) * seconds
    is_same = (course[:, TIME] >= first) & (course[:, TIME] <= last)
    values = course[is_same & ~np.isnan(course[:, field]), field]
    if not len(values):
        return False
    size = abs(record[after] - record[before])
    return bool(abs(record[after] - values.mean()) < WEEKLY_PART * size)


def noise_change(record: FloatArray, course: FloatArray) -> FloatArray | None:
    """A change of the level of noise as one of the variance; None if it is small.

    ``course`` are the half-hours until then, of which the last ones have the change.
    """
    before, after = record[LEVEL_BEFORE], record[LEVEL_AFTER]
    is_level = change_kind(record) == "level"
    if not is_level or max(before, after) < MIN_BLOCK_RATIO * min(before, after):
        return None
    changed = record.copy()
    changed[ALARM_STATISTIC] = VARIANCE_UP if after > before else VARIANCE_DOWN
    changed[SPREAD_BEFORE], changed[SPREAD_AFTER] = max(before, 0.0), max(after, 0.0)
    since = max(len(course) - int(record[ALARM_VALUES]), 1)
    levels = (course[:since][-USUAL_BLOCKS:, MEAN], course[since:, MEAN])
    for field, level in zip((LEVEL_BEFORE, LEVEL_AFTER), levels, strict=True):
        known = level[~np.isnan(level)]
        changed[field] = known.mean() if len(known) else 0.0
    return changed
