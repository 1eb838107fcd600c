"""Change alarms of rows that have times: absent rows, and days of hundreds of rows.

The detector (change_detector.py) counts rows, and knows seasons of up to 512. Times
tell which rows are absent, which then count as rows without a value; and where rows are
10 seconds to less than 30 minutes apart, they are read twice:

- by means of half-hours of the clock, in which all kinds of change are found;
- one by one, for changes that no course of a day explains: steps of the level within a
  few rows, and a noise that doubles. Either has to go beyond what each half-hour of
  the last two days had. They are told within some rows, not some half-hours.
"""

import math
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.evaluation.absent_rows import rows_on_grid
from thalweg.evaluation.change_detector import (
    YEAR_SECONDS,
    AlarmTimes,
    ChangeDetector,
    ChangeSnapshot,
    FoundChange,
    TimeTexts,
)
from thalweg.evaluation.change_words import change_kind
from thalweg.evaluation.clock_blocks import (
    LABEL,
    ROW,
    SECOND,
    ClockBlock,
    block_length,
    mean_block,
    split_blocks,
)
from thalweg.evaluation.day_course import (
    COURSE_BLOCKS,
    COURSE_FIELDS,
    NEXT_ROW,
    TIME,
    has_come_with_week,
    is_beyond_course,
    noise_change,
    with_block,
)
from thalweg.evaluation.study import ChangeAlarm
from thalweg.kernels.change_detector.detector_layout import (
    ALARM_ONSET,
    ALARM_ROW,
)
from thalweg.persistence.snapshots import MAX_COUNT, Array, Component, Condition
from thalweg.preprocessing.past_check import is_possible_clock
from thalweg.preprocessing.row_clock import (
    NO_TIME,
    WEEKDAY_ROWS,
    RowClock,
    Stamps,
)
from thalweg.preprocessing.time_grid import TimeGrid
from thalweg.preprocessing.weekdays import DAY
from thalweg.types import FloatArray

YEAR = YEAR_SECONDS * 1e9
"""The mean year of the calendar, in nanoseconds."""
SAME_BLOCKS, SAME_NOISE_BLOCKS = 6, 24
"""A change that the rows have told is told again by half-hours that begin, as they
see it, so near to it: a change of noise is seen less exactly."""


class TimedSnapshot(NamedTuple):
    """All that a change detector of rows with times remembers."""

    clock: RowClock
    by_row: ChangeSnapshot  # which lists all alarms
    by_block: ChangeSnapshot  # of the means of half-hours
    by_noise: ChangeSnapshot  # of their noise
    waiting: FloatArray  # (w, 2 + p) rows of a block that goes on, or the first 24
    waiting_texts: tuple[str, ...]  # their times; of a block that of its first row
    block_time: float  # the block that goes on, seconds since 1970; NaN: none does
    course: FloatArray  # (≤ COURSE_BLOCKS, COURSE_FIELDS) of the last half-hours


