"""Totals between the rows of a file, such as that of each year, which have no time.

Columns of which the first rows are times but for some cells that say ``Total 2023`` or
the like are found once; rows that say so there are then passed over in the whole file.
"""

import numpy as np
import numpy.typing as npt

from thalweg.tables.cells import CellError, Cells
from thalweg.tables.chunk import Chunk, first_rows, short_repr
from thalweg.tables.date_detection import find_date_order
from thalweg.tables.summary_rows import is_summary_word

MAX_SHARE = 1 / 3
"""Share of the first rows that may be totals: those of every quarter are a quarter."""


MIN_TIMES = 6
"""Different times at least among the first rows."""


class SubtotalRows:
    """Passes over the totals between the rows of one file; the others move up."""

    def __init__(self) -> None:
        self._columns: list[str] | None = None  # None: before the first rows
        self._count = 0  # of the file so far
        self._example = ""

    def drop(self, chunk: Chunk) -> Chunk:
        """The rows of a chunk that are none, perhaps all or no row."""
        if self._columns is None:
            cells = first_rows(chunk).items()
            self._columns = [name for name, one in cells if _has_totals(one)]
        if not self._columns:
            return chunk
        is_total = np.zeros(len(chunk), np.bool_)
        for name in self._columns:
            is_own = _total_rows(chunk.cells[name])
            if is_own.any() and not self._count and not is_total.any():
                self._set_example(chunk, name, int(is_own.argmax()))
            is_total |= is_own
        first_row = chunk.first_row - self._count
        self._count += int(is_total.sum())
        rest = chunk.take_rows(np.flatnonzero(~is_total), first_row)
        return rest if chunk.sample is None else rest.with_sample()

    def notes(self) -> tuple[str, ...]:
        """A sentence that says how many rows were passed over, and which first."""
        if not self._count:
            return ()
        others = self._count - 1
        rows = "is 1 other row" if others == 1 else f"are {others:,} other rows"
        return (f"{self._example}{f' So {rows}.' if others else ''}",)

    def _set_example(self, chunk: Chunk, name: str, row: int) -> None:
        cell = chunk.cells[name].slice_rows(row, row + 1).categories().levels[0]
        self._example = (
            f"{chunk.location(row)} is passed over as a summary: {name!r} is "
            f"{short_repr(cell)}, and other rows have times there."
        )


def _has_totals(cells: Cells) -> bool:
    """Whether all first cells are times but for some that say they are totals."""
    texts = cells.distinct_texts() or []
    others = [text for text in texts if not is_summary_word(text)]
    if len(others) == len(texts) or len(others) < MIN_TIMES:
        return False
    is_total = _total_rows(cells)
    if is_total.sum() > MAX_SHARE * len(cells):
        return False
    rest = cells.take_rows(np.flatnonzero(~is_total))
    return find_date_order(rest, others, None) is not None


def _total_rows(cells: Cells) -> npt.NDArray[np.bool_]:
    """Which cells say that their rows are totals, (T,)."""
    try:
        column = cells.categories()
    except CellError:  # a list, say
        return np.zeros(len(cells), np.bool_)
    is_word = np.array([*map(is_summary_word, column.levels), False], np.bool_)
    return np.asarray(is_word[column.codes])
