"""A mixture of least squares that start in every round: nothing is discounted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.learners.base import Learner
from thalweg.learners.clipped import ClippedRLS
from thalweg.learners.exponential_weights import hedge, weighted_mean
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.flh import (
    HistoryState,
    advance_history,
    advance_weights,
    change_history,
    is_alive,
    last_rounds,
)
from thalweg.learners.rls import RecursiveLeastSquares, RLSState
from thalweg.losses import Loss, Round, SquaredError
from thalweg.types import Block, FloatArray, Trace


class ExpertRun(NamedTuple):
    """The run of one expert over the rows of a block that it lives in."""

    first: int  # its first row
    prediction: FloatArray  # (L,) clipped, float64
    points: FloatArray  # (L + 1, n) its θ before each row, and after the last
    after: RLSState  # after its last row in the block


@dataclass(frozen=True)
class RestartExperts(Learner[HistoryState]):
    """Follows the leading history of least squares that started at different rounds.

    Also known as: FLH over recursive least squares.

    Starts, lives and weights are those of ``FollowTheLeadingHistory``; the experts are
    least squares without forgetting, their predictions clipped to [-Y, Y] and mixed at
    the rate 1/4Y² at which half squared error is exp-concave in them. Its regret on
    every interval is logarithmic, which for curved losses means a dynamic regret of the
    order T^⅓V^⅔ up to logarithms (Baby & Wang 2021, read in abstract only): the best
    possible rate, better than the √(TV) of discounts by (T/V)^(1/6).

    ``label_bound`` is Y > 0, ``ridge`` the ε of each least squares. O(log t) experts.
    """

    accepts: ClassVar = (SquaredError,)
    plays_points: ClassVar[bool] = False
    label_bound: float = 1.0
    ridge: float = 1.0

    def __post_init__(self) -> None:
        checks.require_interval(self, "label_bound", "[1e-100, 1e100]")
        checks.require_interval(self, "ridge", "[0, inf)")

    @property
    def expert(self) -> ClippedRLS:
        """The least squares that starts in every round."""
        rls, Y = RecursiveLeastSquares(1.0, self.ridge), self.label_bound
        return ClippedRLS(-Y, Y, rls)

    def init(self, theta: Any) -> HistoryState:
        theta = checks.check_start(self, theta, ndim=(1,))
        start = self.expert.init(theta)
        return HistoryState(theta, np.zeros(1), np.ones(1, np.int64), (start,))

    def _predict(self, state: HistoryState, x: Any) -> Any:
        predictions = self._expert_predictions(state, x)
        return state.theta.dtype.type(np.exp(state.log_weights) @ predictions)

    def update(self, state: HistoryState, f: Round) -> HistoryState:
        f = self.check_round(state, f)
        losses = 0.5 * f.weight * (f.y - self._expert_predictions(state, f.x)) ** 2
        log_v = hedge(state.log_weights, losses, 0.25 / self.label_bound**2)
        return advance_history(state, log_v, self.expert, f)

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return True

    def _play(
        self, state: HistoryState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[HistoryState, Trace]:
        """``update`` round by round, but each expert is played through in a kernel.

        Its predictions do not depend on those of others, only its weight does.
        """
        theta, log_v, active_from, experts = state
        first_round = int(active_from[-1])
        runs = [
            self._run_expert(own, block, 0, int(last_rounds(start)) - first_round)
            for own, start in zip(experts, active_from, strict=True)
        ]
        prediction = np.empty(len(block), theta.dtype)
        points = np.empty((len(block) if "theta" in record else 0, *theta.shape))
        points, rate = points.astype(theta.dtype), 0.25 / self.label_bound**2
        for row, (_, y, weight, _) in enumerate(block.rounds()):
            by_expert = np.array([run.prediction[row - run.first] for run in runs])
            prediction[row] = np.exp(log_v) @ by_expert
            if len(points):
                points[row] = theta if not row else _mean_point(log_v, runs, row)
            log_v = hedge(log_v, 0.5 * weight * (y - by_expert) ** 2, rate)
            start = first_round + row + 1
            survives = is_alive(active_from, start)
            active_from, log_v = advance_weights(active_from, log_v, survives)
            last = last_rounds(start) - first_round
            newest = self._run_expert(experts[-1], block, row + 1, last)
            runs = [*(runs[k] for k in np.flatnonzero(survives)), newest]
        if len(block):
            theta = _mean_point(log_v, runs, len(block))
        states = tuple(run.after for run in runs)
        own_loss = block.weights * loss.prediction_loss(prediction, block.y)
        trace = Trace(prediction, own_loss.astype(theta.dtype), points)
        return HistoryState(theta, log_v, active_from, states), trace

    def _run_expert(
        self, state: RLSState, block: Block, first: int, last: int
    ) -> ExpertRun:
        """An expert's run over the rows from ``first`` to ``last``, or to the end."""
        rows = block[first : last + 1]
        if not len(rows):
            return ExpertRun(first, np.empty(0), state.theta[None], state)
        expert = self.expert
        after, trace = expert.rls._play(state, SquaredError(), rows, ("theta",))
        assert trace.theta is not None
        clipped = expert.clip(trace.prediction).astype(np.float64)
        return ExpertRun(first, clipped, np.vstack([trace.theta, after.theta]), after)

    def _change_features(
        self, state: HistoryState, change: FeatureChange
    ) -> HistoryState:
        return change_history(state, self.expert, change)

    def _expert_predictions(self, state: HistoryState, x: Any) -> FloatArray:
        expert = self.expert
        predictions = [expert._predict(own, x) for own in state.experts]
        return np.array(predictions, np.float64)


def _mean_point(log_v: FloatArray, runs: list[ExpertRun], row: int) -> FloatArray:
    """The weighted mean of the experts' points before this row."""
    points = np.array([run.points[row - run.first] for run in runs])
    return weighted_mean(log_v, points)