class TimedChangeDetector(Component):
    """Alarms of one target, whose rows may have times.

    ``columns`` are the given columns of numbers, as for ``ChangeDetector``. The first
    24 rows wait until they have shown the grid of times.
    """

    Snapshot: ClassVar[Any] = TimedSnapshot

    def __init__(self, columns: int) -> None:
        self.by_row, self.by_block = ChangeDetector(columns), ChangeDetector(columns)
        self.by_noise = ChangeDetector(0)
        self.clock = RowClock()
        self.waiting: FloatArray = np.empty((0, 2 + self.by_row.columns))
        self.waiting_texts: tuple[str, ...] = ()
        self.block_time = math.nan
        self.course: FloatArray = np.empty((0, COURSE_FIELDS))

    @property
    def total(self) -> int:
        """How many alarms there were."""
        return self.by_row.total

    def alarms(self, names: Any) -> tuple[ChangeAlarm, ...]:
        """The newest alarms; ``names`` are those of the columns."""
        return self.by_row.alarms(names)

    def add(
        self, y: FloatArray, columns: FloatArray, rows: FloatArray,
        times: TimeTexts | None, stamps: Stamps | None,
    ) -> None:  # fmt: skip
        """Look at the next rows, as ``ChangeDetector`` takes them.

        ``stamps`` (T,) are their local times in nanoseconds since 1970, ``NO_TIME``
        where missing; None where rows have none, as all others then have.
        """
        if stamps is None:
            self.by_row.add(y, columns, rows, times)
            return
        p = self.by_row.columns
        given = np.column_stack([rows, y, columns[:, :p]])
        texts = ("",) * len(y) if times is None else tuple(times(0, len(y)))
        held = min(max(WEEKDAY_ROWS - self.clock.rows, 0), len(y))
        if held:
            self.clock = self.clock.advance(stamps[:held])[0]
            self.waiting = np.vstack([self.waiting, given[:held]])
            self.waiting_texts += texts[:held]
            if self.clock.rows == WEEKDAY_ROWS:
                first = self.waiting, self.waiting_texts
                self.waiting, self.waiting_texts = self.waiting[:0].copy(), ()
                self._play(*first, np.array(self.clock.first_times, np.int64), NO_TIME)
        if held < len(y):
            last_time = int(self.clock.last_time)
            self.clock, filled = self.clock.advance(stamps[held:])
            self._play(given[held:], texts[held:], filled, last_time)

    def rules(self, snapshot: TimedSnapshot) -> Iterator[tuple[str, Any]]:
        """Sizes are those of so many columns, and of the rows that wait."""
        clock, p = snapshot.clock, self.by_row.columns
        is_possible = type(clock.rows) is int and is_possible_clock(clock, clock.rows)
        yield "clock", Condition(is_possible, "the times of rows")
        count = len(snapshot.waiting)
        yield "waiting", Array((count, 2 + p), may_be_nan=True)
        is_first = clock.rows < WEEKDAY_ROWS
        right = count == clock.rows if is_first else count <= MAX_COUNT
        right = right and bool(np.isfinite(snapshot.waiting[:, ROW]).all())
        yield "waiting", Condition(right, "the rows that wait")
        texts = count if is_first else min(count, 1)
        right = len(snapshot.waiting_texts) == texts
        yield "waiting_texts", Condition(right, f"{texts} times")
        length = min(len(snapshot.course), COURSE_BLOCKS)
        yield "course", Array((length, COURSE_FIELDS), may_be_nan=True)
        known = snapshot.course[:, [NEXT_ROW, TIME]]
        yield "course", Condition(bool(np.isfinite(known).all()), "rows and times")

    def _play(
        self, given: FloatArray, texts: tuple[str, ...], stamps: Stamps, last_time: int
    ) -> None:
        """Look at rows (T, 2 + p), once their grid is known."""
        rows = rows_on_grid(self.clock.grid, last_time, stamps)
        values = rows.values(given)
        found = self.by_row.find(
            values[:, LABEL], values[:, LABEL + 1 :], given[rows.present, ROW],
            lambda start, stop: [texts[t] for t in rows.present[start:stop]],
            rows.times / YEAR,
        )  # fmt: skip
        if not block_length(self.clock.grid):
            self.by_row.list_changes(found)
            return
        by_block = list[FoundChange]()
        for block in self._finished_blocks(given, texts, stamps):
            by_block += self._find_by_block(block)
        both = [(one, True) for one in found] + [(one, False) for one in by_block]
        for one, is_row in sorted(both, key=lambda pair: pair[0].record[ALARM_ROW]):
            if self._is_new(one.record, is_row):
                self.by_row.list_changes([one])
        self.course = self.course[-COURSE_BLOCKS:].copy()

    def _finished_blocks(
        self, given: FloatArray, texts: tuple[str, ...], stamps: Stamps
    ) -> list[ClockBlock]:
        """The blocks that these rows end: each ends with the first row of another."""
        old, length = len(self.waiting), block_length(self.clock.grid)
        starts = stamps - stamps % length
        if old:
            given = np.vstack([self.waiting, given])
            starts = np.append(np.full(old, round(self.block_time) * SECOND), starts)
            texts = self.waiting_texts * old + texts
        *finished, last = split_blocks(starts)
        self.waiting = given[last].copy()
        self.block_time = float(starts[last.start] / SECOND)
        self.waiting_texts = texts[last.start : last.start + 1]
        return [
            mean_block(
                given[part], int(starts[part.start]), float(given[part.stop, ROW]),
                AlarmTimes(alarm=texts[part.stop], onset=texts[part.start]),
            )
            for part in finished
        ]  # fmt: skip

    def _find_by_block(self, block: ClockBlock) -> list[FoundChange]:
        """Changes that the last block shows; they are told in the next row."""
        length, last_time = block_length(self.clock.grid), NO_TIME
        if len(self.course):
            last_time = round(self.course[-1, TIME]) * SECOND
        stamps = np.array([block.time], np.int64)
        rows = rows_on_grid(TimeGrid(0, length), last_time, stamps)
        self.course = with_block(self.course, block)
        found = list[FoundChange]()
        for detector, value, columns in (
            (self.by_block, block.mean, block.columns),
            (self.by_noise, block.noise, block.columns[:0]),
        ):
            changes = detector.find(
                rows.values(np.array([value])), rows.values(columns[None]),
                np.full(len(rows.present), block.first_row),
                lambda start, stop: [block.texts.onset] * (stop - start),
                rows.times / YEAR,
            )  # fmt: skip
            detector.take_season(DAY // length)
            for record, times in changes:
                record[ALARM_ROW] = block.next_row
                told = self._change_of_block(record, detector is self.by_noise)
                if told is not None:
                    alarm = times._replace(alarm=block.texts.alarm)
                    found.append(FoundChange(told, alarm))
        return found

    def _change_of_block(self, record: FloatArray, is_noise: bool) -> FloatArray | None:
        """The change that half-hours tell; None if it is none of its kind."""
        if is_noise:
            return noise_change(record, self.course)
        # Means of rows have the variance of slower changes, which may be the day's;
        # with columns it tells a relation that has changed.
        is_variance = change_kind(record) == "variance"
        return None if is_variance and not self.by_row.columns else record

    def _is_new(self, record: FloatArray, is_row: bool) -> bool:
        """Whether a change is to be listed, which rows tell, or half-hours."""
        records = self.by_row.records
        last_row = float(records[-1, ALARM_ROW]) if len(records) else 0.0
        course = self.course[self.course[:, NEXT_ROW] <= record[ALARM_ROW]]
        course = course[-COURSE_BLOCKS:]
        if is_row:
            return is_beyond_course(record, course[course[:, NEXT_ROW] > last_row])
        seconds = block_length(self.clock.grid) // SECOND
        if has_come_with_week(record, course, last_row, seconds):
            return False
        return not self._is_told(record)

    def _is_told(self, record: FloatArray) -> bool:
        """Whether an alarm is listed of the change that half-hours tell.

        A level that changes may change the noise as well, but is told in any case.
        """
        grid, records = self.clock.grid, self.by_row.records
        assert grid is not None
        blocks = SAME_BLOCKS
        if change_kind(record) == "variance":
            blocks = SAME_NOISE_BLOCKS
        else:
            is_noise = [change_kind(one) == "variance" for one in records]
            records = records[~np.array(is_noise, bool)]
        near = blocks * block_length(grid) / grid.step
        return bool((abs(records[:, ALARM_ONSET] - record[ALARM_ONSET]) <= near).any())
