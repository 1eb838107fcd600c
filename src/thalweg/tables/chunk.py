"""Some consecutive rows of a table, and sentences that say where one of them is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from thalweg.errors import StreamError
from thalweg.tables import literals
from thalweg.tables.cells import Cells, Coded, MisfitError
from thalweg.tables.literals import Kind
from thalweg.tables.moments import Moments
from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive rows. What a column is, is decided by whoever reads it."""

    source: str  # the file's name, for sentences
    first_row: int  # data row of the chunk's first row, from 0
    cells: Mapping[str, Cells]
    line_of: Callable[[int], int] | None = None  # line of a row of the chunk, from 1

    def __len__(self) -> int:
        return len(next(iter(self.cells.values())))

    def cut(self, start: int, stop: int) -> "Chunk":
        """The rows from ``start`` to before ``stop`` of the chunk."""
        if (start, stop) == (0, len(self)):
            return self
        line_of = self.line_of
        return Chunk(
            self.source,
            self.first_row + start,
            {name: cells.cut(start, stop) for name, cells in self.cells.items()},
            None if line_of is None else lambda i: line_of(start + i),
        )

    def kind(self, name: str) -> Kind:
        """What the first cell says that the column is."""
        return self.cells[name].kind()

    def numbers(self, name: str, hint: str = "") -> FloatArray:
        """The column as float64, NaN where missing; a refusal ends with ``hint``."""
        try:
            return self.cells[name].numbers()
        except MisfitError as misfit:
            raise StreamError(
                f"{self._culprit(name, misfit)}, which is no number"
                f"{_decimal_hint(misfit.value)}.{hint}"
            ) from None

    def times(self, name: str) -> Moments:
        """The column as moments."""
        try:
            return self.cells[name].times()
        except MisfitError as misfit:
            raise StreamError(
                f"{self._culprit(name, misfit)}, which is no ISO time such as "
                f"2024-01-31 or 2024-01-31T18:30:00."
            ) from None

    def words(self, name: str) -> Coded:
        """The column as text."""
        try:
            return self.cells[name].words()
        except MisfitError as misfit:
            raise StreamError(
                f"{self._culprit(name, misfit)}, which is no text."
            ) from None

    def place(self, position: int) -> str:
        """Where a row of the chunk is: ``Row 7 (line 8) of stream.csv``."""
        line = "" if self.line_of is None else f" (line {self.line_of(position):,})"
        return f"Row {self.first_row + position + 1:,}{line} of {self.source}"

    def _culprit(self, name: str, misfit: MisfitError) -> str:
        return f"{self.place(misfit.position)}: {name!r} is {shown(misfit.value)}"


def shown(value: Any) -> str:
    """``repr``, cut where it would fill the screen."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _decimal_hint(value: Any) -> str:
    if not isinstance(value, str) or not literals.has_separators(value):
        return ""
    return " (write a decimal point, and no thousands separators)"
