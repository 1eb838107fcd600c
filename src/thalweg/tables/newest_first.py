"""Rows whose times fall throughout: the newest ones come first.

So do exports of banks and web pages; in a table of several series within each of them.
A few short steps forward are allowed. Rows are held as long as that is possible, to be
taken in reverse order; that of rows in order of time is known after the first chunk.
"""

from collections.abc import Iterable

import numpy as np

from thalweg.errors import StreamError
from thalweg.tables.chunk import Chunk
from thalweg.tables.key_choice import MIN_ROWS_PER_KEY, ChunkRows, KeyChoice, ranks
from thalweg.tables.row_filters import require_reversible
from thalweg.tables.row_keys import group_rows
from thalweg.tables.scanned_columns import (
    NO_TIME,
    ScannedColumns,
    ScanOptions,
    choose_columns,
)
from thalweg.tables.time_order import SHORT_STEP_BACK, TimeOrder, times_as_numbers

MAX_RISES = 0.01
"""Share of steps that may go forward in a table whose newest rows come first."""


class FallingTimes:
    """How often times rise and fall from row to row of each key.

    Rises are what steps back would be if time went backwards.
    """

    def __init__(self, keys: tuple[str, ...] | None) -> None:
        self.keys = keys
        self.order, self._series = TimeOrder(), KeyChoice(keys or ())

    def add(self, chunk: Chunk, time: str) -> bool:
        """Take the next rows; returns whether the newest rows may come first."""
        times = times_as_numbers(chunk, time)
        if np.isnan(times).any():
            return False
        self.order.add(-times)
        cells = [chunk.categories(name) for name in self._series.columns]
        rows = ChunkRows(chunk.first_row, -times, ranks(-times))
        self._series.add(group_rows(cells, len(chunk)), rows)
        has_ties = self._series.repeats > self._series.steps_back
        if has_ties and chunk.kind(time) == "number":  # These are hardly times.
            return False
        return self._rise_rarely() or (self.keys is None and self._rises_are_fewer(1))

    def fall_throughout(self) -> bool:
        """Whether no step goes forward, but for a few short ones."""
        is_short = self._series.longest_back <= SHORT_STEP_BACK * self.order.span
        return self._falls > 0 and is_short and self._rise_rarely()

    def may_be_glued(self) -> bool:
        """Whether rows may be series, with the newest rows first in each."""
        return self.keys is None and self._series.steps_back > 0

    def are_likely(self) -> bool:
        """Whether so few steps go forward that they may be those between series."""
        return self._rises_are_fewer(MIN_ROWS_PER_KEY - 1)

    @property
    def _falls(self) -> int:
        series = self._series
        return self.order.rows - len(series.places) - series.repeats

    def _rise_rarely(self) -> bool:
        return self._series.steps_back <= MAX_RISES * self._falls

    def _rises_are_fewer(self, times: int) -> bool:
        return times * self._series.steps_back < self._falls


def hold_falling_rows(
    chunks: Iterable[Chunk], options: ScanOptions, held: list[Chunk]
) -> tuple[ScannedColumns | None, FallingTimes | None]:
    """Hold rows as long as the newest ones may come first.

    Returns the columns, and how times fall, where all rows are held.
    """
    if options.time == NO_TIME:
        return None, None
    falling, columns, cells = FallingTimes(options.keys), None, 0
    for chunk in chunks:
        held.append(chunk)
        columns = columns or choose_columns(chunk, options)
        if columns.time is None:
            return columns, None
        try:
            if not falling.add(chunk.with_formats(columns.formats), columns.time):
                return columns, None
        except StreamError:  # What is wrong with a row, its reader says.
            return columns, None
        cells += len(chunk) * len(chunk.cells)
        if falling.are_likely():
            require_reversible(cells, chunk.source, columns.time)
    return columns, falling
