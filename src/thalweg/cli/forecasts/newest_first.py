"""Tables whose newest rows come first, as exports of banks and web pages write them.

Times then fall from row to row, throughout; in a table of several series within each
of them. A few short steps forward are allowed, as where summer time begins. The answer
for rows in order of time is known after the first chunk.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from thalweg.cli.forecasts.key_detection import (
    SHORT_STEP_BACK,
    TimeOrder,
    find_key,
    first_time,
    times_as_numbers,
)
from thalweg.cli.forecasts.row_keys import Key, split_by_key
from thalweg.errors import StreamError
from thalweg.tables import Chunk, Table
from thalweg.tables.column_format import ColumnFormat
from thalweg.tables.format_detection import FormatSettings, detect_formats
from thalweg.types import FloatArray

MAX_RISES = 0.01
"""Share of steps that may go forward in a table whose newest rows come first."""


class OrderOptions(NamedTuple):
    """The columns by which the order of rows is found."""

    targets: Sequence[str]
    time: str | None = None  # None: the first column of times
    keys: tuple[str, ...] | None = None  # None: to be found, (): one series
    settings: FormatSettings = FormatSettings()
    formats: tuple[ColumnFormat, ...] | None = None  # None: to be found


class StepCounts:
    """How often times rise and fall from row to row of each key."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self.falls = self.rises = self.ties = 0
        self._keys = keys
        self._longest_rise = 0.0
        self._latest: dict[Key, float] = {}

    def add(self, chunk: Chunk, times: FloatArray) -> None:
        """Take the next rows."""
        for key, rows in split_by_key(chunk, self._keys):
            own = times[rows]
            steps = np.diff(np.append(self._latest.get(key, own[0]), own))
            self.falls += int((steps < 0).sum())
            self.rises += int((steps > 0).sum())
            self.ties += int((steps == 0).sum()) - (key not in self._latest)
            self._longest_rise = max(self._longest_rise, float(steps.max()))
            self._latest[key] = float(own[-1])

    def falls_throughout(self, span: float) -> bool:
        """Whether no step goes forward, but for a few short ones."""
        are_few = self.rises <= MAX_RISES * self.falls
        is_short = self._longest_rise <= SHORT_STEP_BACK * span
        return self.falls > 0 and are_few and is_short


def newest_first_time(
    open_table: Callable[[], Table], options: OrderOptions
) -> str | None:
    """The column of times by which the newest rows come first; None if they do not."""
    found = None
    with suppress(StreamError):  # What is wrong with a row, its reader says.
        found = _newest_first_time(open_table, options)
    return found


def _newest_first_time(
    open_table: Callable[[], Table], options: OrderOptions
) -> str | None:
    time, formats = options.time, options.formats
    counts, order = StepCounts(options.keys or ()), TimeOrder()
    is_number = False
    with open_table() as table:
        if table.is_live:
            return None
        for chunk in table.chunks():
            if formats is None:
                names = list(chunk.cells)
                formats = detect_formats(chunk, names, options.settings).formats
            chunk = chunk.with_formats(formats)
            others = (*options.targets, *(options.keys or ()))
            time = time or first_time(chunk, others)
            if time is None or not {time, *(options.keys or ())} <= {*chunk.cells}:
                return None
            is_number = chunk.kind(time) == "number"
            times = times_as_numbers(chunk, time)
            if np.isnan(times).any():
                return None
            counts.add(chunk, times)
            order.add(-times)
            if counts.rises > MAX_RISES * counts.falls and (
                options.keys is not None or counts.rises >= counts.falls
            ):
                return None
    if time is None or (
        is_number and counts.ties
    ):  # Numbers that repeat are hardly times.
        return None
    if counts.falls_throughout(order.span):
        return time
    if options.keys is not None or not counts.rises:
        return None
    known = options._replace(time=time, formats=formats)
    return time if _has_falling_series(open_table, known, order) else None


def _has_falling_series(
    open_table: Callable[[], Table], options: OrderOptions, order: TimeOrder
) -> bool:
    """Whether the rows are series, one below the other, whose newest rows come first.

    ``order`` is that of the rows if time went backwards.
    """
    assert options.time is not None
    if not order.looks_like_several_series():
        return False
    with open_table() as table:
        formats = options.formats or ()
        chunks = (chunk.with_formats(formats) for chunk in table.chunks())
        return find_key(chunks, options.targets, options.time, order, -1) is not None


def in_time_order(
    open_table: Callable[[], Table], options: OrderOptions
) -> Callable[[], Table]:
    """What opens the table with its oldest row first."""
    time = newest_first_time(open_table, options)
    return open_table if time is None else lambda: open_table().reverse_rows(time)
