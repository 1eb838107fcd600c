"""Rows of one series as a forecast reads them: target, time and features."""

from typing import Any, NamedTuple

import numpy as np

from thalweg.tables.timestamps import TimeArray
from thalweg.types import FloatArray


class RowTimes(NamedTuple):
    """The times of rows as a file gives them; None where it gives none."""

    instants: Any = None  # (T,) datetime64[ns] in UTC, or float64
    offsets: Any = None  # (T,) timedelta64[ns], or None

    def take(self, rows: Any) -> "RowTimes":
        """The times of some rows."""
        return RowTimes(*(None if part is None else part[rows] for part in self))

    def join(self, later: "RowTimes") -> "RowTimes":
        """Both, one after the other."""
        return RowTimes(
            *(
                None if a is None or b is None else np.concatenate([a, b])
                for a, b in zip(self, later, strict=True)
            )
        )

    def local(self) -> TimeArray:
        """Times by local clocks."""
        if self.offsets is None:
            return np.asarray(self.instants)
        zero = np.timedelta64(0, "ns")
        offsets = np.where(np.isnat(self.offsets), zero, self.offsets)
        return np.asarray(self.instants + offsets)


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
