"""Predictions as rows of text: their columns, of numbers and of classes."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.evaluation.classifier_run import ClassForecasts
from thalweg.evaluation.tracker_run import Forecasts
from thalweg.tables import Timestamps
from thalweg.tables.class_labels import BINARY_LABELS, ClassLabels
from thalweg.tables.row_keys import Key
from thalweg.types import FloatArray

OTHER = "p (other)"
"""The column of all classes together that the first rows did not hold."""


class PredictedRows(NamedTuple):
    """Rows of one series with the forecasts of each target."""

    rows: npt.NDArray[np.int64]  # (T,) the first row of the stream being 1
    time: Any  # (T,) Timestamps or float64, or None
    forecasts: list[Forecasts] | list[ClassForecasts]  # one a target
    observed: FloatArray  # (T, k), NaN where not known
    classes: tuple[ClassLabels, ...] = ()  # of each target, as this series numbers them
    key: Key = ()


class PredictionColumns(NamedTuple):
    """The columns of the predictions.

    A new column is added to ``_target_names`` and, at the same place, to
    ``_target_columns``. What the Tracker says of a row comes in ``Forecasts``
    (evaluation/tracker_run.py). All columns but row, time and text are float64 in
    Parquet (predictions_parquet.py).

    A target of classes has the most probable class, its probability, the class
    observed, and the probability of each class: of a binary target that of 1, of others
    that of the classes in the rows by which it was decided that the target is
    classified; what later classes have together is in the last column.
    """

    targets: tuple[str, ...]
    has_time: bool
    keys: tuple[str, ...] = ()  # columns that tell series apart
    classes: tuple[ClassLabels, ...] = ()  # of each target; none: they are numbers

    def names(self) -> list[str]:
        """Their names; the target's goes first where there are several."""
        names = [
            self._full_name(k, name)
            for k in range(len(self.targets))
            for name in self._target_names(k)
        ]
        return ["row", *self.keys, *(["time"] if self.has_time else []), *names]

    def text_names(self) -> list[str]:
        """The names of columns that hold text."""
        return [
            *self.keys,
            *(
                self._full_name(k, name)
                for k, one in enumerate(self.classes)
                for name in ("prediction", "observed")
                if one.labels != BINARY_LABELS[0]
            ),
        ]

    def header(self) -> str:
        """The first line."""
        return f"{_quote_cells(self.names())}\n"

    def lines(self, series: Sequence[PredictedRows]) -> str:
        """One line a row, in order. Numbers are as short as they can be without a loss.

        An infinite interval is left empty: no error has been seen yet. So is a class
        before the first label is known.
        """
        rows = [cells for one in series for cells in self._rows(one)]
        if len(series) > 1:
            rows.sort(key=lambda cells: int(cells[0]))
        return "".join(f"{','.join(cells)}\n" for cells in rows)

    def _rows(self, one: PredictedRows) -> Iterable[tuple[str, ...]]:
        columns = [one.rows.astype(str).tolist()]
        if self.keys:
            columns.append([_quote_cells(one.key)] * len(one.rows))
        if self.has_time:
            columns.append(format_times(one.time))
        for k in range(len(self.targets)):
            columns += self._target_columns(k, one)
        return zip(*columns, strict=True)

    def _full_name(self, target: int, name: str) -> str:
        return f"{self.targets[target]} {name}" if len(self.targets) > 1 else name

    def _target_names(self, target: int) -> list[str]:
        if not self.classes:
            return ["prediction", "low", "high", "observed"]
        one = self.classes[target]
        names = ["prediction", "probability", "observed"]
        if one.is_binary:
            return [*names, f"p {one.labels[1]}"]
        return [*names, *(f"p {label}" for label in _first_labels(one)), OTHER]

    def _target_columns(self, target: int, one: PredictedRows) -> list[list[str]]:
        forecasts: Any = one.forecasts[target]
        observed = one.observed[:, target]
        if self.classes:
            probability = forecasts.probability
            own = one.classes[target]
            return _class_columns(self.classes[target], own, probability, observed)
        ends = np.where(np.isfinite(forecasts.interval), forecasts.interval, np.nan)
        columns = (forecasts.prediction, *ends.T, observed)
        return [format_numbers(column) for column in columns]


def _first_labels(one: ClassLabels) -> tuple[str, ...]:
    """The classes that have a column of their own."""
    return one.labels[: one.first_classes]


def _class_columns(
    shown: ClassLabels, own: ClassLabels, p: FloatArray, observed: FloatArray
) -> list[list[str]]:
    """The cells of one target; ``own`` are the classes that ``p`` (T, K) is of."""
    if not p.shape[1]:
        p = np.zeros((len(p), 1))
    best, top = p.argmax(axis=1), p.max(axis=1)
    columns = [
        _labels(own, np.where(top > 0, best, np.nan)),
        format_numbers(np.where(top > 0, top, np.nan)),
        _labels(own, observed),
    ]
    if shown.is_binary:
        return [*columns, format_numbers(p[:, 1])]
    other = np.zeros(len(p))
    first = dict.fromkeys(_first_labels(shown), other)
    for label, column in zip(own.labels, p.T, strict=False):
        if label in first:
            first[label] = column
        else:
            other = other + column
    return [*columns, *map(format_numbers, (*first.values(), other))]


def _labels(one: ClassLabels, numbers: FloatArray) -> list[str]:
    cells = [_quote_cells([label]) for label in one.labels]
    return ["" if n != n else cells[int(n)] for n in numbers.tolist()]


def _quote_cells(cells: Iterable[str]) -> str:
    """Cells of CSV, with quotation marks where they are needed."""
    text = io.StringIO()
    # The last cell is there as csv quotes an empty one that is alone.
    csv.writer(text, lineterminator="").writerow([*cells, ""])
    return text.getvalue()[:-1]


def format_times(time: Any) -> list[str]:
    """Times as they were written, with the offset if any; numbers as they are."""
    return time.isoformat() if isinstance(time, Timestamps) else format_numbers(time)


def format_numbers(values: FloatArray) -> list[str]:
    """Each number as short as it can be without a loss; NaN is empty."""
    return [repr(value) if value == value else "" for value in values.tolist()]
