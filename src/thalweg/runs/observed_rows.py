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
from thalweg.tables import Chunk, Encoder
from thalweg.tables.schema import Schema
from thalweg.tables.validation import read_any_times, read_numbers
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
    def read(
        cls, encoder: Encoder, chunk: Chunk, earlier_rows: int, time: Any
    ) -> "ObservedRows":
        """The rows of a chunk that was encoded, after ``earlier_rows`` of others.

        ``time`` is that of the encoded rows; those before them have none.
        """
        schema, recipe = encoder.state.schema, encoder.recipe
        assert schema is not None
        chunk = (encoder.decoded_chunk or chunk).with_formats(schema.formats)
        columns, targets = (
            np.column_stack(
                [
                    np.empty((len(chunk), 0)),
                    *(read_numbers(chunk, name, recipe.missing) for name in names),
                ]
            )
            for names in (given_columns(schema), recipe.targets)
        )
        rows = np.arange(1.0, len(chunk) + 1) + earlier_rows + chunk.first_row
        texts = _time_texts(time, len(chunk))
        return cls(columns, targets, rows, texts, _stamps(chunk, schema))

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


def _stamps(chunk: Chunk, schema: Schema) -> Stamps | None:
    """The local times of all rows, whatever lags drop; None where rows have none."""
    if schema.time != "time" or schema.time_column is None:
        return None
    local = read_any_times(chunk, schema.time_column).local_times()
    return np.asarray(local.astype("datetime64[ns]").view(np.int64))


def _time_texts(time: Any, rows: int) -> TimeTexts | None:
    if time is None:
        return None
    missing = rows - len(time)

    def texts(start: int, stop: int) -> list[str]:
        first = max(start - missing, 0)
        known = format_times(time[first : max(stop - missing, 0)])
        return [""] * (stop - start - len(known)) + known

    return texts
