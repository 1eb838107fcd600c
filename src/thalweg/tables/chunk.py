"""A chunk: consecutive rows of a table, and the cells of its columns.

Cells stay what the file holds until someone reads their column as numbers, as
timestamps or as text: a column that is not used costs no conversion.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from thalweg.errors import StreamError
from thalweg.tables.literals import (
    NOT_A_TIME,
    Kind,
    ParsedTime,
    has_separators,
    is_missing,
    parse_number,
    parse_time,
    text_kind,
)
from thalweg.tables.timestamps import Timestamps
from thalweg.types import FloatArray

_SCALARS = {float, int, bool, type(None)}
FRAME, ROW = "the data frame", "the row"
PYTHON_SOURCES = (FRAME, ROW)
"""What messages call rows that come from Python, not from a file."""
_MAX_REPR = 60
"""Characters of a value in a message."""


class Categorical(NamedTuple):
    """A column of text: each different text once, in order of first appearance."""

    codes: npt.NDArray[np.intp]  # (T,) index into ``levels``; -1 where missing
    levels: list[str]


class CellError(Exception):
    """A cell is not what its column is read as; the chunk makes a message of it."""

    def __init__(self, position: int, value: Any) -> None:
        super().__init__(position, value)
        self.position = position  # in the chunk
        self.value = value


class Cells(Protocol):
    """One column of a chunk. Each reading raises a ``CellError`` where it fails."""

    def __len__(self) -> int: ...

    def slice_rows(self, start: int, stop: int) -> "Cells":
        """The cells from ``start`` to before ``stop``."""

    def kind(self) -> Kind:
        """What the column holds, by its type or by its first cell."""

    def numbers(self) -> FloatArray:
        """The cells as float64, NaN where missing."""

    def timestamps(self) -> Timestamps:
        """The cells as times, each with the offset it is written with."""

    def categories(self) -> Categorical:
        """The cells as text."""


class PythonCells:
    """Cells as the standard library's readers give them: str, float, int, bool, None.

    This class defines what a column means; tests compare ``ArrowCells`` with it.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def slice_rows(self, start: int, stop: int) -> "PythonCells":
        """The cells from ``start`` to before ``stop``."""
        return PythonCells(self.values[start:stop])

    def kind(self) -> Kind:
        """What the first cell says that the column holds."""
        first = self.values[0]
        if isinstance(first, str):
            return text_kind(first)
        return "number" if type(first) in _SCALARS else "other"

    def numbers(self) -> FloatArray:
        """The cells as float64, NaN where missing."""
        return np.array([_number(i, cell) for i, cell in enumerate(self.values)])

    def timestamps(self) -> Timestamps:
        """The cells as times, each with the offset it is written with."""
        times = [_time(i, cell) for i, cell in enumerate(self.values)]
        instants, offsets = np.array(times, np.int64).reshape(-1, 2).T.copy()
        return Timestamps(
            instants.view("datetime64[ns]"), offsets.view("timedelta64[ns]")
        )

    def categories(self) -> Categorical:
        """The cells as text."""
        code_of: dict[str | None, int] = {None: -1}
        codes = [
            code_of.setdefault(_text(i, cell), len(code_of) - 1)
            for i, cell in enumerate(self.values)
        ]
        return Categorical(np.array(codes, np.intp), [text for text in code_of if text])


def _number(position: int, cell: Any) -> float:
    value = None
    if isinstance(cell, str):
        value = parse_number(cell)
    elif cell is None:
        value = np.nan
    elif type(cell) in _SCALARS:
        try:
            value = float(cell)
        except OverflowError:  # an integer of more than 308 digits
            value = np.inf
    if value is None:
        raise CellError(position, cell)
    return value


def _time(position: int, cell: Any) -> ParsedTime:
    value = None
    if isinstance(cell, str):
        value = parse_time(cell)
    elif cell is None or cell != cell:
        value = ParsedTime(NOT_A_TIME)
    if value is None:
        raise CellError(position, cell)
    return value


def _text(position: int, cell: Any) -> str | None:
    if isinstance(cell, str):
        return None if is_missing(cell) else cell.strip()
    if type(cell) not in _SCALARS:
        raise CellError(position, cell)
    if cell is None or cell != cell:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    # 1 and 1.0 are one level, for the other cells of a chunk may decide which of the
    # two a reader gives.
    return str(int(cell) if float(cell).is_integer() else cell)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows of a table; who reads a column decides what it is read as."""

    source: str  # the file's name, for messages
    first_row: int  # data row of the chunk's first row, from 0
    cells: Mapping[str, Cells]  # by column
    line_of: Callable[[int], int] | None = None  # line of a row of the chunk, from 1

    def __len__(self) -> int:
        return len(next(iter(self.cells.values())))

    def slice_rows(self, start: int, stop: int) -> "Chunk":
        """The rows from ``start`` to before ``stop`` of the chunk."""
        if (start, stop) == (0, len(self)):
            return self
        line_of = self.line_of
        return Chunk(
            self.source,
            self.first_row + start,
            {name: cells.slice_rows(start, stop) for name, cells in self.cells.items()},
            None if line_of is None else lambda i: line_of(start + i),
        )

    def kind(self, name: str) -> Kind:
        """What the column holds, by its type or by its first cell."""
        return self.cells[name].kind()

    def numbers(self, name: str, hint: str = "") -> FloatArray:
        """The column as float64, NaN where missing; a refusal ends with ``hint``."""
        try:
            return self.cells[name].numbers()
        except CellError as error:
            raise StreamError(
                f"{self._culprit(name, error)}, which is no number"
                f"{_separator_hint(error.value)}.{hint}"
            ) from None

    def timestamps(self, name: str) -> Timestamps:
        """The column as times."""
        try:
            return self.cells[name].timestamps()
        except CellError as error:
            raise StreamError(
                f"{self._culprit(name, error)}, which is no ISO time such as "
                f"2024-01-31 or 2024-01-31T18:30:00."
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
            return f"--{name} {value}"
        is_model = name == "missing"
        given = f"{value!r}" if is_model else f"({value!r},)"
        if name == "lags":
            given = f"({value},)"
        elif name == "calendar":
            given = f"{value!r}"
        return f"{'Online' if is_model else 'Recipe'}({name}={given})"

    def location(self, position: int) -> str:
        """Where a row of the chunk is: ``Row 7 (line 8) of stream.csv``."""
        if self.source == ROW:
            return "The row"
        line = "" if self.line_of is None else f" (line {self.line_of(position):,})"
        return f"Row {self.first_row + position + 1:,}{line} of {self.source}"

    def _culprit(self, name: str, error: CellError) -> str:
        return f"{self.location(error.position)}: {name!r} is {short_repr(error.value)}"


def short_repr(value: Any) -> str:
    """``repr``, cut where it would fill the screen."""
    text = repr(value)
    return text if len(text) <= _MAX_REPR else f"{text[:_MAX_REPR]}..."


def _separator_hint(value: Any) -> str:
    if not isinstance(value, str) or not has_separators(value):
        return ""
    return " (write a decimal point, and no thousands separators)"
