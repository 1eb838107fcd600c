"""Least squares with fixed discounts on the rounds of a run: baselines of the Tracker.

Also known as: a bank of exponentially weighted RLS filters, one for each forgetting
factor.
"""

from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.learners import RecursiveLeastSquares
from thalweg.losses import SquaredError
from thalweg.models.delayed_labels import DueLabels
from thalweg.persistence.snapshots import Component, StateOf
from thalweg.rules import Array, Condition, Number
from thalweg.types import Block, FloatArray

DISCOUNTS = (1.0, 0.999, 0.99, 0.98, 0.95, 0.9)
RIDGE = 0.01
"""Retained ridge, in units of one observation of a standardised feature."""
ROUNDING = 1e-12
"""A deviation below this part of the largest size is rounding, and counts as none."""
NAMES = tuple(f"least squares, discount {gamma:g}" for gamma in DISCOUNTS)


def least_squares(gamma: float) -> RecursiveLeastSquares:
    """The baseline with this discount."""
    return RecursiveLeastSquares(gamma, ridge=RIDGE, floor=RIDGE, leaky=True)


def scale_units(rows: FloatArray) -> FloatArray:
    """The units (n,) in which columns of rows (T, n) are measured: their deviations.

    A column that is constant but for rounding, as 21.3 is, has its size as its unit:
    what is left of it by subtracting the mean must not count as a deviation.
    """
    deviation, size = rows.std(axis=0), np.abs(rows).max(axis=0)
    unit = np.where(deviation > ROUNDING * size, deviation, size)
    return np.where(unit > 0, unit, 1.0)


WARM = Condition("len(warm_up) <= (0 if states else burn_in - 1)", "the first rows")
DEVIATIONS = Condition("(units[1] > 0).all()", "above 0 where deviations are")


class FixedDiscountsSnapshot(NamedTuple):
    """All that changes in the baselines with fixed discounts."""

    # (w, n + 2) labelled rows until the units are known
    warm_up: Annotated[FloatArray, Array((None, "features + 2")), WARM]
    # (2, n + 1) means and deviations, the label's last
    units: Annotated[
        FloatArray, Array((2, "features + 1 if states else 0")), DEVIATIONS
    ]
    # Of each learner; none until the units are known.
    states: Annotated[tuple[Any, ...], "state_rules() if states else ()"]
    waited: Annotated[float, Number(0.0)]  # time since the last labelled row
    # (2,) the least and the largest label; NaN before one
    label_range: Annotated[FloatArray, Array((2,), may_be_nan=True)]


class FixedDiscounts(Component):
    """One recursive least squares for each of DISCOUNTS, with a constant feature.

    Features and label are measured in units of the first ``burn_in`` labelled rows, so
    that nothing later is known too early; before, there are no predictions. The units
    never change: each learner is plain discounted least squares from the first row on.
    Predictions end one range of the labels known beyond these: a feature that has
    hardly moved until then, and moves, would send them anywhere.
    """

    Snapshot: ClassVar[Any] = FixedDiscountsSnapshot

    def __init__(self, burn_in: int, features: int) -> None:
        self.burn_in = burn_in
        self.features = features
        self.learners = tuple(map(least_squares, DISCOUNTS))
        # A row holds the features, the label, and the time since the last such row.
        self.warm_up: FloatArray = np.empty((0, features + 2))
        self.units: FloatArray = np.empty((2, 0))
        self.states: tuple[Any, ...] = ()
        self.waited = 0.0
        self.label_range: FloatArray = np.full(2, np.nan)

    def state_rules(self) -> tuple[StateOf, ...]:
        """The rule of the state of each learner in a file."""
        return tuple(StateOf(one, self.features + 1) for one in self.learners)

    def play(self, x: FloatArray, due: DueLabels) -> FloatArray:
        """The predictions of each learner at each row, (T, N); NaN without units.

        The labelled rows of ``due`` are learnt, each after its prediction.
        """
        rows = self._labelled_rows(due)
        is_learnt = due.learnable.astype(np.int64)
        learnt_before = (
            np.cumsum(is_learnt) - is_learnt
        )  # at the prediction of each row
        low, high = self._label_ranges(rows[:, -2], learnt_before)
        if not self.states:
            missing = self.burn_in - len(self.warm_up)
            self.warm_up = np.vstack([self.warm_up, rows[:missing]])
            if len(self.warm_up) < self.burn_in:
                return np.full((len(x), len(DISCOUNTS)), np.nan)
            self._start()
            rows, learnt_before = rows[missing:], learnt_before - missing
        points = self._learn(rows)
        scaled = self._scale_features(x)
        predictions = np.empty((len(x), len(DISCOUNTS)))
        for k, theta in enumerate(points):
            predictions[:, k] = _row_dot(scaled, theta[np.maximum(learnt_before, 0)])
        mean, deviation = self.units[:, -1]
        is_ready = (learnt_before >= 0)[:, None]
        limits = (2 * low - high)[:, None], (2 * high - low)[:, None]
        limited = np.clip(mean + deviation * predictions, *limits)
        return np.where(is_ready, limited, np.nan)

    def _labelled_rows(self, due: DueLabels) -> FloatArray:
        """Features, label, and time since the last labelled row."""
        times = self.waited + np.cumsum(due.elapsed)
        at = times[due.learnable]
        self.waited = float(times[-1] - (at[-1] if len(at) else 0.0))
        elapsed = np.diff(at, prepend=0.0)
        return np.column_stack([due.x[due.learnable], due.y[due.learnable], elapsed])

    def _label_ranges(
        self, labels: FloatArray, learnt_before: npt.NDArray[np.int64]
    ) -> tuple[FloatArray, FloatArray]:
        """The least and the largest label, (T,) each, known before each prediction."""
        low = np.fmin.accumulate(np.append(self.label_range[0], labels))
        high = np.fmax.accumulate(np.append(self.label_range[1], labels))
        self.label_range = np.array([low[-1], high[-1]])
        return low[learnt_before], high[learnt_before]

    def _start(self) -> None:
        """Take the units from the first rows, and learn these."""
        rows = self.warm_up[:, :-1]
        self.units = np.array([rows.mean(axis=0), scale_units(rows)])
        start = np.zeros(rows.shape[1])
        self.states = tuple(learner.init(start) for learner in self.learners)
        self._learn(self.warm_up)
        self.warm_up = self.warm_up[:0].copy()

    def _learn(self, rows: FloatArray) -> list[FloatArray]:
        """Every learner's points: before each labelled row, and after the last."""
        if not len(rows):
            return [state.theta[None] for state in self.states]
        mean, deviation = self.units[:, -1]
        y = (rows[:, -2] - mean) / deviation
        block = Block(self._scale_features(rows[:, :-2]), y, None, rows[:, -1])
        states, points = [], []
        for learner, state in zip(self.learners, self.states, strict=True):
            state, trace = learner.run(state, SquaredError(), block, ["theta"])
            states.append(state)
            assert trace.theta is not None
            points.append(np.vstack([trace.theta, state.theta]))
        self.states = tuple(states)
        return points

    def _scale_features(self, x: FloatArray) -> FloatArray:
        """Rows in units of the first ones, with a constant feature."""
        means, deviations = self.units[:, :-1]
        return np.column_stack([(x - means) / deviations, np.ones(len(x))])


def _row_dot(rows: FloatArray, points: FloatArray) -> FloatArray:
    """Row by row, added up in the order of the kernels: the same to the last bit."""
    sums = np.zeros(len(rows))
    for i in range(rows.shape[1]):
        sums += rows[:, i] * points[:, i]
    return sums
