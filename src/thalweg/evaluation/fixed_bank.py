"""Least squares at fixed discounts, run beside the Tracker on the same rounds."""

from typing import Any

import numpy as np

from thalweg.evaluation.kept import Check, amount, finite, need, numbers, parts
from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.preprocessing.delayed_labels import DueLabels
from thalweg.types import Block, FloatArray

DISCOUNTS = (1.0, 0.999, 0.99, 0.98, 0.95, 0.9)
RIDGE = 0.01
"""Kept, in units of one observation of a standardised feature."""
NAMES = tuple(f"least squares, discount {gamma:g}" for gamma in DISCOUNTS)


class FixedBank:
    """One recursive least squares for each of DISCOUNTS, with a constant feature.

    Features and label are measured in units of the first ``burn_in`` lessons, so that
    nothing later is known too early; before, nothing is said. Units stay what they
    are: each learner is plain discounted least squares from the first lesson on.
    """

    def __init__(self, burn_in: int, features: int) -> None:
        self.burn_in = burn_in
        self.learners = tuple(
            RecursiveLeastSquares(gamma, ridge=RIDGE, floor=RIDGE, leaky=True)
            for gamma in DISCOUNTS
        )
        # Lessons until the units are known: features, label, time since the last.
        self._lessons: FloatArray = np.empty((0, features + 2))
        self._units: FloatArray = np.empty((2, 0))  # means and deviations, label last
        self._states: tuple[Any, ...] = ()
        self._waited = 0.0

    def play(self, x: FloatArray, due: DueLabels) -> FloatArray:
        """What each learner says of each row, (T, N); NaN before the units are known.

        The lessons of ``due`` are learnt, each after its question.
        """
        lessons = self._known(due)
        counted = due.learnable.astype(np.int64)
        before = np.cumsum(counted) - counted  # lessons before each question
        if not self._states:
            missing = self.burn_in - len(self._lessons)
            self._lessons = np.vstack([self._lessons, lessons[:missing]])
            if len(self._lessons) < self.burn_in:
                return np.full((len(x), len(DISCOUNTS)), np.nan)
            self._begin()
            lessons, before = lessons[missing:], before - missing
        points = self._learn(lessons)
        rows = self._rows(x)
        said = np.empty((len(x), len(DISCOUNTS)))
        for k, theta in enumerate(points):
            said[:, k] = _dot(rows, theta[np.maximum(before, 0)])
        mean, deviation = self._units[:, -1]
        return np.where((before >= 0)[:, None], mean + deviation * said, np.nan)

    def _known(self, due: DueLabels) -> FloatArray:
        """Lessons with a label: features, label, time since the last of them."""
        times = self._waited + np.cumsum(due.elapsed)
        at = times[due.learnable]
        self._waited = float(times[-1] - (at[-1] if len(at) else 0.0))
        elapsed = np.diff(at, prepend=0.0)
        return np.column_stack([due.x[due.learnable], due.y[due.learnable], elapsed])

    def _begin(self) -> None:
        seen = self._lessons[:, :-1]
        deviation = seen.std(axis=0)
        self._units = np.array(
            [seen.mean(axis=0), np.where(deviation > 0, deviation, 1.0)]
        )
        start = np.zeros(seen.shape[1])
        self._states = tuple(learner.init(start) for learner in self.learners)
        self._learn(self._lessons)
        self._lessons = self._lessons[:0].copy()

    def _learn(self, lessons: FloatArray) -> list[FloatArray]:
        """Every learner's points: before each lesson, and after the last."""
        if not len(lessons):
            return [state.theta[None] for state in self._states]
        mean, deviation = self._units[:, -1]
        y = (lessons[:, -2] - mean) / deviation
        block = Block(self._rows(lessons[:, :-2]), y, None, lessons[:, -1])
        states, points = [], []
        for learner, state in zip(self.learners, self._states, strict=True):
            state, trace = learner.run(state, SquaredError(), block, ["theta"])
            states.append(state)
            assert trace.theta is not None
            points.append(np.vstack([trace.theta, state.theta]))
        self._states = tuple(states)
        return points

    def _rows(self, x: FloatArray) -> FloatArray:
        means, deviations = self._units[:, :-1]
        return np.column_stack([(x - means) / deviations, np.ones(len(x))])

    @property
    def kept(self) -> tuple[Any, ...]:
        """All that changes, for a file."""
        return self._lessons, self._units, self._states, self._waited

    def resume(self, kept: Any, check: Check) -> None:
        """Go on from what was kept, its states found right by ``check``."""
        lessons, units, states, waited = parts("fixed settings", kept, 4)
        begun, width = bool(states), self._lessons.shape[1]
        self._states = parts("fixed settings", states, begun * len(self.learners))
        for learner, state in zip(self.learners, self._states, strict=False):
            check(learner, state)
            numbers("fixed settings", state.theta, (width - 1,))
        taught = 0 if begun else min(len(lessons), self.burn_in - 1)
        self._lessons = finite("fixed settings", lessons, (taught, width))
        self._units = finite("units", units, (2, begun * (width - 1)))
        need((self._units[1] > 0).all(), "units")
        self._waited = amount("fixed settings", waited)


def _dot(rows: FloatArray, points: FloatArray) -> FloatArray:
    """Row by row, added up in the order of the kernels: the same to the last bit."""
    said = np.zeros(len(rows))
    for i in range(rows.shape[1]):
        said += rows[:, i] * points[:, i]
    return said
