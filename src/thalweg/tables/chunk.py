"""A chunk: consecutive rows of a table, and the cells of its columns.

Cells stay what the file holds until someone reads their column as numbers, as
timestamps or as text: a column that is not used costs no conversion.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.tables.cells import Categorical, CellError, Cells
from thalweg.tables.column_format import PLAIN, ColumnFormat, decimal_hint, order_hint
from thalweg.tables.literals import Kind
from thalweg.tables.timestamps import Timestamps
from thalweg.types import FloatArray

FRAME, ROW = "the data frame", "the row"
PYTHON_SOURCES = (FRAME, ROW)
"""What messages call rows that come from Python, not from a file."""
SAMPLE_ROWS = 10_000
"""Rows of a file, from the first on, that say how its columns are written."""
_MAX_REPR = 60
"""Characters of a value in a message."""


class FoundColumns(NamedTuple):
    """What a scan of a whole table has found, for whoever reads its rows after it."""

    time: str | None  # the column of times
    formats: tuple[ColumnFormat, ...]  # of columns that are not written plainly
    notes: tuple[str, ...]  # on those


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows of a table; who reads a column decides what it is read as."""

    source: str  # the file's name, for messages
    first_row: int  # data row of the chunk's first row, from 0
    cells: Mapping[str, Cells]  # by column
    line_of: Callable[[int], int] | None = None  # line of a row of the chunk, from 1
    # Rows that may be looked at before the first one is read: the first ones of a file.
    sample: Mapping[str, Cells] | None = None
    formats: Mapping[str, ColumnFormat] = field(default_factory=dict)  # by column
    found: "FoundColumns | None" = None  # by a scan of the table

    def __len__(self) -> int:
        return len(next(iter(self.cells.values())))

    def slice_rows(self, start: int, stop: int) -> "Chunk":
        """The rows from ``start`` to before ``stop`` of the chunk."""
        if (start, stop) == (0, len(self)):
            return self
        line_of = self.line_of
        return replace(
            self,
            first_row=self.first_row + start,
            cells={
                name: cells.slice_rows(start, stop)
                for name, cells in self.cells.items()
            },
            line_of=None if line_of is None else lambda i: line_of(start + i),
        )

    def take_rows(
        self, rows: npt.NDArray[np.intp], first_row: int, without: Sequence[str] = ()
    ) -> "Chunk":
        """Some of the rows, as those from ``first_row`` on of a table of their own.

        Columns named in ``without`` are left out.
        """
        line_of = self.line_of
        names = [name for name in self.cells if name not in without]
        return replace(
            self,
            first_row=first_row,
            cells={name: self.cells[name].take_rows(rows) for name in names},
            line_of=None if line_of is None else lambda i: line_of(int(rows[i])),
        )

    def with_sample(self) -> "Chunk":
        """The first chunk of a source whose rows can be looked at before any is read.

        However the chunk is cut later, all parts have the same sample.
        """
        stop = min(len(self), SAMPLE_ROWS)
        sample = {name: cells.slice_rows(0, stop) for name, cells in self.cells.items()}
        return replace(self, sample=sample)

    def with_formats(self, formats: Sequence[ColumnFormat]) -> "Chunk":
        """The chunk with columns that are read as their formats say."""
        if not formats:
            return self
        return replace(self, formats={column.name: column for column in formats})

    def kind(self, name: str) -> Kind:
        """What the column holds, by its format, its type or its first cell."""
        known = self.formats.get(name)
        return self.cells[name].kind() if known is None else known.kind

    def numbers(self, name: str, hint: str = "") -> FloatArray:
        """The column as float64, NaN where missing; a refusal ends with ``hint``."""
        known = self.formats.get(name, PLAIN)
        try:
            return self.cells[name].numbers(known.number_style)
        except CellError as error:
            sample = None if self.sample is None else self.sample.get(name)
            texts = None if sample is None else sample.distinct_texts()
            way = decimal_hint(error.value, known, self.setting, texts or ())
            raise StreamError(
                f"{self._culprit(name, error)}, which is no number{way}.{hint}"
            ) from None

    def timestamps(self, name: str) -> Timestamps:
        """The column as times."""
        known = self.formats.get(name, PLAIN)
        try:
            return known.timestamps(self.cells[name])
        except CellError as error:
            raise StreamError(
                f"{self._culprit(name, error)}, which is no time"
                f"{order_hint(error.value, known, self.setting)}."
            ) from None

    def categories(self, name: str) -> Categorical:
        """The column as text."""
        try:
            return self.cells[name].categories()
        except CellError as error:
            raise StreamError(
                f"{self._culprit(name, error)}, which is no text."
            ) from None

    def setting(self, name: str, value: str) -> str:
        """How a user says it: an option of a file's run, or a setting in Python."""
        if self.source not in PYTHON_SOURCES:
            if name == "dayfirst":
                return "--dayfirst" if value == "True" else "--monthfirst"
            if name == "decimal":
                value = "comma" if value == "," else "point"
            return f"--{name} {value}"
        is_model = name == "missing"
        given = f"{value!r}" if is_model else f"({value!r},)"
        if name == "lags":
            given = f"({value},)"
        elif name in ("calendar", "decimal"):
            given = f"{value!r}"
        elif name == "dayfirst":
            given = value
        return f"{'Online' if is_model else 'Recipe'}({name}={given})"

    def location(self, position: int) -> str:
        """Where a row of the chunk is: ``Row 7 (line 8) of stream.csv``."""
        if self.source == ROW:
            return "The row"
        line = "" if self.line_of is None else f" (line {self.line_of(position):,})"
        return f"Row {self.first_row + position + 1:,}{line} of {self.source}"

    def _culprit(self, name: str, error: CellError) -> str:
        return f"{self.location(error.position)}: {name!r} is {short_repr(error.value)}"


def first_rows(chunk: Chunk) -> Mapping[str, Cells]:
    """The rows of a table that may be looked at before the first one is read."""
    return chunk.sample or chunk.slice_rows(0, 1).cells


def short_repr(value: Any) -> str:
    """``repr``, cut where it would fill the screen."""
    text = repr(value)
    return text if len(text) <= _MAX_REPR else f"{text[:_MAX_REPR]}..."
