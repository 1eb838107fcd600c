"""Glued series: which columns tell the series of a long table apart.

A table whose times go back or repeat is most often several series, one below the other
or row by row. The key is the column, or the pair of columns, of text or whole numbers
within each of whose values times are unique and rise, but for a few rows that repeat
a time, as where summer time ends.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.cli.forecasts.row_keys import MAX_KEYS, Key, split_by_key
from thalweg.errors import InvalidParameterError, StreamError
from thalweg.tables import Chunk, Table
from thalweg.tables.format_detection import FormatSettings, detect_formats
from thalweg.tables.schema import is_unnamed
from thalweg.tables.time_parts import part_names
from thalweg.types import FloatArray

MIN_REPEATS = 0.01
"""Share of rows not later than the row before from which rows look like several series;
or one long step back does."""
SHORT_STEP_BACK = 0.01
"""Within a key a step back may be this share of the whole span, in a few rows."""
LONG_STEP_BACK = 0.25
"""A step back is long if it is this share of the whole span of times."""
MIN_ROWS_PER_KEY = 5
"""Rows that a key must have in the mean: what differs in each row is no key."""
TIME_NAMES = ("date", "datetime", "timestamp", "time", "ds", "year", "t")
"""Names of columns of numbers that are taken as times if they rise row by row."""
MAX_COLUMNS = 8
"""Columns that are looked at as keys, the leftmost of text, then of whole numbers."""


class StepBack(NamedTuple):
    """A row that is earlier than the row before."""

    row: int  # counted from 1
    before: float  # the time of the row before
    time: float


class TimeOrder:
    """Whether the rows of a table are in order of time."""

    def __init__(self) -> None:
        self.rows = 0
        self.repeats = 0  # rows that are not later than the row before
        self.first_repeat: int | None = None  # the first such row, counted from 1
        self.steps_back = 0  # rows that are earlier than the row before
        self.first_back: StepBack | None = None
        self.longest_back = 0.0
        self._first, self._last = np.inf, -np.inf
        self._before = np.nan

    def add(self, times: FloatArray) -> None:
        """Take the times of the next rows, as numbers."""
        if not len(times):
            return
        before = np.append(self._before, times)
        steps = np.diff(before)
        self.steps_back += int((steps < 0).sum())
        if self.first_back is None and self.steps_back:
            k = int((steps < 0).argmax())
            self.first_back = StepBack(self.rows + k + 1, before[k], before[k + 1])
        is_repeat = steps <= 0
        if self.first_repeat is None and is_repeat.any():
            self.first_repeat = self.rows + int(is_repeat.argmax()) + 1
        self.repeats += int(is_repeat.sum())
        self.longest_back = max(self.longest_back, float(np.nanmax([0.0, *-steps])))
        self._first = min(self._first, float(times.min()))
        self._last = max(self._last, float(times.max()))
        self._before, self.rows = float(times[-1]), self.rows + len(times)

    @property
    def span(self) -> float:
        """From the earliest time to the latest."""
        return self._last - self._first

    def has_broken_dates(self) -> bool:
        """Whether a few steps go back, one far: wrong dates, or years put together."""
        are_few = 0 < self.steps_back <= max(1, MIN_REPEATS * self.rows)
        return are_few and self.longest_back > SHORT_STEP_BACK * self.span

    def looks_like_several_series(self) -> bool:
        """Whether many rows repeat a time, or one goes far back."""
        is_far = self.longest_back > 0
        is_far &= self.longest_back >= LONG_STEP_BACK * self.span
        return is_far or self.repeats > MIN_REPEATS * self.rows


class KeyCandidate:
    """Columns that may be the key, while times rise within each of their values."""

    def __init__(self, columns: tuple[str, ...], span: float) -> None:
        self.columns = columns
        self.is_possible = True
        self.repeats = 0  # rows that are not later than the row before of their key
        self._longest_back = SHORT_STEP_BACK * span
        self.latest: dict[Key, float] = {}

    def add(self, chunk: Chunk, times: FloatArray) -> None:
        """Look at the next rows."""
        for key, rows in split_by_key(chunk, self.columns):
            steps = np.diff(np.append(self.latest.get(key, -np.inf), times[rows]))
            if (steps < -self._longest_back).any():
                self.is_possible = False
                return
            self.repeats += int((steps <= 0).sum())
            self.latest[key] = float(times[rows[-1]])
        self.is_possible = len(self.latest) <= MAX_KEYS


class FoundKey(NamedTuple):
    """The key of a table, and how many series it tells apart."""

    columns: tuple[str, ...]
    series: int


def find_key(
    chunks: Iterator[Chunk], target: Sequence[str], time: str, order: TimeOrder,
    direction: int = 1,
) -> FoundKey | None:  # fmt: skip
    """The key of a table whose rows look like several series; None if none is found.

    ``direction``: -1 if the newest rows of each series come first.
    """
    candidates: list[KeyCandidate] | None = None
    for chunk in chunks:
        if candidates is None:
            names = _candidate_columns(chunk, (*target, time))
            choices = [(name,) for name in names] + list(combinations(names, 2))
            candidates = [KeyCandidate(columns, order.span) for columns in choices]
        times = direction * times_as_numbers(chunk, time)
        for candidate in candidates:
            if candidate.is_possible:
                _add(candidate, chunk, times)
    possible = [one for one in candidates or () if _is_likely(one, order)]
    if not possible:
        return None
    best = min(possible, key=lambda one: (len(one.columns), len(one.latest)))
    return FoundKey(best.columns, len(best.latest))


def detect_key(
    open_table: Callable[[], AbstractContextManager[Table]], targets: Sequence[str],
    time: str | None, settings: FormatSettings,
) -> FoundKey | None:  # fmt: skip
    """The key of a table; None where its rows are in order, or no key is found."""
    order, formats = TimeOrder(), None
    with open_table() as table:
        for chunk in table.chunks():
            if formats is None:
                formats = detect_formats(chunk, list(chunk.cells), settings).formats
                time = time or first_time(chunk.with_formats(formats), targets)
            if time is None or time not in chunk.cells:
                return None
            times = times_as_numbers(chunk.with_formats(formats), time)
            if np.isnan(times).any():
                return None
            order.add(times)
    if time is None or not order.looks_like_several_series():
        return None
    with open_table() as table:
        chunks = (chunk.with_formats(formats or ()) for chunk in table.chunks())
        return find_key(chunks, targets, time, order)


def first_time(chunk: Chunk, targets: Sequence[str]) -> str | None:
    """The first column of times, or of numbers that are called so."""
    names = [
        name
        for name in chunk.cells
        if name not in targets and not {*part_names(name, chunk.cells)} & {*targets}
    ]
    times = [name for name in names if chunk.kind(name) == "time"]
    return times[0] if times else time_by_name(chunk, names)


def time_by_name(chunk: Chunk, names: Sequence[str]) -> str | None:
    """The first column of numbers that is called what times are called."""
    for wanted in TIME_NAMES:
        for name in names:
            if name.strip().lower() == wanted and chunk.kind(name) == "number":
                return name
    return None


def times_as_numbers(chunk: Chunk, time: str) -> npt.NDArray[np.float64]:
    """The times of a chunk in order, as numbers: nanoseconds since 1970 or as they are.

    Differences of 256 nanoseconds or less are lost.
    """
    values: Any = (
        chunk.numbers(time)
        if chunk.kind(time) == "number"
        else chunk.timestamps(time).instants
    )
    if values.dtype.kind == "M":
        known = ~np.isnat(values)
        return np.where(known, values.astype(np.int64).astype(np.float64), np.nan)
    return np.asarray(values, np.float64)


def _add(candidate: KeyCandidate, chunk: Chunk, times: FloatArray) -> None:
    """Look at the next rows; a column of numbers that are not whole is no key."""
    try:
        for name in candidate.columns:
            if chunk.kind(name) == "number":
                numbers = chunk.numbers(name)
                known = numbers[~np.isnan(numbers)]
                if (known != np.floor(known)).any():
                    candidate.is_possible = False
                    return
        candidate.add(chunk, times)
    except StreamError:  # a cell that is neither text nor a number
        candidate.is_possible = False


def _candidate_columns(chunk: Chunk, others: Sequence[str]) -> list[str]:
    """Columns of text, then those of whole numbers, from left to right."""
    parts = [part for name in others for part in part_names(name, chunk.cells)]
    names = [name for name in chunk.cells if name not in (*others, *parts)]
    names = [name for name in names if not is_unnamed(name)]
    text = [name for name in names if chunk.kind(name) == "text"]
    numbers = [name for name in names if chunk.kind(name) == "number"]
    return [*text, *numbers][:MAX_COLUMNS]


def _is_likely(candidate: KeyCandidate, order: TimeOrder) -> bool:
    """Whether its keys are several, have several rows, and explain the steps back."""
    keys = len(candidate.latest)
    return (
        candidate.is_possible
        and candidate.repeats <= MIN_REPEATS * order.rows
        and keys >= 2
        and order.rows >= MIN_ROWS_PER_KEY * keys
        and order.repeats >= (keys - 1) / 2
    )


def refuse_time_as_key(chunk: Chunk, keys: Sequence[str]) -> None:
    """Raise if the rows have no times but in a column of the key."""
    for name in keys:
        if chunk.kind(name) == "time":
            raise InvalidParameterError(
                f"--key names {name!r}, which holds the times of the rows. A key says "
                f"which series a row belongs to; if these do, say --time none."
            )


def key_sentence(found: FoundKey) -> str:
    """What was taken as the key, and how to say otherwise."""
    columns, option = found.columns, ",".join(found.columns)
    names = " and ".join(repr(name) for name in columns)
    return (
        f"The rows are {found.series:,} series, told apart by {names}: taken as "
        f"--key {option}; --key none to treat them as one."
    )
