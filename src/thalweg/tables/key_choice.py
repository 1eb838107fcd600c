"""Columns that may be the key of a table, and the series that they tell apart.

Rows whose times go back or repeat are most often several series, one below the other
or row by row. The key is the column, or the pair of columns, of text or whole numbers
within each of whose values times rise, but for a few rows that repeat a time, as where
summer time ends. All choices are followed from the first rows on.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.calendar.row_clock import GRID_ROWS
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables.cells import Categorical
from thalweg.tables.chunk import Chunk
from thalweg.tables.row_keys import MAX_KEYS, IntArray, Key, RowGroups
from thalweg.tables.schema import is_unnamed
from thalweg.tables.time_order import (
    LONG_STEP_BACK,
    MIN_REPEATS,
    SHORT_STEP_BACK,
    TimeOrder,
)
from thalweg.tables.time_parts import part_names
from thalweg.tables.timestamps import TimeArray
from thalweg.types import FloatArray

MIN_ROWS_PER_KEY = 5
"""Minimum rows of a key in the mean: what differs in each row is no key."""
MIN_CHANCE_REPEATS = 3.0
"""Number of repeated times that a key has to explain: as many would be left by chance
if rows fell into as many groups at random."""
CHANCE_SHARE = 0.25
"""Limit of the repeats that a key leaves, as a share of those left by chance."""
MAX_COLUMNS = 8
"""Limit of columns that may be keys: the leftmost of text, then of whole numbers."""
PATIENCE_ROWS = 10_000
"""Number of rows after which a key with a quarter of them out of order is given up."""

BoolArray = npt.NDArray[np.bool_]


class SeriesScan(NamedTuple):
    """What the scan has seen of one series."""

    first_row: int  # of the table
    last_row: int
    rows: int
    known: int  # rows with a target
    future: int  # rows after the last target
    out_of_order: int  # rows that are not later than one before
    present: Any  # (m,) in how many of the future rows each feature is known


class ChunkRows(NamedTuple):
    """What the scan looks at in the rows of a chunk."""

    first_row: int  # of the table
    times: FloatArray | None = None  # (T,) in order, as numbers
    ranks: IntArray | None = None  # (T,) of the times among those of the chunk
    known: BoolArray | None = None  # (T,) whether a target is
    present: BoolArray | None = None  # (T, m) whether features are
    clock: TimeArray | None = None  # (T,) times by local clocks


_TOTALS = np.dtype(
    [("first_row", "i8"), ("last_row", "i8"), ("rows", "i8"), ("known", "i8"),
     ("future", "i8"), ("out_of_order", "i8"), ("last", "f8"), ("latest", "f8")]
)  # fmt: skip


class KeyChoice:
    """Columns that may be the key, and the series that these would tell apart."""

    def __init__(self, columns: tuple[str, ...]) -> None:
        self.columns = columns
        self.places: dict[Key, int] = {}  # in the arrays below
        self.totals = np.zeros(0, _TOTALS)
        self.present: IntArray = np.zeros((0, 0), np.intp)
        self.repeats = 0  # rows that are not later than the row before of their key
        self.steps_back = 0  # rows that are earlier
        self.longest_back = 0.0
        self.first_times: TimeArray = np.empty(0, "datetime64[ns]")

    def add(self, groups: RowGroups, rows: ChunkRows) -> None:
        """Take the next rows."""
        at, order = (
            self._find_places(groups.keys),
            np.argsort(groups.group, kind="stable"),
        )
        counts = np.bincount(groups.group)
        stops = np.cumsum(counts)
        starts, totals = stops - counts, self.totals
        is_new = totals["rows"][at] == 0
        first = rows.first_row + order[starts]
        totals["first_row"][at] = np.where(is_new, first, totals["first_row"][at])
        totals["last_row"][at] = rows.first_row + order[stops - 1]
        totals["rows"][at] += counts
        if rows.times is not None and rows.ranks is not None:
            self._add_times(rows.times[order], rows.ranks[order], at, counts)
        if rows.known is not None and rows.present is not None:
            self._add_values(rows.known[order], rows.present[order], at, counts)
        if rows.clock is not None and len(self.first_times) < GRID_ROWS:
            own = rows.clock[order[np.repeat(at, counts) == 0]]
            self.first_times = np.append(self.first_times, own)[:GRID_ROWS]

    def _find_places(self, keys: Sequence[Key]) -> IntArray:
        places = [self.places.setdefault(key, len(self.places)) for key in keys]
        missing = len(self.places) - len(self.totals)
        if missing:
            new = np.zeros(missing, _TOTALS)
            new["last"] = new["latest"] = -np.inf
            self.totals = np.append(self.totals, new)
        return np.array(places, np.intp)

    def _add_times(
        self, times: FloatArray, ranks: IntArray, at: IntArray, counts: IntArray
    ) -> None:
        """Take times that are sorted by key."""
        stops, totals = np.cumsum(counts), self.totals
        starts = stops - counts
        before = np.append(np.nan, times[:-1])
        before[starts] = totals["last"][at]
        steps = times - before
        self.repeats += int((steps <= 0).sum())
        self.steps_back += int((steps < 0).sum())
        self.longest_back = max(self.longest_back, -float(steps.min()))
        # The highest rank so far within each key: later keys have higher ones.
        levels = np.repeat(np.arange(len(at)), counts) * (len(times) + 1) + ranks
        highest = np.maximum.accumulate(levels)
        is_late = np.append(False, levels[1:] <= highest[:-1])
        is_late |= times <= np.repeat(totals["latest"][at], counts)
        totals["out_of_order"][at] += np.add.reduceat(is_late.astype(np.intp), starts)
        latest = np.maximum.reduceat(times, starts)
        totals["latest"][at] = np.maximum(totals["latest"][at], latest)
        totals["last"][at] = times[stops - 1]

    def _add_values(
        self, known: BoolArray, present: BoolArray, at: IntArray, counts: IntArray
    ) -> None:
        """Take targets and features that are sorted by key."""
        starts, totals = np.cumsum(counts) - counts, self.totals
        missing = len(totals) - len(self.present)
        shape = (missing, present.shape[1])
        if not len(self.present):
            self.present = np.zeros(shape, np.intp)
        elif missing:
            self.present = np.append(self.present, np.zeros(shape, np.intp), axis=0)
        positions = np.arange(len(known))
        last = np.maximum.reduceat(np.where(known, positions, -1), starts)
        is_after = positions > np.repeat(last, counts)
        ahead = np.add.reduceat(is_after.astype(np.intp), starts)
        goes_on = last < 0  # no target is known in these rows
        totals["known"][at] += np.add.reduceat(known.astype(np.intp), starts)
        totals["future"][at] = ahead + goes_on * totals["future"][at]
        if present.shape[1]:
            flags = (present & is_after[:, None]).astype(np.intp)
            there = np.add.reduceat(flags, starts, axis=0)
            self.present[at] = there + goes_on[:, None] * self.present[at]

    def drop_features(self, positions: Sequence[int]) -> None:
        """Forget columns that turned out to be no features."""
        if len(self.present):
            self.present = np.delete(self.present, positions, axis=1)

    def is_lost(self, order: TimeOrder) -> bool:
        """Whether these columns are no key, whatever comes."""
        if len(self.places) > MAX_KEYS:
            return True
        is_unordered = self.repeats > LONG_STEP_BACK * order.rows
        is_unordered |= self.longest_back > LONG_STEP_BACK * order.span
        return order.rows >= PATIENCE_ROWS and is_unordered

    def is_likely(self, order: TimeOrder) -> bool:
        """Whether several keys, each with several rows, explain the steps back."""
        keys = len(self.places)
        return (
            self.longest_back <= SHORT_STEP_BACK * order.span
            and self.repeats <= MIN_REPEATS * order.rows
            and keys >= 2
            and order.rows >= MIN_ROWS_PER_KEY * keys
            and order.repeats >= (keys - 1) / 2
            and self._explains_more_than_chance(order)
        )

    def _explains_more_than_chance(self, order: TimeOrder) -> bool:
        """Whether groups made at random would leave more repeated times than these.

        Two rows of one time fall into the same of K random groups once in K times, so
        that many small groups explain any times. Where series come one after the other,
        random groups would leave a step back in each.
        """
        by_chance = order.repeats / len(self.places)
        is_explained = self.repeats <= CHANCE_SHARE * by_chance
        return order.steps_back > 0 or (
            by_chance >= MIN_CHANCE_REPEATS and is_explained
        )

    def series(self) -> dict[Key, SeriesScan]:
        """What was seen of each series, in the order in which they begin."""
        fields = [self.totals[name].tolist() for name in SeriesScan._fields[:-1]]
        present = self.present if len(self.present) else [None] * len(self.places)
        rows = zip(self.places, *fields, present, strict=True)
        return {key: SeriesScan(*others) for key, *others in rows}


class FoundKey(NamedTuple):
    """Columns within whose values times rise, and how many series they tell apart."""

    columns: tuple[str, ...]
    series: int

    def names(self) -> str:
        """The columns as a sentence names them."""
        return " and ".join(map(repr, self.columns))

    def option(self) -> str:
        """How to name them."""
        return f"--key {','.join(self.columns)}"


def key_choices(
    chunk: Chunk, time: str | None, targets: Sequence[str]
) -> list[KeyChoice]:
    """Columns of text, then those of whole numbers, one by one, then pairs of them."""
    if time is None:
        return []
    others = (*targets, time)
    parts = [part for name in others for part in part_names(name, chunk.cells)]
    names = [name for name in chunk.cells if name not in (*others, *parts)]
    names = [name for name in names if not is_unnamed(name)]
    text = [name for name in names if chunk.kind(name) == "text"]
    numbers = [name for name in names if chunk.kind(name) == "number"]
    names = [*text, *numbers][:MAX_COLUMNS]
    return [
        *(KeyChoice((name,)) for name in names),
        *map(KeyChoice, combinations(names, 2)),
    ]


def key_cells(chunk: Chunk, name: str) -> Categorical | None:
    """The cells of a column that may be of the key; None if it cannot."""
    with suppress(StreamError):  # a cell that is neither text nor a number
        if _has_decimals(chunk, name):
            return None
        cells = chunk.categories(name)
        return cells if len(cells.levels) <= MAX_KEYS else None
    return None


def measured_column(chunk: Chunk, keys: tuple[str, ...]) -> str | None:
    """The first column of the key with a number that is not whole."""
    return next((name for name in keys if _has_decimals(chunk, name)), None)


def _has_decimals(chunk: Chunk, name: str) -> bool:
    if chunk.kind(name) != "number":
        return False
    numbers = chunk.numbers(name)
    known = numbers[~np.isnan(numbers)]
    return bool((known != np.floor(known)).any())


def ranks(times: FloatArray) -> IntArray:
    """The rank of each time among those of the chunk; equal times have the same."""
    return np.unique(times, return_inverse=True)[1].reshape(-1)


def refuse_time_as_key(chunk: Chunk, keys: Sequence[str]) -> None:
    """Raise if the rows have no times but in a column of the key."""
    for name in keys:
        if chunk.kind(name) == "time":
            raise InvalidParameterError(
                f"--key names {name!r}, which holds the times of the rows. A key says "
                f"which series a row belongs to; if these do, say --time none."
            )
