"""Times of a column: when each was, and what the clock on the wall then said."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

TimeArray = npt.NDArray[np.datetime64]
OffsetArray = npt.NDArray[np.timedelta64]
_MINUTE, _SECOND = np.timedelta64(60, "s"), np.timedelta64(1, "s")


@dataclass(frozen=True, eq=False)
class Moments:
    """Times in order of rows; what is written without an offset is taken as UTC."""

    instants: TimeArray  # (T,) datetime64[ns] in UTC, NaT where missing
    offsets: OffsetArray | None = None  # (T,) timedelta64[ns]; NaT: written without

    def __len__(self) -> int:
        return len(self.instants)

    def __getitem__(self, rows: Any) -> "Moments":
        """Some of the rows, by a slice or by their indices."""
        offsets = None if self.offsets is None else self.offsets[rows]
        return Moments(self.instants[rows], offsets)

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which are not missing."""
        return ~np.isnat(self.instants)

    @property
    def has_offset(self) -> npt.NDArray[np.bool_]:
        """Which are written with an offset."""
        if self.offsets is None:
            return np.zeros(len(self), np.bool_)
        return ~np.isnat(self.offsets)

    @property
    def wall(self) -> TimeArray:
        """What the clock on the wall said, as it was written."""
        if self.offsets is None:
            return self.instants
        ahead = np.where(self.has_offset, self.offsets, np.timedelta64(0, "ns"))
        return np.asarray(self.instants + ahead)

    def as_integers(self) -> tuple[int, int | None]:
        """The only time there is and its offset, both in nanoseconds."""
        ahead = None
        if self.has_offset[0] and self.offsets is not None:
            ahead = int(self.offsets[0].astype(np.int64))
        return int(self.instants[0].astype(np.int64)), ahead

    @classmethod
    def of_integers(cls, since: int, ahead: int | None) -> Self:
        """What ``as_integers`` gave."""
        instants = np.array([since], np.int64).view("datetime64[ns]")
        if ahead is None:
            return cls(instants)
        return cls(instants, np.array([int(ahead)], np.int64).view("timedelta64[ns]"))

    def shown(self) -> list[str]:
        """ISO 8601 to the second, or as exact as it takes, with the offset if any."""
        wall = self.wall
        texts = [str(text) for text in np.datetime_as_string(wall, unit="s")]
        for row in np.flatnonzero(wall != wall.astype("datetime64[s]")):
            texts[row] = np.datetime_as_string(wall[row]).rstrip("0")
        if self.offsets is None:
            return texts
        levels, codes = np.unique(self.offsets, return_inverse=True)
        suffixes = [_suffix(level) for level in levels]
        return [text + suffixes[code] for text, code in zip(texts, codes, strict=True)]


def _suffix(offset: np.timedelta64) -> str:
    """+02:00; nothing where there is no offset."""
    if np.isnat(offset):
        return ""
    hours, minutes = divmod(abs(offset) // _MINUTE, 60)
    # Before there were time zones, clocks went by the sun, to the second.
    seconds = abs(offset) % _MINUTE // _SECOND
    text = f"{'-' if offset < 0 * _SECOND else '+'}{hours:02d}:{minutes:02d}"
    return f"{text}:{seconds:02d}" if seconds else text
