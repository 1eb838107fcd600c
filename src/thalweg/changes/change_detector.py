"""Change alarms: where the level, trend, variance or relations of a target change.

Change detection is also known as change point detection, drift detection and the search
for structural breaks. The detector uses the target and the columns as they were given,
never derived features, so that its alarms do not depend on the learners' features. A
reference model of its own forecasts each row, and CUSUM statistics of its errors,
calibrated to less than one false alarm in 100,000 rows, raise alarms
(kernels/change_detector; measured in docs/change-alarms.md). Other methods are ADWIN,
Page-Hinkley and KSWIN.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.calendar.summer_time import summer_times
from thalweg.changes.alarms import ChangeAlarm
from thalweg.changes.change_words import (
    ALARM_VALUES,
    LISTED_FIELDS,
    change_kind,
    change_text,
)
from thalweg.kernels.change_detector import detector_layout as layout
from thalweg.kernels.change_detector.detector import detect_changes
from thalweg.persistence.snapshots import Component
from thalweg.rules import MAX_COUNT, Array, Condition, Packed
from thalweg.types import FloatArray

MAX_COLUMNS = 16
"""Limit of the number of columns, the first ones: time grows with its cube."""
MAX_ALARMS = 1000
"""Limit of the number of alarms listed, the newest ones; all are counted."""
YEAR_SECONDS = 365.2425 * 24 * 3600
"""The mean year of the calendar."""
PIECE = 4096
"""Limit of the number of rows in one call of the kernel."""

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


BUFFER = Packed(layout.STATE, "{'columns': columns}")
NO_BUFFER = Array((0,))
ROW_NUMBERS = Array((None,), 1.0, float(MAX_COUNT), whole=True)
OF_LAST_ROWS = Condition(
    f"min(buffer[{layout.ROWS}] if len(buffer) else 0, {layout.RECENT_ROWS})"
    f" <= len(recent_rows) <= {layout.RECENT_ROWS}",
    "the numbers of the last rows",
)


class ChangeSnapshot(NamedTuple):
    """The state of a change detector."""

    total: int  # alarms so far
    # (size,) of the kernel; empty before the first row
    buffer: Annotated[FloatArray, "BUFFER if len(buffer) else NO_BUFFER"]
    # (a, LISTED_FIELDS) of the newest alarms, rows from 1
    records: Annotated[FloatArray, Array((f"min(total, {MAX_ALARMS})", LISTED_FIELDS))]
    # Of the same alarms.
    alarm_times: Annotated[
        tuple[AlarmTimes, ...], Condition("len(alarm_times) == len(records)", "as many")
    ]
    # (≤ RECENT_ROWS,) the numbers of the last rows, from 1; then their times
    recent_rows: Annotated[FloatArray, ROW_NUMBERS, OF_LAST_ROWS]
    recent_times: Annotated[
        tuple[str, ...], Condition("len(recent_times) == len(recent_rows)", "as many")
    ]


class ChangeDetector(Component):
    """Alarms of one target, from rows that come in pieces.

    ``columns`` is the number of given columns of numbers; the first 16 are used.
    However the rows are cut, and whether or not a snapshot is restored between them,
    the alarms are the same to the last bit, in memory that does not grow with the rows.
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
        """Test the next rows: labels (T,) or NaN, columns (T, p), NaN where missing.

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

    def make_change(
        self, values: FloatArray, first: int, rows: FloatArray, times: TimeTexts
    ) -> FoundChange:
        """A record of a kernel with the numbers of its rows, and their times.

        The kernel counted ``rows``, which come next, from ``first`` on.
        """
        known, old = np.append(self.recent_rows, rows), len(self.recent_rows)
        places = values[[layout.ALARM_ROW, layout.ALARM_ONSET]].astype(np.int64)
        places += old - first
        record = np.append(values, 0.0)
        record[ALARM_VALUES] = places[0] - places[1] + 1
        record[[layout.ALARM_ROW, layout.ALARM_ONSET]] = known[places]
        texts = (
            self.recent_times[place]
            if place < old
            else times(place - old, place - old + 1)[0]
            for place in places.tolist()
        )
        return FoundChange(record, AlarmTimes(*texts))

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
                row=int(record[layout.ALARM_ROW]),
                onset=int(record[layout.ALARM_ONSET]),
                kind=change_kind(record),
                text=change_text(record, names),
                before=float(record[layout.LEVEL_BEFORE]),
                after=float(record[layout.LEVEL_AFTER]),
                time=times.alarm or None,
                onset_time=times.onset or None,
            )
            for record, times in zip(self.records, self.alarm_times, strict=True)
        )

    def _find_in_piece(
        self,
        y: FloatArray,
        columns: FloatArray,
        rows: FloatArray,
        years: FloatArray,
        times: TimeTexts,
    ) -> list[FoundChange]:
        first = self._row_count()
        found = [
            self.make_change(values, first, rows, times)
            for values in self._detect(y, years, columns)
        ]
        known = np.append(self.recent_rows, rows)
        self.recent_rows = known[-layout.RECENT_ROWS :].copy()
        newest = times(max(len(y) - layout.RECENT_ROWS, 0), len(y))
        self.recent_times = (*self.recent_times, *newest)[-layout.RECENT_ROWS :]
        return found

    def _detect(
        self, y: FloatArray, years: FloatArray, columns: FloatArray
    ) -> FloatArray:
        """Play rows in the kernel; the alarms, whose rows are counted from 0."""
        # A snapshot may hold the one before.
        buffer = self.buffer.copy() if len(self.buffer) else self._new_buffer()
        self.buffer = buffer
        work = np.zeros(layout.WORKSPACE.size(columns=self.columns))
        records = np.zeros((len(y), layout.ALARM_FIELDS))
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
        return int(
            layout.STATE.views(self.buffer, columns=self.columns).counters[layout.ROWS]
        )

    def _new_buffer(self) -> FloatArray:
        return np.zeros(layout.STATE.size(columns=self.columns))


def _no_times(start: int, stop: int) -> list[str]:
    return [""] * (stop - start)
