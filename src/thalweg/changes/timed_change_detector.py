"""Change alarms of rows that have times: absent rows, and days of hundreds of rows.

The detector (change_detector.py) counts rows, and knows seasons of up to 512. Times
show which rows are absent; these count as rows without a value. Where rows are 10
seconds to less than 30 minutes apart, a day is too long for it and is known row by row
(kernels/change_detector/daily_steps.py): abrupt steps of the level are found once two
days are known. All other changes are found in the differences from the week before,
once there is one. A change of the level ends the week that rows are compared with.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.calendar.row_clock import (
    GRID_ROWS,
    NO_TIME,
    RowClock,
    Stamps,
)
from thalweg.calendar.row_places import rows_on_grid
from thalweg.calendar.summer_time import summer_times
from thalweg.calendar.time_grid import TimeGrid
from thalweg.calendar.weekdays import DAY
from thalweg.changes.alarms import ChangeAlarm
from thalweg.changes.change_detector import (
    YEAR_SECONDS,
    ChangeDetector,
    ChangeSnapshot,
    FoundChange,
    TimeTexts,
)
from thalweg.changes.change_words import ALARM_VALUES, change_kind
from thalweg.kernels.change_detector import daily_layout
from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.daily_steps import WINDOW, find_daily_steps
from thalweg.persistence.snapshots import Component
from thalweg.rules import Array, Condition, Count, Packed
from thalweg.types import FloatArray

WEEK_SECONDS = 7 * 86_400
YEAR = YEAR_SECONDS * 1e9
"""The mean year of the calendar, in nanoseconds."""
MIN_STEP, MAX_STEP = DAY // 8640, DAY // 48
"""Minimum step between rows whose day is known row by row, which takes memory, and the
step from which on a day is a season that the detector finds itself."""
MIN_NOISE_RATIO = 1.5
"""Minimum ratio of standard deviations for a change of the noise."""
STUCK_ROWS = 5
"""Minimum number of equal values in a row for a sensor to count as stuck."""
ROW, LABEL, FIRST_COLUMN = range(3)
"""Fields of a row: its number, its value, then the columns."""


DAYS, NO_DAYS = Packed(daily_layout.STATE, "{'day': day}"), Array((0,))
DAY_ROWS = f"int(days[{daily_layout.ROWS}]) if len(days) else 0"
WAITING_COUNT = f"clock.rows if clock.rows < {GRID_ROWS} else 0"
WAITING = Array(
    (WAITING_COUNT, f"{FIRST_COLUMN} + component.by_row.columns"), may_be_nan=True
)
NUMBERED = Condition("np.isfinite(waiting[:, ROW]).all()", "rows with numbers")
TEXTS = Condition("len(waiting_texts) == len(waiting)", "as many as rows that wait")


class TimedSnapshot(NamedTuple):
    """The state of a change detector of rows with times."""

    clock: RowClock
    by_row: ChangeSnapshot  # which lists all alarms
    # (size,) of the kernel of daily steps; empty without one
    days: Annotated[FloatArray, "DAYS if day else NO_DAYS"]
    # The first row that later ones are compared with, from 0.
    reference_start: Annotated[int, Count(DAY_ROWS)]
    # (w, 2 + p) the first 24 rows, while they wait
    waiting: Annotated[FloatArray, WAITING, NUMBERED]
    waiting_texts: Annotated[tuple[str, ...], TEXTS]  # their times

    @property
    def day(self) -> int:
        """The number of rows in a day, where these are known row by row; else 0."""
        is_first = self.clock.rows < GRID_ROWS
        return 0 if is_first else rows_per_day(self.clock.grid)


class TimedChangeDetector(Component):
    """Alarms of one target, whose rows may have times.

    ``columns`` are the given columns of numbers, as for ``ChangeDetector``. The first
    24 rows wait until they have shown the grid of times.
    """

    Snapshot: ClassVar[Any] = TimedSnapshot

    def __init__(self, columns: int) -> None:
        self.by_row = ChangeDetector(columns)
        self.clock = RowClock()
        self.days: FloatArray = np.empty(0)
        self.reference_start = 0
        self.waiting: FloatArray = np.empty((0, FIRST_COLUMN + self.by_row.columns))
        self.waiting_texts: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of alarms."""
        return self.by_row.total

    def alarms(self, names: Any) -> tuple[ChangeAlarm, ...]:
        """The newest alarms; ``names`` are those of the columns."""
        return self.by_row.alarms(names)

    def add(
        self, y: FloatArray, columns: FloatArray, rows: FloatArray,
        times: TimeTexts | None, stamps: Stamps | None,
    ) -> None:  # fmt: skip
        """Test and learn the next rows; arguments as for ``ChangeDetector``.

        ``stamps`` (T,) are their local times in nanoseconds since 1970, ``NO_TIME``
        where missing; None if the rows of this stream have no times.
        """
        if stamps is None:
            self.by_row.add(y, columns, rows, times)
            return
        p = self.by_row.columns
        given = np.column_stack([rows, y, columns[:, :p]])
        texts = ("",) * len(y) if times is None else tuple(times(0, len(y)))
        held = min(max(GRID_ROWS - self.clock.rows, 0), len(y))
        if held:
            self.clock = self.clock.advance(stamps[:held])[0]
            self.waiting = np.vstack([self.waiting, given[:held]])
            self.waiting_texts += texts[:held]
            if self.clock.rows == GRID_ROWS:
                first = self.waiting, self.waiting_texts
                self.waiting, self.waiting_texts = self.waiting[:0].copy(), ()
                self._play(*first, np.array(self.clock.first_times, np.int64), NO_TIME)
        if held < len(y):
            last_time = int(self.clock.last_time)
            self.clock, filled = self.clock.advance(stamps[held:])
            self._play(given[held:], texts[held:], filled, last_time)

    def _play(
        self, given: FloatArray, texts: tuple[str, ...], stamps: Stamps, last_time: int
    ) -> None:
        """Test and learn rows (T, 2 + p), once their grid is known."""
        rows = rows_on_grid(self.clock.grid, last_time, stamps)
        values = rows.values(given)
        values[:, ROW] = given[rows.present, ROW]

        def row_texts(start: int, stop: int) -> list[str]:
            return [texts[t] for t in rows.present[start:stop]]

        if rows_per_day(self.clock.grid):
            self._play_days(values, row_texts, rows.times)
        else:
            self.by_row.add(
                values[:, LABEL], values[:, FIRST_COLUMN:], values[:, ROW], row_texts,
                rows.times / YEAR,
            )  # fmt: skip

    def _play_days(
        self, given: FloatArray, texts: TimeTexts, times: FloatArray
    ) -> None:
        """Test and learn rows (T, 2 + p) whose day is known row by row."""
        steps, played = self._find_steps(given[:, LABEL])
        seconds = np.rint(times / 1e9)
        clocks = summer_times(seconds), summer_times(seconds - WEEK_SECONDS)
        # A week later, a clock that has shifted since then has moved the daily course.
        played.noises[clocks[0] != clocks[1]] = np.nan
        start = 0
        for step in steps:
            end = int(step[layout.ALARM_ROW]) + 1
            start = self._find_until(given, texts, played, start, end - played.first)
            change = self.by_row.make_change(step, end, given[:0, ROW], texts)
            if not self._is_listed(change.record):
                self.by_row.list_changes([change])
            self._end_reference(int(step[layout.ALARM_ONSET]))
        self._find_until(given, texts, played, start, len(given))

    def _find_steps(self, labels: FloatArray) -> tuple[FloatArray, "PlayedRows"]:
        """Abrupt steps of the level, and what later rows are compared with."""
        day = rows_per_day(self.clock.grid)
        if not len(self.days):
            self.days = np.zeros(daily_layout.STATE.size(day=day))
        before = daily_layout.STATE.views(self.days, day=day)
        first = int(before.counters[daily_layout.ROWS])
        days = self.days.copy()  # a snapshot may hold the one before
        references, noises = np.empty((2, len(labels)))
        records = np.zeros((len(labels), layout.ALARM_FIELDS))
        count = find_daily_steps(
            days, np.empty(daily_layout.KEPT_ROWS), day, np.ascontiguousarray(labels),
            references, noises, records,
        )  # fmt: skip
        oldest = -(first % daily_layout.KEPT_ROWS)
        played = PlayedRows(
            first,
            np.append(np.roll(before.recent, oldest), labels),
            np.append(np.roll(before.references, oldest), references),
            noises,
        )
        self.days = days
        return records[:count], played

    def _find_until(
        self, given: FloatArray, texts: TimeTexts, played: "PlayedRows", start: int,
        stop: int,
    ) -> int:  # fmt: skip
        """Changes in differences from the week before, before ``stop``, its return."""
        while start < stop:
            start = self._find_differences(given, texts, played, start, stop)
        return stop

    def _find_differences(
        self, given: FloatArray, texts: TimeTexts, played: "PlayedRows", start: int,
        stop: int,
    ) -> int:  # fmt: skip
        """Changes in differences from the week before, in rows from ``start`` on.

        Returns the row after a change of the level, which ends that week; without one,
        ``stop``.
        """
        earlier = self.by_row.buffer, self.by_row.recent_rows, self.by_row.recent_times
        found = self._find_in_rows(given, texts, played, start, stop)
        numbers = given[:stop, ROW]
        for k, (record, times) in enumerate(found):
            row = int(np.searchsorted(numbers, record[layout.ALARM_ROW], "right")) - 1
            is_level = _is_level(record)
            if is_level and row + 1 < stop:
                # Rows after it are compared with another week.
                by_row = self.by_row
                by_row.buffer, by_row.recent_rows, by_row.recent_times = earlier
                found = self._find_in_rows(given, texts, played, start, row + 1)
            record, times = found[k]
            first = row + 1 - int(record[ALARM_VALUES])
            change = FoundChange(played.in_values(record, first, row), times)
            if _is_large(change.record) and not self._is_listed(change.record):
                self.by_row.list_changes([change])
            if is_level:
                self._end_reference(played.first + first)
                return row + 1
        return stop

    def _find_in_rows(
        self, given: FloatArray, texts: TimeTexts, played: "PlayedRows", start: int,
        stop: int,
    ) -> list[FoundChange]:  # fmt: skip
        differences = played.differences(start, stop)
        week = daily_layout.WEEK * rows_per_day(self.clock.grid) + WINDOW // 2
        differences[: max(self.reference_start + week - played.first - start, 0)] = (
            np.nan
        )
        return self.by_row.find(
            differences, given[start:stop, FIRST_COLUMN:], given[start:stop, ROW],
            lambda one, other: texts(start + one, start + other),
        )  # fmt: skip

    def _end_reference(self, onset: int) -> None:
        """Compare rows with none before a change of the level."""
        self.reference_start = max(onset, self.reference_start)
        self.by_row.buffer = np.empty(0)

    def _is_listed(self, record: FloatArray) -> bool:
        """Whether the last alarm is of the same change of the level.

        Such a change is larger noise as well.
        """
        if not len(self.by_row.records) or change_kind(record) == "relation":
            return False
        last = self.by_row.records[-1]
        distance = abs(record[layout.ALARM_ONSET] - last[layout.ALARM_ONSET])
        if distance >= 2 * WINDOW or not _is_level(last):
            return False
        return not _is_level(record) or _is_rise(record) == _is_rise(last)


