"""Malformed lines, and rows whose cells are not what their columns hold: skipped.

Whether a row is malformed depends on its own cells and on the schema, not on the rows
before it: however rows are cut, the same ones remain.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from thalweg.errors import StreamError
from thalweg.tables.chunk import Chunk
from thalweg.tables.recipe import Recipe
from thalweg.tables.row_filters import RowFilter
from thalweg.tables.schema import Schema
from thalweg.tables.validation import read_categories, read_numbers, read_timestamps

MAX_REPORTS = 20
"""Number of errors that are reported one by one; later ones are counted."""

SKIP_HINT = "To skip such lines, say --on-error skip."

HEADER_HINT = "If a line further down names the columns, say which: --header LINE."
"""What may be wrong where the first row already has another number of cells."""


class LineErrors:
    """The malformed lines of a source so far."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.count = 0
        self._report = report

    def notes(self) -> tuple[str, ...]:
        """A sentence that says how many there were, if any."""
        if not self.count:
            return ()
        lines = "line was" if self.count == 1 else "lines were"
        return (f"{self.count:,} malformed {lines} skipped.",)

    def add(self, sentence: str) -> None:
        """Count a line, of which the sentence says what is wrong."""
        self.count += 1
        if self.count <= MAX_REPORTS:
            self._report(f"Skipped: {sentence}")
        if self.count == MAX_REPORTS:
            self._report("Further malformed lines are counted, not shown.")


Reading = Callable[[Chunk], object]
"""Reads a column, and raises a StreamError where a cell is malformed."""
Columns = Callable[[Chunk], tuple[Schema, Sequence[str]]]
"""The columns that are read, and the targets that are text whatever their cells; before
any row, as a chunk decides them."""


class WellFormedRows(RowFilter):
    """Leaves out malformed rows of the chunks of one source; the others move up."""

    def __init__(self, recipe: Recipe, errors: LineErrors, columns: Columns) -> None:
        super().__init__()
        self._recipe, self._errors, self._columns = recipe, errors, columns

    def drop(self, chunk: Chunk) -> Chunk:
        """The rows of a chunk that are well-formed, perhaps none."""
        if not len(chunk):
            return chunk
        schema, text = self._columns(chunk)
        counted = replace(chunk, first_row=chunk.first_row - self.count)
        sentences = _malformed_rows(
            counted.with_formats(schema.formats), _readings(self._recipe, schema, text)
        )
        is_malformed = np.zeros(len(chunk), np.bool_)
        for row, sentence in sorted(sentences.items()):
            self._errors.add(sentence)
            is_malformed[row] = True
        return self.without(chunk, is_malformed)

    def notes(self) -> tuple[str, ...]:
        """A sentence that says how many lines and rows were skipped."""
        return self._errors.notes()


def _readings(
    recipe: Recipe, schema: Schema, text_targets: Sequence[str]
) -> list[Reading]:
    """How each column is read that a run uses."""

    def numbers(name: str) -> Reading:
        return lambda chunk: read_numbers(chunk, name, "skip")

    def text(name: str) -> Reading:
        return lambda chunk: read_categories(chunk, name, "skip")

    def times(name: str) -> Reading:
        return lambda chunk: read_timestamps(chunk, name, "skip", None)

    readings = [numbers(name) for name in recipe.targets if name not in text_targets]
    readings += [
        numbers(name) if kind == "number" else text(name)
        for name, kind in schema.inputs
    ]
    # What is no time in a column that nobody has named counts as missing.
    named = recipe.given_time
    if named is not None:
        is_number = schema.time == "number"
        readings.append(numbers(named) if is_number else times(named))
    if recipe.given_calendar is not None:
        readings.append(times(recipe.given_calendar))
    return readings


def _malformed_rows(chunk: Chunk, readings: Sequence[Reading]) -> dict[int, str]:
    """What is wrong with each malformed row, by its position in the chunk."""
    sentences: dict[int, str] = {}
    for read in readings:
        try:
            read(chunk)
        except StreamError:
            for i in range(len(chunk)):
                try:
                    read(chunk.slice_rows(i, i + 1))
                except StreamError as error:
                    sentences.setdefault(i, str(error))
    return sentences
