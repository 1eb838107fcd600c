"""The columns of predictions of classes."""

from typing import Any, NamedTuple

import numpy as np

from thalweg.cli.runs.predictions import csv_lines, format_numbers, format_times
from thalweg.tables.class_labels import BINARY_LABELS, ClassLabels
from thalweg.types import FloatArray

OTHER = "p (other)"
"""The column of all classes together that the first rows did not hold."""


class ClassColumns(NamedTuple):
    """The columns of predictions of classes.

    For each target: the most probable class, its probability, the class observed, and
    the probability of each class. Of a binary target the latter is that of 1. Of others
    a class has a column if it appeared in the rows by which it was decided that the
    target is classified; what later classes have together is in the last column.
    """

    classes: tuple[ClassLabels, ...]  # of each target
    has_time: bool

    def names(self) -> list[str]:
        """Their names; the target's goes first where there are several."""
        has_several = len(self.classes) > 1
        names = [
            f"{one.target} {name}" if has_several else name
            for one in self.classes
            for name in _target_names(one)
        ]
        return ["row", *(["time"] if self.has_time else []), *names]

    def text_names(self) -> list[str]:
        """The names of columns that hold text."""
        has_several = len(self.classes) > 1
        return [
            f"{one.target} {name}" if has_several else name
            for one in self.classes
            for name in ("prediction", "observed")
            if one.labels != BINARY_LABELS[0]
        ]

    def header(self) -> str:
        """The first line."""
        return csv_lines([self.names()])

    def lines(self, predictions: Any) -> str:
        """One line a row; nothing is predicted before the first label is known."""
        columns = [predictions.rows.astype(str).tolist()]
        if self.has_time:
            columns.append(format_times(predictions.time))
        for k, one in enumerate(self.classes):
            p = predictions.forecasts[k].probability
            columns += _target_columns(one, p, predictions.observed[:, k])
        return csv_lines(zip(*columns, strict=True))


def _target_names(one: ClassLabels) -> list[str]:
    names = ["prediction", "probability", "observed"]
    if one.is_binary:
        return [*names, f"p {one.labels[1]}"]
    return [*names, *(f"p {label}" for label in one.labels[: one.first_classes]), OTHER]


def _target_columns(
    one: ClassLabels, p: FloatArray, observed: FloatArray
) -> list[list[str]]:
    if not p.shape[1]:
        p = np.zeros((len(p), 1))
    best, top = p.argmax(axis=1), p.max(axis=1)
    predicted = np.where(top > 0, best, np.nan)
    columns = [
        _labels(one, predicted),
        format_numbers(np.where(top > 0, top, np.nan)),
        _labels(one, observed),
    ]
    if one.is_binary:
        return [*columns, format_numbers(p[:, 1])]
    first = one.first_classes
    padded = np.pad(p, ((0, 0), (0, max(first - p.shape[1], 0))))
    other = np.zeros(len(p))
    for column in padded[:, first:].T:
        other += column
    parts = [*padded[:, :first].T, other]
    return [*columns, *(format_numbers(part) for part in parts)]


def _labels(one: ClassLabels, numbers: FloatArray) -> list[str]:
    return ["" if n != n else one.labels[int(n)] for n in numbers.tolist()]
