"""Targets that are classes: what distinguishes them from numbers, and their numbering.

A target is classified if its first known values, of at most ``LOOK_ROWS`` rows, are

* text, and none of them a number or a date; a column of numbers such as 1.2M, by the
  rule of ``cell_formats``, is no text; or
* 0 and 1, both of them, or true and false, at least ``MIN_VALUES`` in all.

Every other target is a number to be predicted, unless it is asked for as classes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal, NamedTuple, get_args

import numpy as np

from thalweg.errors import StreamError
from thalweg.rules import Condition, Count, require, validate_snapshot
from thalweg.tables.cell_formats import ColumnSample
from thalweg.tables.cells import CellError, PythonCells
from thalweg.tables.chunk import Chunk, first_rows
from thalweg.tables.literals import NUMBER_STYLES, parse_styled_number, text_kind
from thalweg.types import FloatArray

Task = Literal["auto", "classify", "regress"]
TASKS: tuple[Task, ...] = get_args(Task)
LOOK_ROWS = 1000
"""Rows from which it is decided whether a target is classified."""
MIN_VALUES = 10
"""Numbers 0 and 1, fewer than these, may be the beginning of any counts."""
BINARY_LABELS = (("0", "1"), ("false", "true"))
"""How the classes of a binary target are written."""
MAX_CLASSES = 50
"""More are hardly classes but identifiers, and each one takes a model."""
MIN_DISTINCT_ROWS, MAX_DISTINCT_SHARE = 20, 0.5
"""With as many known values or more, a larger share of different ones is no classes."""


FEW_LABELS = Condition(
    f"len({{*labels}}) == len(labels) <= {MAX_CLASSES}",
    f"at most {MAX_CLASSES} different labels",
)
BINARY = Condition(
    f"not is_binary or labels in {BINARY_LABELS}", f"one of {BINARY_LABELS}"
)


class ClassLabels(NamedTuple):
    """The classes of a target and their numbers, which are positions in ``labels``."""

    target: str
    # In order of first appearance; of a binary target, 0 first.
    labels: Annotated[tuple[str, ...], FEW_LABELS, BINARY]
    is_binary: bool  # whether it holds 0 and 1 only, or false and true
    # Of those, the ones that appeared in the first rows.
    first_classes: Annotated[int, Count("len(labels)")]

    def sentence(self) -> str:
        """What was decided, for the user."""
        if self.is_binary:
            zero, one = self.labels
            return (
                f"{self.target!r} holds {zero} and {one} only: classified, with "
                f"probabilities of {one}; --regress to predict it as a number."
            )
        return f"{self.target!r} is text: classified, with a probability of each class."

    def encode(self, chunk: Chunk) -> tuple["ClassLabels", Chunk]:
        """The labels after a chunk, and the chunk with numbers in place of its labels.

        A label that is missing is NaN. Raises if there are too many classes, or if a
        binary target holds any other number.
        """
        if self.is_binary:
            numbers = _read_binary(chunk, self.target)
            return self, _with_numbers(chunk, self.target, numbers)
        column = chunk.categories(self.target)
        new = [level for level in column.levels if level not in self.labels]
        labels = (*self.labels, *new)
        if len(labels) > MAX_CLASSES:
            late = column.levels.index(labels[MAX_CLASSES])
            first = int((column.codes == late).argmax())
            raise StreamError(
                f"{chunk.location(first)}: {self.target!r} is "
                f"{labels[MAX_CLASSES]!r:.60}, one class more than the {MAX_CLASSES} "
                f"that can be predicted. Predict another column, or put rare classes "
                f"together."
            )
        number_of = {label: float(number) for number, label in enumerate(labels)}
        of_code = np.array([*(number_of[level] for level in column.levels), np.nan])
        numbers = of_code[column.codes]  # the code -1 of a missing label finds NaN
        return self._replace(labels=labels), _with_numbers(chunk, self.target, numbers)


def decide_task(
    chunk: Chunk, targets: Sequence[str], task: Task = "auto"
) -> tuple[ClassLabels, ...]:
    """The classes of each target by the first rows of a stream; none: numbers.

    Either all targets are classified or none is.
    """
    if task == "regress":
        return ()
    head = chunk.slice_rows(0, min(len(chunk), LOOK_ROWS))
    found = [_decide_target(head, target, task) for target in targets]
    classified = [labels for labels in found if labels is not None]
    if classified and len(classified) < len(found):
        other = targets[found.index(None)]
        raise StreamError(
            f"{classified[0].target!r} of {chunk.source} holds classes and {other!r} "
            f"numbers, which cannot be predicted in one run. Run one after the other, "
            f"or say --regress if both are numbers."
        )
    return tuple(classified)


def encode_classes(
    classes: Sequence[ClassLabels], chunk: Chunk
) -> tuple[tuple[ClassLabels, ...], Chunk]:
    """``ClassLabels.encode`` for several targets."""
    after = []
    for one in classes:
        labels, chunk = one.encode(chunk)
        after.append(labels)
    return tuple(after), chunk


def validate_class_labels(
    classes: Sequence[ClassLabels], targets: Sequence[str], name: str
) -> None:
    """Raise ``PersistenceError`` unless these could be the classes of the targets."""
    named = [one.target for one in classes]
    right = named in ([], list(targets))
    require(right, name, f"of the targets {targets!r}", named)
    validate_snapshot(tuple[ClassLabels, ...], classes, name)


def _decide_target(head: Chunk, target: str, task: Task) -> ClassLabels | None:
    cells = head.cells[target]
    try:
        numbers = cells.numbers()
    except CellError:
        numbers = None
    if numbers is not None:
        known = numbers[~np.isnan(numbers)]
        enough = len(known) >= MIN_VALUES or task == "classify"
        if enough and np.array_equal(np.unique(known), [0.0, 1.0]):
            return ClassLabels(target, _binary_labels(head, target), True, 2)
        if task == "auto":
            return None
    column = head.categories(target)
    if task == "auto" and not _are_labels(head, target, column.levels):
        return None
    _refuse_many_classes(head, target, column.levels, int((column.codes >= 0).sum()))
    # The first chunk gives every class its number: here they are only counted.
    return ClassLabels(target, (), False, len(column.levels))


def _are_labels(head: Chunk, target: str, levels: Sequence[str]) -> bool:
    """Whether no text is a number or a time, nor all together numbers such as 1.2M."""
    if not all(map(_is_label, levels)):
        return False
    style = ColumnSample(target, first_rows(head)[target]).suffix_style(None)
    if style is None:
        return True
    return any(parse_styled_number(level, style) is None for level in levels)


def _is_label(text: str) -> bool:
    """Whether it is neither a number, however it is written, nor a time."""
    numbers = (parse_styled_number(text, style) for style in NUMBER_STYLES)
    return text_kind(text) == "text" and all(number is None for number in numbers)


def _binary_labels(head: Chunk, target: str) -> tuple[str, ...]:
    """How a binary target is written."""
    levels = {level.lower() for level in head.categories(target).levels}
    numbers, words = BINARY_LABELS
    return words if levels <= set(words) else numbers


def _read_binary(chunk: Chunk, target: str) -> FloatArray:
    hint = " Its first rows hold 0 and 1 only, so that it is classified."
    numbers = chunk.numbers(target, hint)
    is_other = ~np.isnan(numbers) & (numbers != 0) & (numbers != 1)
    if is_other.any():
        first = int(is_other.argmax())
        raise StreamError(
            f"{chunk.location(first)}: {target!r} is {float(numbers[first])!r}. Its "
            f"first rows hold 0 and 1 only, so that it is classified. To predict it "
            f"as a number, start again with --regress."
        )
    return numbers


def _with_numbers(chunk: Chunk, target: str, numbers: FloatArray) -> Chunk:
    return replace(chunk, cells={**chunk.cells, target: PythonCells(numbers.tolist())})


def _refuse_many_classes(
    head: Chunk, target: str, levels: Sequence[str], known: int
) -> None:
    count = len(levels)
    is_identifier = known >= MIN_DISTINCT_ROWS and count > MAX_DISTINCT_SHARE * known
    if count <= MAX_CLASSES and not is_identifier:
        return
    rule = f"at most {MAX_CLASSES}, each of which comes again"
    raise StreamError(
        f"{target!r} of {head.source} has {count:,} different values in {known:,} "
        f"rows, such as {levels[0]!r:.60}: too many for classes ({rule}). Predict "
        f"another column: --target NAME."
    )
