"""How the Tracker behaves over a stream: memory, weights, coefficients and changes.

Everything is kept in constant memory, and is the same to the last bit however the
stream is cut. Change detection: an alarm is a round in which the effective memory
collapsed, as it does after an abrupt change (concept drift).
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg.errors import PersistenceError
from thalweg.evaluation.downsampling import Downsampler, DownsamplerSnapshot
from thalweg.evaluation.scoring import count_covered
from thalweg.evaluation.study import TrackerHistory
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.learners.tracker.change_detection import (
    SMOOTHING,
    AlarmPause,
    earlier_memory,
    raise_alarms,
)
from thalweg.learners.tracker.explanation import EXPERT_FAMILIES, FAMILY_OF_EXPERT
from thalweg.persistence.snapshots import (
    MAX_COUNT,
    Array,
    Component,
    Condition,
    Count,
    Number,
)
from thalweg.types import FloatArray, Trace

MAX_COEFFICIENTS = 32
"""Coefficients are recorded of at most so many features, the first ones."""
RECORDS = ("theta", "weights", "memory", "interval")
"""What ``Tracker.run`` is asked to record of every round."""
FIRST_OF_FAMILY = np.searchsorted(FAMILY_OF_EXPERT, np.arange(len(EXPERT_FAMILIES)))
HISTORY = 2**16
"""Rounds of smoothed memory that are kept. The Tracker's longest memory but for "all"
is 4,096; an alarm that looks back further than this is not raised."""
MAX_ALARMS = 5000
"""Alarms that are listed: the newest. All are counted."""
MAX_LOG_MEMORY = 40.0
"""Above the logarithm of any number of rounds, and below that of 2**63."""


class AlarmSnapshot(NamedTuple):
    """All that the alarm log remembers."""

    total: int  # alarms so far
    rounds: int
    pause: AlarmPause
    alarm_rounds: FloatArray  # (a,) of the newest alarms, the first round being 0
    log_sums: FloatArray  # (≤ SMOOTHING + 1,) Σ log memory at the ends of last rounds
    smooth_memory: FloatArray  # (≤ HISTORY,) of the last rounds


class AlarmLog(Component):
    """``learners.tracker.change_detection`` on a record of memory that comes in pieces.

    The alarms are those of the whole record, however it is cut, as long as none of
    them looks back further than HISTORY rounds.
    """

    Snapshot: ClassVar[Any] = AlarmSnapshot

    def __init__(self) -> None:
        self.total = 0
        self.rounds = 0
        self.pause = AlarmPause()
        self.alarm_rounds: FloatArray = np.empty(0)
        self.log_sums: FloatArray = np.zeros(1)
        self.smooth_memory: FloatArray = np.empty(0)

    def alarms(self) -> tuple[int, ...]:
        """The rounds of the newest alarms, the first round being 1."""
        return tuple(int(one) + 1 for one in self.alarm_rounds)

    def add(self, memory: FloatArray) -> None:
        """Take the memory of the next rounds, shape (T,)."""
        if not len(memory):
            return
        if not (memory < MAX_COUNT).all():
            raise PersistenceError(
                "The Tracker's memory is no number of rounds any more: the file that "
                "was resumed could not have come of a run."
            )
        smooth = self._smooth(memory)
        known = np.append(self.smooth_memory, smooth)
        first = self.rounds - len(self.smooth_memory)  # the round of known[0]
        before = earlier_memory(smooth, known, first)
        alarms, self.pause = raise_alarms(smooth, before, self.rounds, self.pause)
        self.total += len(alarms)
        self.alarm_rounds = np.append(self.alarm_rounds, alarms)[-MAX_ALARMS:]
        self.smooth_memory = known[-HISTORY:]
        self.rounds += len(memory)

    def rules(self, snapshot: AlarmSnapshot) -> Iterator[tuple[str, Any]]:
        """Sizes and ranges are those of so many rounds."""
        rounds, listed = snapshot.rounds, min(snapshot.total, MAX_ALARMS)
        yield "total", Count(rounds)
        yield "pause", {"level": Number(0.0)}
        yield "alarm_rounds", Array((listed,), 0.0, rounds - 1.0)
        yield "log_sums", Array((min(rounds, SMOOTHING) + 1,))
        logs = np.diff(snapshot.log_sums)
        is_memory = ((0 <= logs) & (logs < MAX_LOG_MEMORY)).all()
        yield "log_sums", Condition(is_memory, "sums of logarithms of a memory")
        yield "smooth_memory", Array((min(rounds, HISTORY),), high=MAX_COUNT)

    def _smooth(self, memory: FloatArray) -> FloatArray:
        """The geometric mean over SMOOTHING rounds, or as many as there are."""
        logs = np.log(np.maximum(memory, 1.0))
        # One running sum from the first round on, so that any cut gives the same bits.
        old = self.log_sums
        sums = np.append(old[:-1], np.cumsum(np.append(old[-1], logs)))
        ends = np.arange(len(old), len(sums))
        starts = np.maximum(ends - SMOOTHING, 0)
        self.log_sums = sums[-SMOOTHING - 1 :].copy()
        return np.asarray(np.exp((sums[ends] - sums[starts]) / (ends - starts)))


class TraceSnapshot(NamedTuple):
    """All that a tracker trace remembers."""

    covered: int  # rounds whose label lay in its interval
    with_interval: int  # scored rounds that had an interval
    alarm_log: AlarmSnapshot
    curves: tuple[DownsamplerSnapshot, ...]  # memory, weights, coefficients


class TrackerTrace(Component):
    """Curves of what the Tracker records of every round, alarms and coverage."""

    Snapshot: ClassVar[Any] = TraceSnapshot

    def __init__(self, tracker: Tracker, features: int) -> None:
        self.tracker = tracker
        self.alarm_log = AlarmLog()
        self.covered = 0
        self.with_interval = 0
        self.coefficients = min(features, MAX_COEFFICIENTS)
        self.curves = [
            Downsampler() for _ in range(1 + len(EXPERT_FAMILIES) + self.coefficients)
        ]

    def add(self, trace: Trace, y: FloatArray) -> None:
        """Take the next rounds: what was recorded, and their labels, NaN if unknown."""
        assert trace.theta is not None
        memory, weights = trace.extras["memory"], trace.extras["weights"]
        # No matrix product: its rounding depends on how the stream was cut.
        by_family = np.add.reduceat(weights, FIRST_OF_FAMILY, axis=1)
        theta = trace.theta[:, : self.coefficients]
        columns = np.vstack([memory, by_family.T, theta.T])
        for curve, column in zip(self.curves, columns, strict=True):
            curve.add(column)
        self.alarm_log.add(memory)
        count, covered = count_covered(trace.extras["interval"], y, y)
        self.with_interval += count
        self.covered += covered

    def history(self, state: TrackerState, features: Sequence[str]) -> TrackerHistory:
        """All of it, for a study; ``state`` is the Tracker's last."""
        memory, *others = (curve.curve() for curve in self.curves)
        coverage: tuple[tuple[float, float], ...] = ()
        if self.with_interval:
            measured = self.covered / self.with_interval
            coverage = ((self.tracker.coverage, measured),)
        families = [family.name for family in EXPERT_FAMILIES]
        slopes = zip(features, others[len(families) :], strict=False)
        return TrackerHistory(
            memory,
            self.alarm_log.alarms(),
            dict(zip(families, others, strict=False)),
            # A feature that never was anything but constant has no coefficient.
            {name: one for name, one in slopes if one.low.any() or one.high.any()},
            coverage,
            state.season,
            self.tracker.explain(state),
            self.alarm_log.total,
        )

    def rules(self, snapshot: TraceSnapshot) -> Iterator[tuple[str, Any]]:
        """Counts and curves are of the same rounds."""
        rounds = snapshot.alarm_log.rounds
        yield "with_interval", Count(rounds)
        yield "covered", Count(snapshot.with_interval)
        is_equal = all(curve.rounds == rounds for curve in snapshot.curves)
        yield "curves", Condition(is_equal, f"curves of {rounds} rounds")
