"""What goes on inside the Tracker, kept in constant memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.evaluation.alarm_log import AlarmLog
from thalweg.evaluation.digest import Digest
from thalweg.evaluation.kept import parts, whole
from thalweg.evaluation.study import Inside
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.learners.tracker.diagnostics import KIND_OF_EXPERT, KINDS
from thalweg.types import FloatArray, Trace

DRAWN = 32
"""Coefficients of at most so many features are kept: the first ones."""
RECORDS = ("theta", "weights", "memory", "interval")
FIRST_OF_KIND = np.searchsorted(KIND_OF_EXPERT, np.arange(len(KINDS)))


class Insight:
    """The Tracker that is run, and digests of what it records of every round."""

    def __init__(self, features: int, delay: int = 0) -> None:
        self.tracker = Tracker(delay=delay)
        self.alarms = AlarmLog()
        self.covered = 0  # rounds whose label lay in its interval
        self.told = 0  # of so many that had one
        self._drawn = min(features, DRAWN)
        self._digests = [Digest() for _ in range(1 + len(KINDS) + self._drawn)]

    def add(self, trace: Trace, y: FloatArray) -> None:
        """Take the next rounds: what was recorded, and their labels, NaN if unknown."""
        assert trace.theta is not None
        memory, weights = trace.extras["memory"], trace.extras["weights"]
        # No matrix product: its rounding depends on how the stream was cut.
        by_kind = np.add.reduceat(weights, FIRST_OF_KIND, axis=1)
        columns = np.vstack([memory, by_kind.T, trace.theta[:, : self._drawn].T])
        for digest, column in zip(self._digests, columns, strict=True):
            digest.add(column)
        self.alarms.add(memory)
        if "interval" in trace.extras:
            low, high = trace.extras["interval"].T
            # An interval without a width is none: no error has been seen yet.
            told = (low < high) & ~np.isnan(y)
            self.told += int(told.sum())
            self.covered += int((told & (low <= y) & (y <= high)).sum())

    def inside(self, state: TrackerState, features: Sequence[str]) -> Inside:
        """All of it, for a study; ``state`` is the Tracker's last."""
        memory, *others = (digest.curve() for digest in self._digests)
        level = (self.tracker.coverage, self.covered / self.told) if self.told else None
        kinds = [kind.name for kind in KINDS]
        slopes = zip(features, others[len(kinds) :], strict=False)
        return Inside(
            memory,
            self.alarms.alarms,
            dict(zip(kinds, others, strict=False)),
            # A feature that never was anything but constant has no coefficient.
            {name: one for name, one in slopes if one.low.any() or one.high.any()},
            (level,) if level else (),
            state.season,
            self.tracker.explain(state),
            self.alarms.count,
        )

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that it remembers, for a file."""
        digests = tuple(digest.kept for digest in self._digests)
        return self.covered, self.told, self.alarms.kept, digests

    def resume(self, kept: Any, rounds: int) -> None:
        """Go on from what was kept of so many rounds."""
        covered, told, alarms, digests = parts("insight", kept, 4)
        self.told = whole("coverage", told, rounds)
        self.covered = whole("coverage", covered, self.told)
        self.alarms.resume(alarms, rounds)
        found = parts("insight", digests, len(self._digests))
        self._digests = [Digest.resumed(one, rounds) for one in found]
