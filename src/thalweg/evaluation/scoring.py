"""Errors of several learners on the same rounds, and coverage of their intervals."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from thalweg.evaluation.downsampling import POINTS, Downsampler, DownsamplerSnapshot
from thalweg.evaluation.study import Entry
from thalweg.kernels.tracker.tracker_layout import INTERVAL_LEVELS
from thalweg.persistence.snapshots import Component
from thalweg.rules import Condition
from thalweg.types import FloatArray, Trace

TIMED_ROLES = ("tracker", "persistence", "baseline")
"""Roles whose absolute errors are kept over time; of others only their mean is."""


class LearnerInfo(NamedTuple):
    """What a table says of a learner beside its errors."""

    name: str
    role: str  # one of study.ROLES
    discount: float | None = None  # γ, where the learner has one that never changes
    description: str = ""  # of a simple baseline: what it does, in plain words


OF_SAME_ROUNDS = Condition(
    "len({curve.rounds for curve in (*squared, *absolute)}) == 1",
    "of the same rounds as 'absolute'",
)


class ErrorSnapshot(NamedTuple):
    """The errors of each learner so far."""

    squared: Annotated[tuple[DownsamplerSnapshot, ...], OF_SAME_ROUNDS]
    absolute: tuple[DownsamplerSnapshot, ...]


class ErrorScores(Component):
    """The squared and absolute errors of each learner, in constant memory."""

    Snapshot: ClassVar[Any] = ErrorSnapshot

    def __init__(self, learners: Sequence[LearnerInfo]) -> None:
        self.learners = tuple(learners)
        self.squared = [Downsampler() for _ in learners]
        self.absolute = [Downsampler(_absolute_points(one)) for one in learners]

    def add(self, predictions: FloatArray, y: FloatArray) -> None:
        """Take predictions (T, N) and labels (T,); NaN in either is not scored."""
        errors = y[:, None] - predictions
        for k in range(len(self.learners)):
            self.squared[k].add(errors[:, k] ** 2)
            self.absolute[k].add(np.abs(errors[:, k]))

    def scored_rounds(self) -> int:
        """How many rounds have been scored."""
        return self.squared[0].count()

    def entries(self) -> tuple[Entry, ...]:
        """One entry of a study for each learner."""
        parts = zip(self.learners, self.squared, self.absolute, strict=True)
        return tuple(
            Entry(
                learner.name, learner.role, squared.average(), absolute.average(),
                squared.cumulative(), learner.discount, learner.description,
                absolute.curve() if learner.role in TIMED_ROLES else None,
            )
            for learner, squared, absolute in parts
        )  # fmt: skip


def _absolute_points(learner: LearnerInfo) -> int:
    """Points of the curve of absolute errors: one where only their mean is wanted."""
    return POINTS if learner.role in TIMED_ROLES else 1


def interval_coverage(
    trace: Trace, scored_labels: FloatArray
) -> tuple[tuple[float, float], ...]:
    """Pairs of nominal coverage and measured coverage of the Tracker's intervals.

    ``trace`` has its record "intervals". Coverage is measured in the rounds whose
    ``scored_labels`` are not NaN and that have an interval: an infinite one is none, as
    no error has been seen yet.
    """
    pairs, intervals = [], trace.extras["intervals"]
    for k, level in enumerate(INTERVAL_LEVELS):
        count, covered = count_covered(intervals[:, k], scored_labels)
        if count:
            pairs.append((level, covered / count))
    return tuple(pairs)


def count_covered(interval: FloatArray, scored_labels: FloatArray) -> tuple[int, int]:
    """Scored rounds (T,) with an interval (T, 2), and those with the label inside it.

    A round that is not scored has the label NaN.
    """
    low, high = interval.T
    has_interval = np.isfinite(high - low) & ~np.isnan(scored_labels)
    covered = has_interval & (low <= scored_labels) & (scored_labels <= high)
    return int(has_interval.sum()), int(covered.sum())
