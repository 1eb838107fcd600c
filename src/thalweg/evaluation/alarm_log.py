"""Change alarms as the rounds come, in constant memory."""

from typing import Any

import numpy as np

from thalweg.learners.tracker.alarms import SMOOTHED, Quiet, earlier, raised
from thalweg.types import FloatArray

HISTORY = 2**16
"""Rounds of smoothed memory that are kept. The Tracker's longest memory but for "all"
is 4,096; an alarm that looks back further than this is not raised."""
MOST = 5000
"""Alarms that are kept: the newest. More are counted."""


class AlarmLog:
    """``learners.tracker.alarms`` over a record of memory that comes in pieces.

    The same rounds to the last one, however the record is cut, as long as none of them
    looks back further than HISTORY rounds.
    """

    def __init__(self) -> None:
        self.count = 0
        self._rounds = 0
        self._alarms: FloatArray = np.empty(0)
        self._sums: FloatArray = np.zeros(1)  # Σ log memory at the last rounds' ends
        self._smooth: FloatArray = np.empty(0)
        self._quiet = Quiet()

    @property
    def alarms(self) -> tuple[int, ...]:
        """The rounds of the newest alarms, the first round being 1."""
        return tuple(int(one) + 1 for one in self._alarms)

    def add(self, memory: FloatArray) -> None:
        """Take the memory of the next rounds, shape (T,)."""
        if not len(memory):
            return
        smooth = self._smoothed(memory)
        known = np.append(self._smooth, smooth)
        first = self._rounds - len(self._smooth)  # the round of known[0]
        before = earlier(smooth, known, first)
        found, self._quiet = raised(smooth, before, self._rounds, self._quiet)
        self.count += len(found)
        self._alarms = np.append(self._alarms, found)[-MOST:]
        self._smooth = known[-HISTORY:]
        self._rounds += len(memory)

    def _smoothed(self, memory: FloatArray) -> FloatArray:
        """The geometric mean over SMOOTHED rounds, or as many as there are."""
        logs = np.log(np.maximum(memory, 1.0))
        # One running sum from the first round on, so that any cut gives the same bits.
        sums = np.append(self._sums[:-1], np.cumsum(np.append(self._sums[-1], logs)))
        ends = np.arange(len(self._sums), len(sums))
        starts = np.maximum(ends - SMOOTHED, 0)
        self._sums = sums[-SMOOTHED - 1 :].copy()
        return np.asarray(np.exp((sums[ends] - sums[starts]) / (ends - starts)))

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that it remembers, for a file."""
        counts = (self.count, self._rounds, tuple(self._quiet))
        return *counts, self._alarms, self._sums, self._smooth

    def resume(self, kept: tuple[Any, ...]) -> None:
        """Go on from what was kept."""
        self.count, self._rounds, quiet = kept[:3]
        self._quiet = Quiet(*quiet)
        self._alarms, self._sums, self._smooth = kept[3:]
