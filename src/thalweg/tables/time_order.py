"""Whether rows are in order of time: how often times repeat or go back."""

from typing import Any, NamedTuple

import numpy as np

from thalweg.tables.chunk import Chunk
from thalweg.types import FloatArray

MIN_REPEATS = 0.01
"""Share of rows not later than the row before from which rows look like several series;
or one long step back does."""
SHORT_STEP_BACK = 0.01
"""Within a key a step back may be this share of the whole span, in a few rows."""
LONG_STEP_BACK = 0.25
"""A step back is long if it is this share of the whole span of times."""


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


def times_as_numbers(chunk: Chunk, time: str) -> FloatArray:
    """The times of a chunk in order, as numbers: nanoseconds since 1970 or as they are.

    Differences of 256 nanoseconds or less are lost.
    """
    if chunk.kind(time) == "number":
        return chunk.numbers(time)
    return as_numbers(chunk.timestamps(time).instants)


def as_numbers(times: Any) -> FloatArray:
    """Times in order as numbers, NaN where missing."""
    if times.dtype.kind != "M":
        return np.asarray(times, np.float64)
    numbers = times.astype(np.int64).astype(np.float64)
    return np.where(np.isnat(times), np.nan, numbers)
