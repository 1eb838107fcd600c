"""Change alarms as the rounds come, in constant memory."""

from typing import Any

import numpy as np

from thalweg.errors import PersistenceError
from thalweg.evaluation.kept import LONGEST, amount, finite, need, parts, whole
from thalweg.learners.tracker.change_detection import (
    SMOOTHING,
    Pause,
    earlier_memory,
    raise_alarms,
)
from thalweg.types import FloatArray

HISTORY = 2**16
"""Rounds of smoothed memory that are kept. The Tracker's longest memory but for "all"
is 4,096; an alarm that looks back further than this is not raised."""
MOST = 5000
"""Alarms that are kept: the newest. More are counted."""
LARGEST_LOG = 40.0
"""Above the logarithm of any number of rounds, and below that of 2**63."""


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
        self._quiet = Pause()

    @property
    def alarms(self) -> tuple[int, ...]:
        """The rounds of the newest alarms, the first round being 1."""
        return tuple(int(one) + 1 for one in self._alarms)

    def add(self, memory: FloatArray) -> None:
        """Take the memory of the next rounds, shape (T,)."""
        if not len(memory):
            return
        if not (memory < LONGEST).all():
            raise PersistenceError(
                "The Tracker's memory is no number of rounds any more: the file that "
                "was resumed could not have come of a run."
            )
        smooth = self._smoothed(memory)
        known = np.append(self._smooth, smooth)
        first = self._rounds - len(self._smooth)  # the round of known[0]
        before = earlier_memory(smooth, known, first)
        found, self._quiet = raise_alarms(smooth, before, self._rounds, self._quiet)
        self.count += len(found)
        self._alarms = np.append(self._alarms, found)[-MOST:]
        self._smooth = known[-HISTORY:]
        self._rounds += len(memory)

    def _smoothed(self, memory: FloatArray) -> FloatArray:
        """The geometric mean over SMOOTHING rounds, or as many as there are."""
        logs = np.log(np.maximum(memory, 1.0))
        # One running sum from the first round on, so that any cut gives the same bits.
        sums = np.append(self._sums[:-1], np.cumsum(np.append(self._sums[-1], logs)))
        ends = np.arange(len(self._sums), len(sums))
        starts = np.maximum(ends - SMOOTHING, 0)
        self._sums = sums[-SMOOTHING - 1 :].copy()
        return np.asarray(np.exp((sums[ends] - sums[starts]) / (ends - starts)))

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that it remembers, for a file."""
        counts = (self.count, self._rounds, tuple(self._quiet))
        return *counts, self._alarms, self._sums, self._smooth

    def resume(self, kept: Any, rounds: int) -> None:
        """Go on from what was kept of so many rounds."""
        count, own, quiet, alarms, sums, smooth = parts("alarms", kept, 6)
        need(own == rounds, "alarms")
        self.count, self._rounds = whole("alarms", count, rounds), rounds
        level, until = parts("alarms", quiet, 2)
        over = whole("alarms", until, 2 * LONGEST)
        self._quiet = Pause(amount("alarms", level), over)
        self._alarms = finite("alarms", alarms, (min(count, MOST),))
        need(((0 <= alarms) & (alarms < rounds)).all(), "alarms")
        self._sums = finite("memory", sums, (min(rounds, SMOOTHING) + 1,))
        logs = np.diff(sums)
        need(((0 <= logs) & (logs < LARGEST_LOG)).all(), "memory")
        self._smooth = finite("memory", smooth, (min(rounds, HISTORY),))
        need((smooth <= LONGEST).all(), "memory")
