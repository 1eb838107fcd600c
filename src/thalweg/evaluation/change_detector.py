"""Change alarms: where the level, trend, variance or relations of a target change.

Change detection is also known as change point detection, drift detection and the search
for structural breaks. The detector reads the target and the columns as they were given,
never features made of them, so that its alarms do not depend on what the learners are
shown. A reference model of its own forecasts each row, and CUSUM statistics of its
errors, calibrated to less than one false alarm in 100,000 rows, raise alarms
(kernels/change_detector; measured in docs/change-alarms.md). ADWIN, Page-Hinkley and
KSWIN are other methods for the job.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.evaluation.change_words import (
    ALARM_VALUES,
    LISTED_FIELDS,
    change_kind,
    change_text,
)
from thalweg.evaluation.study import ChangeAlarm
from thalweg.kernels.change_detector.detector import detect_changes
from thalweg.kernels.change_detector.detector_layout import (
    ALARM_FIELDS,
    ALARM_ONSET,
    ALARM_ROW,
    LEVEL_AFTER,
    LEVEL_BEFORE,
    MAX_SEASON,
    RECENT_ROWS,
    ROWS,
    SEASON,
    STATE,
    WORKSPACE,
)
from thalweg.kernels.change_detector.known_season import take_known_season
from thalweg.persistence.snapshots import (
    MAX_COUNT,
    Array,
    Component,
    Condition,
    Count,
)
from thalweg.preprocessing.summer_time import summer_times
from thalweg.types import FloatArray

MAX_COLUMNS = 16
"""The first so many columns are looked at: a row costs the cube of their number."""
MAX_ALARMS = 1000
"""Alarms that are listed: the newest. All are counted."""
YEAR_SECONDS = 365.2425 * 24 * 3600
"""The mean year of the calendar."""
PIECE = 4096
"""Rows that are looked at together."""

TimeTexts = Callable[[int, int], list[str]]
"""The times of rows as text, from a first position to before another."""


class AlarmTimes(NamedTuple):
    """When an alarm was raised, and when the change began; empty where rows lack it."""

    alarm: str
    onset: str


class FoundChange(NamedTuple):
    """An alarm of the kernel, that is not listed yet."""

    record: FloatArray  # (LISTED_FIELDS,) rows from 1
    times: AlarmTimes


class ChangeSnapshot(NamedTuple):
    """All that a change detector remembers."""

    total: int  # alarms so far
    buffer: FloatArray  # (size,) of the kernel; empty before the first row
    records: FloatArray  # (a, LISTED_FIELDS) of the newest alarms, rows from 1
    alarm_times: tuple[AlarmTimes, ...]  # of the same alarms
    recent_rows: FloatArray  # (≤ RECENT_ROWS,) the numbers of the last rows, from 1
    recent_times: tuple[str, ...]  # of the same rows


class ChangeDetector(Component):
    """Alarms of one target, from rows that come in pieces.

    ``columns`` are the given columns of numbers, of which the first 16 count. However
    the rows are cut, and whether or not a snapshot is restored between them, the alarms
    are the same to the last bit, in memory that does not grow with the rows.
    """

    Snapshot: ClassVar[Any] = ChangeSnapshot

    def __init__(self, columns: int) -> None:
        self.columns = min(columns, MAX_COLUMNS)
        self.total = 0
        self.buffer: FloatArray = np.empty(0)
        self.records: FloatArray = np.empty((0, LISTED_FIELDS))
        self.alarm_times: tuple[AlarmTimes, ...] = ()
        self.recent_rows: FloatArray = np.empty(0)
        self.recent_times: tuple[str, ...] = ()

    def add(
        self, y: FloatArray, columns: FloatArray, rows: Any = None,
        times: TimeTexts | None = None, years: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """Look at the next rows: labels (T,) or NaN, columns (T, p), NaN where missing.

        ``rows`` (T,) are their numbers, the first of all being 1; without them they go
        on from the last. ``times`` gives their times as text. ``years`` (T,) are their
        times in mean years of the calendar since 1970, NaN where unknown: with them,
        daily and weekly rows may have a yearly cycle, hourly ones summer time, and
        shifts of the level are found among few months or quarters.
        """
        self.list_changes(self.find(y, columns, rows, times, years))

    def find(
        self, y: FloatArray, columns: FloatArray, rows: Any = None,
        times: TimeTexts | None = None, years: FloatArray | None = None,
    ) -> list[FoundChange]:  # fmt: skip
        """The changes in the next rows, as ``add`` takes them, none of them listed."""
        if rows is None:
            last = self.recent_rows[-1] if len(self.recent_rows) else 0.0
            rows = last + np.arange(1, len(y) + 1)
        texts = times or _no_times
        if years is None:
            years = np.full(len(y), np.nan)
        found = list[FoundChange]()
        for start in range(0, len(y), PIECE):
            piece = slice(start, start + PIECE)

            def piece_texts(first: int, last: int, start: int = start) -> list[str]:
                return texts(start + first, start + last)

            found += self._find_in_piece(
                y[piece],
                columns[piece],
                np.asarray(rows)[piece],
                years[piece],
                piece_texts,
            )
        return found

    def take_season(self, season: int) -> None:
        """Take a season that is known beforehand, once three of them have shown it."""
        if not len(self.buffer):
            return
        buffer = self.buffer.copy()  # a snapshot may hold the one before
        take_known_season(buffer, season, self.columns)
        self.buffer = buffer

    def list_changes(self, found: Sequence[FoundChange]) -> None:
        """List changes as alarms, and count them."""
        self.total += len(found)
        records = [one.record for one in found]
        self.records = np.vstack([self.records, *records])[-MAX_ALARMS:]
        times = (one.times for one in found)
        self.alarm_times = (*self.alarm_times, *times)[-MAX_ALARMS:]

    def alarms(self, names: Sequence[str]) -> tuple[ChangeAlarm, ...]:
        """The newest alarms; ``names`` are those of the columns."""
        return tuple(
            ChangeAlarm(
                row=int(record[ALARM_ROW]),
                onset=int(record[ALARM_ONSET]),
                kind=change_kind(record),
                text=change_text(record, names),
                before=float(record[LEVEL_BEFORE]),
                after=float(record[LEVEL_AFTER]),
                time=times.alarm or None,
                onset_time=times.onset or None,
            )
            for record, times in zip(self.records, self.alarm_times, strict=True)
        )

    def rules(self, snapshot: ChangeSnapshot) -> Iterator[tuple[str, Any]]:
        """Sizes are those of so many columns and rows; the kernel's counters are in
        range, though what it has learnt may be anything."""
        size = STATE.size(columns=self.columns) if len(snapshot.buffer) else 0
        yield "buffer", Array((size,), may_be_nan=True)
        buffer = snapshot.buffer if size else self._new_buffer()
        counters = STATE.views(buffer, columns=self.columns).counters
        rows = float(counters[ROWS])
        is_right = np.isfinite(counters).all() and 0 <= rows <= MAX_COUNT
        is_right = is_right and rows == int(rows)
        is_right = is_right and 0 <= counters[SEASON] <= MAX_SEASON
        yield "buffer", Condition(is_right, "what a change detector remembers")
        listed, recent = min(snapshot.total, MAX_ALARMS), min(int(rows), RECENT_ROWS)
        yield "total", Count(int(rows))
        yield "records", Array((listed, LISTED_FIELDS))
        yield "alarm_times", Condition(len(snapshot.alarm_times) == listed, "as many")
        yield "recent_rows", Array((recent,), 1.0, float(MAX_COUNT), whole=True)
        is_equal = len(snapshot.recent_times) == recent
        yield "recent_times", Condition(is_equal, f"the times of {recent} rows")

    def _find_in_piece(
        self,
        y: FloatArray,
        columns: FloatArray,
        rows: FloatArray,
        years: FloatArray,
        times: TimeTexts,
    ) -> list[FoundChange]:
        known = np.append(self.recent_rows, rows)
        old, first = len(self.recent_rows), self._row_count() - len(self.recent_rows)
        found = list[FoundChange]()
        for values in self._detect(y, years, columns):
            # Positions among the rows known: those of before, then these.
            places = values[[ALARM_ROW, ALARM_ONSET]].astype(np.int64) - first
            record = np.append(values, 0.0)
            record[ALARM_VALUES] = places[0] - places[1] + 1
            record[[ALARM_ROW, ALARM_ONSET]] = known[places]
            texts = (
                self.recent_times[place]
                if place < old
                else times(place - old, place - old + 1)[0]
                for place in places.tolist()
            )
            found.append(FoundChange(record, AlarmTimes(*texts)))
        self.recent_rows = known[-RECENT_ROWS:].copy()
        newest = times(max(len(y) - RECENT_ROWS, 0), len(y))
        self.recent_times = (*self.recent_times, *newest)[-RECENT_ROWS:]
        return found

    def _detect(
        self, y: FloatArray, years: FloatArray, columns: FloatArray
    ) -> FloatArray:
        """Play rows in the kernel; the alarms, whose rows are counted from 0."""
        # A snapshot may hold the one before.
        buffer = self.buffer.copy() if len(self.buffer) else self._new_buffer()
        self.buffer = buffer
        work = np.zeros(WORKSPACE.size(columns=self.columns))
        records = np.zeros((len(y), ALARM_FIELDS))
        given = np.ascontiguousarray(columns[:, : self.columns], np.float64)
        labels = np.ascontiguousarray(y, np.float64)
        times = np.ascontiguousarray(years, np.float64)
        regions = summer_times(np.rint(times * YEAR_SECONDS))
        count = detect_changes(
            self.buffer, np.empty_like(self.buffer), work, labels, times, regions,
            given, records,
        )  # fmt: skip
        return records[:count]

    def _row_count(self) -> int:
        """The rows that the kernel has seen."""
        if not len(self.buffer):
            return 0
        return int(STATE.views(self.buffer, columns=self.columns).counters[ROWS])

    def _new_buffer(self) -> FloatArray:
        return np.zeros(STATE.size(columns=self.columns))


def _no_times(start: int, stop: int) -> list[str]:
    return [""] * (stop - start)
