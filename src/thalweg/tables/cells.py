"""The cells of one column in one chunk, before anyone has said what they are."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from thalweg.tables import literals
from thalweg.tables.literals import Kind, Moment
from thalweg.tables.moments import Moments
from thalweg.types import FloatArray

_PLAIN = {float, int, bool, type(None)}


class Coded(NamedTuple):
    """A column of text: each different text once, in order of first appearance."""

    codes: npt.NDArray[np.intp]  # (T,) index into ``levels``; -1 where missing
    levels: list[str]


class MisfitError(Exception):
    """A cell is not what its column is read as; turned into a sentence by the chunk."""

    def __init__(self, position: int, value: Any) -> None:
        super().__init__(position, value)
        self.position = position  # in the chunk
        self.value = value


class Cells(Protocol):
    """One column of a chunk. Each reading raises a ``MisfitError`` where it fails."""

    def __len__(self) -> int: ...

    def cut(self, start: int, stop: int) -> "Cells":
        """The cells from ``start`` to before ``stop``."""

    def kind(self) -> Kind:
        """What the first cell says that the column is."""

    def numbers(self) -> FloatArray:
        """As float64, NaN where missing."""

    def times(self) -> Moments:
        """As moments, each with the offset it is written with."""

    def words(self) -> Coded:
        """As text."""


class ListedCells:
    """Cells as the standard library's readers give them: str, float, int, bool, None.

    It defines what a column means; ``arrow_cells`` is held to it by tests.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def cut(self, start: int, stop: int) -> "ListedCells":
        """The cells from ``start`` to before ``stop``."""
        return ListedCells(self.values[start:stop])

    def kind(self) -> Kind:
        """What the first cell says that the column is."""
        first = self.values[0]
        if isinstance(first, str):
            return literals.kind(first)
        return "number" if type(first) in _PLAIN else "other"

    def numbers(self) -> FloatArray:
        """As float64, NaN where missing."""
        return np.array([_number(i, cell) for i, cell in enumerate(self.values)])

    def times(self) -> Moments:
        """As moments, each with the offset it is written with."""
        found = [_moment(i, cell) for i, cell in enumerate(self.values)]
        since, ahead = np.array(found, np.int64).reshape(-1, 2).T.copy()
        return Moments(since.view("datetime64[ns]"), ahead.view("timedelta64[ns]"))

    def words(self) -> Coded:
        """As text."""
        seen: dict[str | None, int] = {None: -1}
        codes = [
            seen.setdefault(_word(i, cell), len(seen) - 1)
            for i, cell in enumerate(self.values)
        ]
        return Coded(np.array(codes, np.intp), [word for word in seen if word])


def _number(position: int, cell: Any) -> float:
    value = None
    if isinstance(cell, str):
        value = literals.number(cell)
    elif cell is None:
        value = np.nan
    elif type(cell) in _PLAIN:
        try:
            value = float(cell)
        except OverflowError:  # an integer of more than 308 digits
            value = np.inf
    if value is None:
        raise MisfitError(position, cell)
    return value


def _moment(position: int, cell: Any) -> Moment:
    value = None
    if isinstance(cell, str):
        value = literals.moment(cell)
    elif cell is None or cell != cell:
        value = Moment(literals.NOT_A_TIME)
    if value is None:
        raise MisfitError(position, cell)
    return value


def _word(position: int, cell: Any) -> str | None:
    if isinstance(cell, str):
        return None if literals.is_missing(cell) else cell.strip()
    if type(cell) not in _PLAIN:
        raise MisfitError(position, cell)
    if cell is None or cell != cell:
        return None
    if isinstance(cell, bool):
        return str(cell).lower()
    # 1 and 1.0 are one level: which it is may hang on the other cells of a chunk.
    return str(int(cell) if float(cell).is_integer() else cell)
