"""Cells of a column, and what they are read as: numbers, timestamps or text."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from thalweg.tables.date_literals import NOT_A_TIME, DateOrder, ParsedTime
from thalweg.tables.literals import (
    Kind,
    NumberStyle,
    is_missing,
    parse_styled_number,
    parse_time,
    text_kind,
)
from thalweg.tables.timestamps import Timestamps
from thalweg.types import FloatArray

_SCALARS = {float, int, bool, type(None)}
_DIGITS_OF_DATES = (6, 8)
"""Digits of whole numbers that may be months or days, such as 202401 and 20240131."""


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

    def take_rows(self, rows: npt.NDArray[np.intp]) -> "Cells":
        """The cells of some rows, in this order."""

    def kind(self) -> Kind:
        """What the column holds, by its type or by its first cell."""

    def numbers(self, style: NumberStyle = "plain") -> FloatArray:
        """The cells as float64, NaN where missing."""

    def timestamps(self, order: DateOrder = "month first") -> Timestamps:
        """The cells as times, each with the offset it is written with."""

    def categories(self) -> Categorical:
        """The cells as text."""

    def distinct_texts(self) -> list[str] | None:
        """Each text that is not missing once, in order; None if not all are text."""


class PythonCells:
    """Cells as the standard library's readers give them: str, float, int, bool, None.

    This class defines what a column means; tests compare ``ArrowCells`` with it. Cells
    may also be an array of float64, NaN where missing.
    """

    def __init__(self, values: Sequence[Any] | FloatArray) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def slice_rows(self, start: int, stop: int) -> "PythonCells":
        """The cells from ``start`` to before ``stop``."""
        return PythonCells(self.values[start:stop])

    def take_rows(self, rows: npt.NDArray[np.intp]) -> "PythonCells":
        """The cells of some rows, in this order."""
        if isinstance(self.values, np.ndarray):
            return PythonCells(self.values[rows])
        return PythonCells([self.values[row] for row in rows.tolist()])

    def kind(self) -> Kind:
        """What the first cell says that the column holds."""
        first = self.values[0]
        if isinstance(first, str):
            return text_kind(first)
        return (
            "number" if isinstance(first, float) or type(first) in _SCALARS else "other"
        )

    def numbers(self, style: NumberStyle = "plain") -> FloatArray:
        """The cells as float64, NaN where missing."""
        if isinstance(self.values, np.ndarray):
            return self.values
        return np.array([_number(i, cell, style) for i, cell in enumerate(self.values)])

    def timestamps(self, order: DateOrder = "month first") -> Timestamps:
        """The cells as times, each with the offset it is written with."""
        times = [_time(i, cell, order) for i, cell in enumerate(self._scalars())]
        instants, offsets = np.array(times, np.int64).reshape(-1, 2).T.copy()
        return Timestamps(
            instants.view("datetime64[ns]"), offsets.view("timedelta64[ns]")
        )

    def categories(self) -> Categorical:
        """The cells as text."""
        code_of: dict[str | None, int] = {None: -1}
        codes = [
            code_of.setdefault(_text(i, cell), len(code_of) - 1)
            for i, cell in enumerate(self._scalars())
        ]
        return Categorical(np.array(codes, np.intp), [text for text in code_of if text])

    def distinct_texts(self) -> list[str] | None:
        """Each text that is not missing once, in order; None if not all are text."""
        values: Any = self.values
        if not all(isinstance(cell, str) or cell is None for cell in values):
            return None
        return known_texts(values)

    def _scalars(self) -> list[Any]:
        """The cells as Python's own types."""
        values = self.values
        return values.tolist() if isinstance(values, np.ndarray) else list(values)


def known_texts(texts: Sequence[str | None]) -> list[str]:
    """Each text that is not missing once, without blanks around it, in order."""
    stripped = (text.strip() for text in texts if text is not None)
    return list(dict.fromkeys(text for text in stripped if not is_missing(text)))


def _number(position: int, cell: Any, style: NumberStyle) -> float:
    value = None
    if isinstance(cell, str):
        value = parse_styled_number(cell, style)
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


def _time(position: int, cell: Any, order: DateOrder) -> ParsedTime:
    value = None
    if isinstance(cell, str):
        value = parse_time(cell, order)
    elif cell is None or cell != cell:
        value = ParsedTime(NOT_A_TIME)
    elif type(cell) in (int, float) and abs(cell) < 1e8 and cell == int(cell):
        text = str(int(cell))
        value = parse_time(text) if len(text) in _DIGITS_OF_DATES else None
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
