"""How the Tracker behaves over a stream: memory, weights and coefficients.

Everything is kept in constant memory, and is the same to the last bit however the
stream is cut.
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.errors import PersistenceError
from thalweg.evaluation.downsampling import (
    SAME_ROUNDS,
    Downsampler,
    DownsamplerSnapshot,
)
from thalweg.evaluation.scoring import count_covered
from thalweg.evaluation.study import TrackerHistory
from thalweg.learners.tracker import Tracker, TrackerState
from thalweg.learners.tracker.explanation import EXPERT_FAMILIES, FAMILY_OF_EXPERT
from thalweg.persistence.snapshots import Component
from thalweg.rules import MAX_COUNT, Count
from thalweg.types import FloatArray, Trace

MAX_COEFFICIENTS = 32
"""Limit of the number of features, the first ones, whose coefficients are recorded."""
RECORDS = ("theta", "weights", "memory", "interval")
"""The records of every round requested from ``Tracker.run``."""
FIRST_OF_FAMILY = np.searchsorted(FAMILY_OF_EXPERT, np.arange(len(EXPERT_FAMILIES)))


class TraceSnapshot(NamedTuple):
    """All that a tracker trace remembers."""

    # Rounds whose label lay in its interval, and scored rounds that had one.
    covered: Annotated[int, Count("with_interval")]
    with_interval: Annotated[int, Count("rounds")]
    rounds: int
    # Memory, weights, coefficients.
    curves: tuple[Annotated[DownsamplerSnapshot, SAME_ROUNDS], ...]


class TrackerTrace(Component):
    """Curves of what the Tracker records of every round, and coverage."""

    Snapshot: ClassVar[Any] = TraceSnapshot

    def __init__(self, tracker: Tracker, features: int) -> None:
        self.tracker = tracker
        self.rounds = 0
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
        if not (memory < MAX_COUNT).all():
            raise PersistenceError(
                "The Tracker's memory is no number of rounds any more: the file that "
                "was resumed could not have come of a run."
            )
        # No matrix product: its rounding depends on how the stream was cut.
        by_family = np.add.reduceat(weights, FIRST_OF_FAMILY, axis=1)
        theta = trace.theta[:, : self.coefficients]
        columns = np.vstack([memory, by_family.T, theta.T])
        for curve, column in zip(self.curves, columns, strict=True):
            curve.add(column)
        self.rounds += len(memory)
        count, covered = count_covered(trace.extras["interval"], y)
        self.with_interval += count
        self.covered += covered

    def history(self, state: TrackerState, features: Sequence[str]) -> TrackerHistory:
        """All of it, for a study; ``state`` is the Tracker's last.

        Changes of the target are not seen here (``ChangeDetector``).
        """
        memory, *others = (curve.curve() for curve in self.curves)
        coverage: tuple[tuple[float, float], ...] = ()
        if self.with_interval:
            measured = self.covered / self.with_interval
            coverage = ((self.tracker.coverage, measured),)
        families = [family.name for family in EXPERT_FAMILIES]
        slopes = zip(features, others[len(families) :], strict=False)
        return TrackerHistory(
            memory,
            (),
            dict(zip(families, others, strict=False)),
            # A feature that never was anything but constant has no coefficient.
            {name: one for name, one in slopes if one.low.any() or one.high.any()},
            coverage,
            state.season,
            self.tracker.explain(state),
        )
