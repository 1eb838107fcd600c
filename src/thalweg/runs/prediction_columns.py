"""Predictions as rows of text: their columns, of numbers and of classes."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
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


class TargetForecasts(NamedTuple):
    """The forecasts of one target in ``PredictedRows``."""

    forecasts: Any  # Forecasts or ClassForecasts
    observed: FloatArray  # (T,)
    classes: Any  # ClassLabels as this series numbers them; None: it is a number


class TargetColumn(NamedTuple):
    """A column of each target: its name, and its cells."""

    name: str
    cells: Callable[[TargetForecasts], list[str]]
    is_text: bool = False


class PredictionColumns(NamedTuple):
    """The columns of the predictions.

    A new column is one entry of ``NUMBER_COLUMNS`` or of ``_class_columns``; what the
    Tracker says of a row comes in ``Forecasts`` (evaluation/tracker_run.py). --resume
    then refuses to continue a file with an older header. All columns but row, time and
    text are float64 in Parquet.

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
        names = [name for name, _ in self._of_targets()]
        return ["row", *self.keys, *(["time"] if self.has_time else []), *names]

    def text_names(self) -> list[str]:
        """The names of columns that hold text."""
        texts = [name for name, column in self._of_targets() if column.is_text]
        return [*self.keys, *texts]

    def header(self) -> str:
        """The first line."""
        return f"{_quote_cells(self.names())}\n"

    def lines(self, series: Sequence[PredictedRows]) -> str:
        """One line a row, in order. Numbers are as short as they can be without a loss.

        An infinite interval is left empty: no error has been seen yet. So is a class
        before the first label is known.
        """
        targets = [self._target_columns(k) for k in range(len(self.targets))]
        rows = [cells for one in series for cells in self._rows(one, targets)]
        if len(series) > 1:
            rows.sort(key=lambda cells: int(cells[0]))
        return "".join(f"{','.join(cells)}\n" for cells in rows)

    def _rows(
        self, one: PredictedRows, targets: Sequence[Sequence[TargetColumn]]
    ) -> Iterable[tuple[str, ...]]:
        columns = [one.rows.astype(str).tolist()]
        if self.keys:
            columns.append([_quote_cells(one.key)] * len(one.rows))
        if self.has_time:
            columns.append(format_times(one.time))
        for k, target in enumerate(targets):
            own = one.classes[k] if one.classes else None
            rows = TargetForecasts(one.forecasts[k], one.observed[:, k], own)
            columns += [column.cells(rows) for column in target]
        return zip(*columns, strict=True)

    def _target_columns(self, target: int) -> Sequence[TargetColumn]:
        return _class_columns(self.classes[target]) if self.classes else NUMBER_COLUMNS

    def _of_targets(self) -> Iterator[tuple[str, TargetColumn]]:
        """The columns of all targets, with their full names."""
        for k, target in enumerate(self.targets):
            prefix = f"{target} " if len(self.targets) > 1 else ""
            for column in self._target_columns(k):
                yield f"{prefix}{column.name}", column


def format_times(time: Any) -> list[str]:
    """Times as they were written, with the offset if any; numbers as they are."""
    return time.isoformat() if isinstance(time, Timestamps) else format_numbers(time)


def format_numbers(values: FloatArray) -> list[str]:
    """Each number as short as it can be without a loss; NaN is empty."""
    return [repr(value) if value == value else "" for value in values.tolist()]


def _interval_end(rows: TargetForecasts, end: int) -> list[str]:
    values = rows.forecasts.interval[:, end]
    return format_numbers(np.where(np.isfinite(values), values, np.nan))


NUMBER_COLUMNS = (
    TargetColumn("prediction", lambda rows: format_numbers(rows.forecasts.prediction)),
    TargetColumn("low", lambda rows: _interval_end(rows, 0)),
    TargetColumn("high", lambda rows: _interval_end(rows, 1)),
    TargetColumn("observed", lambda rows: format_numbers(rows.observed)),
)
"""The columns of a target that is a number."""


def _class_columns(shown: ClassLabels) -> list[TargetColumn]:
    """The columns of a target with these classes."""
    is_text = shown.labels != BINARY_LABELS[0]
    columns = [
        TargetColumn("prediction", lambda rows: _labels(rows, _best(rows)), is_text),
        TargetColumn("probability", lambda rows: format_numbers(_top(rows))),
        TargetColumn("observed", lambda rows: _labels(rows, rows.observed), is_text),
    ]
    if shown.is_binary:
        name = f"p {shown.labels[1]}"
        return [*columns, TargetColumn(name, lambda rows: _sum(rows, [1]))]
    first = shown.labels[: shown.first_classes]

    def cells(rows: TargetForecasts, label: str) -> list[str]:
        known = rows.classes.labels
        return _sum(rows, [known.index(label)] if label in known else [])

    def other_cells(rows: TargetForecasts) -> list[str]:
        known = rows.classes.labels
        return _sum(rows, [k for k, label in enumerate(known) if label not in first])

    columns += [TargetColumn(f"p {one}", partial(cells, label=one)) for one in first]
    return [*columns, TargetColumn(OTHER, other_cells)]


def _top(rows: TargetForecasts) -> FloatArray:
    """The largest probability; NaN before the first label is known."""
    top = rows.forecasts.probability.max(axis=1, initial=0.0)
    return np.where(top > 0, top, np.nan)


def _best(rows: TargetForecasts) -> FloatArray:
    """The number of the most probable class; NaN before the first label is known."""
    p = rows.forecasts.probability
    best = p.argmax(axis=1) if p.shape[1] else np.zeros(len(p))
    return np.where(np.isnan(_top(rows)), np.nan, best)


def _sum(rows: TargetForecasts, classes: Sequence[int]) -> list[str]:
    """The probability of some classes together; of a class to come it is 0."""
    p = rows.forecasts.probability
    total = np.zeros(len(p))
    for k in classes:
        if k < p.shape[1]:
            total = total + p[:, k]
    return format_numbers(total)


def _labels(rows: TargetForecasts, numbers: FloatArray) -> list[str]:
    cells = [_quote_cells([label]) for label in rows.classes.labels]
    return ["" if n != n else cells[int(n)] for n in numbers.tolist()]


def _quote_cells(cells: Iterable[str]) -> str:
    """Cells of CSV, with quotation marks where they are needed."""
    text = io.StringIO()
    # The last cell is there as csv quotes an empty one that is alone.
    csv.writer(text, lineterminator="").writerow([*cells, ""])
    return text.getvalue()[:-1]
