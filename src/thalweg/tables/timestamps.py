"""Timestamps of a column, and cyclic calendar features that are made of them.

A timestamp is an instant in UTC and, where it was written with one, an offset: what
local clocks were then ahead of UTC. Rows are ordered by instants; the calendar goes by
local clocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from thalweg.calendar.series_clock import RowTimes
from thalweg.types import FloatArray

BoolArray = npt.NDArray[np.bool_]
TimeArray = npt.NDArray[np.datetime64]
OffsetArray = npt.NDArray[np.timedelta64]
_MINUTE, _SECOND = np.timedelta64(60, "s"), np.timedelta64(1, "s")

CALENDAR_FEATURES = (
    "hour sin", "hour cos", "weekday sin", "weekday cos", "year sin", "year cos",
)  # fmt: skip
"""Names of the columns of ``calendar_features``."""
YEAR_FEATURES = CALENDAR_FEATURES[4:]
"""Names of the last two of them, the position in the year."""
_MINUTES_PER_DAY = 24 * 60
_EPOCH_WEEKDAY = 3  # 1 January 1970 was a Thursday, where Monday is 0.


@dataclass(frozen=True, eq=False)
class Timestamps:
    """Times in order of rows; those without an offset are taken as UTC."""

    instants: TimeArray  # (T,) datetime64[ns] in UTC, NaT where missing
    offsets: OffsetArray | None = None  # (T,) timedelta64[ns]; NaT: written without

    def __len__(self) -> int:
        return len(self.instants)

    def __getitem__(self, rows: Any) -> "Timestamps":
        """The timestamps of some rows, given as a slice or as indices."""
        offsets = None if self.offsets is None else self.offsets[rows]
        return Timestamps(self.instants[rows], offsets)

    def is_known(self) -> BoolArray:
        """Which times are not missing, (T,)."""
        return ~np.isnat(self.instants)

    def has_offset(self) -> BoolArray:
        """Which times were written with an offset from UTC, (T,)."""
        if self.offsets is None:
            return np.zeros(len(self), np.bool_)
        return ~np.isnat(self.offsets)

    def local_times(self) -> TimeArray:
        """The local time of each row as it was written, without its offset."""
        if self.offsets is None:
            return self.instants
        zero = np.timedelta64(0, "ns")
        return np.asarray(
            self.instants + np.where(self.has_offset(), self.offsets, zero)
        )

    def as_integers(self, row: int) -> tuple[int, int | None]:
        """One instant in nanoseconds since 1970, and its offset in nanoseconds."""
        offset = None
        if self.offsets is not None and not np.isnat(self.offsets[row]):
            offset = int(self.offsets[row].astype(np.int64))
        return int(self.instants[row].astype(np.int64)), offset

    @classmethod
    def from_integers(cls, instant: int, offset: int | None) -> Self:
        """The one timestamp that ``as_integers`` describes."""
        instants = np.array([instant], np.int64).view("datetime64[ns]")
        if offset is None:
            return cls(instants)
        return cls(instants, np.array([offset], np.int64).view("timedelta64[ns]"))

    def isoformat(self) -> list[str]:
        """ISO 8601 to the second, or as exact as it takes, with offsets if any.

        A missing time is an empty text.
        """
        local, known = self.local_times(), self.is_known()
        texts = [str(text) for text in np.datetime_as_string(local, unit="s")]
        for row in np.flatnonzero(~known):
            texts[row] = ""
        for row in np.flatnonzero(known & (local != local.astype("datetime64[s]"))):
            texts[row] = np.datetime_as_string(local[row]).rstrip("0")
        if self.offsets is None:
            return texts
        levels, codes = np.unique(self.offsets, return_inverse=True)
        suffixes = [_offset_suffix(level) for level in levels]
        return [text + suffixes[code] for text, code in zip(texts, codes, strict=True)]


def join_timestamps(parts: Sequence[Timestamps]) -> Timestamps:
    """Timestamps one after the other."""
    instants = np.concatenate([part.instants for part in parts])
    if all(part.offsets is None for part in parts):
        return Timestamps(instants)
    offsets = [
        np.full(len(part), np.timedelta64("NaT", "ns"))
        if part.offsets is None
        else part.offsets
        for part in parts
    ]
    return Timestamps(instants, np.concatenate(offsets))


def _offset_suffix(offset: np.timedelta64) -> str:
    """The offset as ``+02:00``; empty where there is none."""
    if np.isnat(offset):
        return ""
    hours, minutes = divmod(abs(offset) // _MINUTE, 60)
    # Before there were time zones, clocks went by the sun, to the second.
    seconds = abs(offset) % _MINUTE // _SECOND
    text = f"{'-' if offset < 0 * _SECOND else '+'}{hours:02d}:{minutes:02d}"
    return f"{text}:{seconds:02d}" if seconds else text


def _circle(entries: int, period: float) -> FloatArray:
    """Sine and cosine of 2π·step/period for every step, (entries, 2)."""
    angles = [2 * pi * step / period for step in range(entries)]
    return np.array([(sin(angle), cos(angle)) for angle in angles])


# The features are looked up in tables, to the minute and to the day: NumPy's own sine
# may differ in the last bit with an element's position in its array, and chunks may be
# cut anywhere.
_DAY = _circle(_MINUTES_PER_DAY, _MINUTES_PER_DAY)
_WEEK = _circle(7, 7)
_YEAR = _circle(366, 365.25)


def calendar_features(local_times: TimeArray) -> FloatArray:
    """Position in the day, week and year as sines and cosines (cyclic encoding).

    One row of ``CALENDAR_FEATURES`` for each local time, (T, 6); NaN where a time is
    missing. The day is resolved to the minute, the week and the year to the day.
    """
    missing = np.isnat(local_times)
    known = np.where(missing, np.datetime64(0, "ns"), local_times)
    days = known.astype("datetime64[D]")
    minute = (known - days).astype("timedelta64[m]").astype(np.int64)
    weekday = (days.astype(np.int64) + _EPOCH_WEEKDAY) % 7
    new_year = known.astype("datetime64[Y]").astype("datetime64[D]")
    features = np.hstack(
        [_DAY[minute], _WEEK[weekday], _YEAR[(days - new_year).astype(np.int64)]]
    )
    features[missing] = np.nan
    return features


class TimedRows(NamedTuple):
    """Consecutive rows of one series."""

    y: FloatArray  # (T,) NaN where missing
    times: RowTimes
    x: FloatArray  # (T, m) NaN where missing

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: Any) -> "TimedRows":
        """Some of the rows, given as a slice or as indices."""
        return TimedRows(self.y[rows], self.times.take(rows), self.x[rows])

    def join(self, later: "TimedRows") -> "TimedRows":
        """Both, one after the other."""
        x = np.concatenate([self.x, later.x])
        return TimedRows(np.append(self.y, later.y), self.times.join(later.times), x)