class PlayedRows(NamedTuple):
    """Rows whose day is known, after the last 256 before them."""

    first: int  # the number of rows before them
    values: FloatArray  # (256 + T,)
    references: FloatArray  # (256 + T,) their values a week before
    noises: FloatArray  # (T,) standard deviations

    def differences(self, start: int, stop: int) -> FloatArray:
        """Differences from the week before, in units of the noise."""
        rows = slice(daily_layout.KEPT_ROWS + start, daily_layout.KEPT_ROWS + stop)
        return (self.values[rows] - self.references[rows]) / self.noises[start:stop]

    def in_values(self, record: FloatArray, first: int, row: int) -> FloatArray:
        """A record of differences, of rows from ``first`` to ``row``, in values.

        The levels are medians of these rows and of the week before, all of which
        occurred.
        """
        rows = slice(daily_layout.KEPT_ROWS + first, daily_layout.KEPT_ROWS + row + 1)
        values, changed = self.values[rows], record.copy()
        values = values[~np.isnan(values)]
        before = self.references[rows]
        changed[layout.LEVEL_BEFORE] = _median(before[~np.isnan(before)])
        changed[layout.LEVEL_AFTER] = _median(values)
        for field in (layout.SPREAD_BEFORE, layout.SPREAD_AFTER, layout.TREND_CHANGE):
            changed[field] *= self.noises[row]
        if len(values) >= STUCK_ROWS and values.min() == values.max():
            changed[layout.SPREAD_AFTER] = 0.0
        return changed


def rows_per_day(grid: TimeGrid | None) -> int:
    """The number of rows in a day that is known row by row; 0 where it is not."""
    if grid is None or grid.months or grid.weekdays:
        return 0
    return round(DAY / grid.step) if MIN_STEP <= grid.step < MAX_STEP else 0


def _is_level(record: FloatArray) -> bool:
    return change_kind(record) in ("level", "trend")


def _is_rise(record: FloatArray) -> bool:
    return bool(record[layout.LEVEL_AFTER] > record[layout.LEVEL_BEFORE])


def _is_large(record: FloatArray) -> bool:
    """Whether a change is no small one of the noise."""
    spreads = record[[layout.SPREAD_BEFORE, layout.SPREAD_AFTER]]
    is_variance = change_kind(record) == "variance"
    return not is_variance or bool(spreads.max() >= MIN_NOISE_RATIO * spreads.min())


def _median(values: FloatArray) -> float:
    """The lower median, a value that occurred."""
    return float(np.sort(values)[(len(values) - 1) // 2])
