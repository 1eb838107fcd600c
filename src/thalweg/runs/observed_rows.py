"""The rows of a table as they were given, for change detection.

Only columns of numbers that the table itself has, by the encoder's schema: neither lags
nor calendar features nor one-hot ones, which the encoder makes. Rows that lags lack a
past for are here as well, so that what is seen does not depend on features.
"""

from typing import Any, NamedTuple

import numpy as np

from thalweg.calendar.row_clock import Stamps
from thalweg.changes.change_detector import MAX_COLUMNS, TimeTexts
from thalweg.changes.timed_change_detector import TimedChangeDetector
from thalweg.evaluation.study import Study
from thalweg.runs.prediction_columns import format_times
from thalweg.tables import EncodedRows, Encoder
from thalweg.tables.schema import Schema
from thalweg.types import FloatArray


def given_columns(schema: Schema | None) -> tuple[str, ...]:
    """The names of the columns that change detection reads."""
    inputs = () if schema is None else schema.inputs
    names = tuple(name for name, kind in inputs if kind == "number")
    return names[:MAX_COLUMNS]


class ObservedRows(NamedTuple):
    """Rows of a chunk, all of them."""

    columns: FloatArray  # (T, p) NaN where missing
    targets: FloatArray  # (T, k) NaN where not known
    rows: FloatArray  # (T,) the first row of the stream being 1
    times: TimeTexts | None
    stamps: Stamps | None  # (T,) nanoseconds since 1970, NO_TIME where missing

    @classmethod
    def of(cls, encoded: EncodedRows, rows_before: int) -> "ObservedRows":
        """The rows that were encoded, after ``rows_before`` of this stream."""
        columns, targets, stamps = encoded.given
        none = np.empty((len(targets), 0))
        given = np.column_stack([none, *columns[:MAX_COLUMNS]])
        rows = np.arange(1.0, len(targets) + 1) + rows_before
        texts = _time_texts(encoded.time, len(targets))
        return cls(given, targets, rows, texts, stamps)

    def add_to(
        self, detector: TimedChangeDetector, target: int, is_question: bool
    ) -> None:
        """Let a detector look at the rows of one target.

        If ``is_question``, rows without a label are yet to come, and are left out.
        """
        y, times = self.targets[:, target], self.times
        if not is_question:
            detector.add(y, self.columns, self.rows, times, self.stamps)
            return
        known = np.flatnonzero(~np.isnan(y))

        def known_times(start: int, stop: int) -> list[str]:
            assert times is not None
            return [times(int(t), int(t) + 1)[0] for t in known[start:stop]]

        detector.add(
            y[known], self.columns[known], self.rows[known],
            None if times is None else known_times,
            None if self.stamps is None else self.stamps[known],
        )  # fmt: skip


def add_alarms(study: Study, detector: TimedChangeDetector, encoder: Encoder) -> Study:
    """The study with the alarms of a detector, and a note if not all are listed."""
    if study.history is None:
        return study
    alarms = detector.alarms(given_columns(encoder.state.schema))
    return study.with_alarms(alarms, detector.total)


def _time_texts(time: Any, rows: int) -> TimeTexts | None:
    """The texts of times, blank for the first ones that have none."""
    if time is None:
        return None
    missing = rows - len(time)

    def texts(start: int, stop: int) -> list[str]:
        first = max(start - missing, 0)
        known = format_times(time[first : max(stop - missing, 0)])
        return [""] * (stop - start - len(known)) + known

    return texts
