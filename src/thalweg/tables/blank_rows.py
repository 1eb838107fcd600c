"""Blank rows between others: rows of a table with times that hold nothing at all.

Where rows have times, a row without any value is no row of the series, wherever it
stands. Where no column holds times, it is a missing value of an even series, and stays.
"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from thalweg.tables.cells import CellError
from thalweg.tables.chunk import Chunk
from thalweg.tables.format_detection import FormatSettings, detect_formats


class BlankRows:
    """Passes over the blank rows of one table; the others move up."""

    def __init__(self) -> None:
        self._count = 0  # of the table so far
        self._first: Chunk | None = None
        self._has_times: bool | None = None  # None: nobody had to know yet

    def drop(self, chunk: Chunk) -> Chunk:
        """The rows of a chunk that hold something, perhaps none."""
        self._first = self._first or chunk
        chunk = replace(chunk, first_row=chunk.first_row - self._count)
        is_blank = blank_rows(chunk)
        if not is_blank.any() or not self._table_has_times():
            return chunk
        self._count += int(is_blank.sum())
        return chunk.take_rows(np.flatnonzero(~is_blank), chunk.first_row)

    def notes(self, source: str) -> tuple[str, ...]:
        """A sentence that says how many there were, if any."""
        if not self._count:
            return ()
        what = "1 row" if self._count == 1 else f"{self._count:,} rows"
        have, are = ("has", "is") if self._count == 1 else ("have", "are")
        return (
            f"{what} of {source} between others {have} no value and {are} passed over.",
        )

    def _table_has_times(self) -> bool:
        """Whether a column of the table holds times, by its first rows."""
        if self._has_times is None:
            assert self._first is not None
            first = self._first
            names = list(first.cells)
            formats = detect_formats(first, names, FormatSettings()).formats
            first = first.with_formats(formats)
            self._has_times = any(first.kind(name) == "time" for name in names)
        return self._has_times


def blank_rows(chunk: Chunk) -> npt.NDArray[np.bool_]:
    """Which rows of a chunk have no value in any column, (T,)."""
    is_blank = np.ones(len(chunk), np.bool_)
    for cells in chunk.cells.values():
        try:
            is_blank &= cells.categories().codes < 0
        except CellError:  # a list, say
            return np.zeros(len(chunk), np.bool_)
        if not is_blank.any():
            break
    return is_blank
