"""Rows of one series as a forecast reads them: target, time and features."""

from typing import Any, NamedTuple

import numpy as np

from thalweg.calendar.series_clock import RowTimes
from thalweg.types import FloatArray


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
