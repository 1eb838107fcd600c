"""A mixture of least squares that start in every round: nothing is discounted."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import checks
from thalweg.learners.base import Learner
from thalweg.learners.clipped import ClippedRLS
from thalweg.learners.exponential_weights import hedge
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.flh import HistoryState, advance_history, change_history
from thalweg.learners.rls import RecursiveLeastSquares
from thalweg.losses import Round, SquaredError
from thalweg.types import FloatArray


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

    def _change_features(
        self, state: HistoryState, change: FeatureChange
    ) -> HistoryState:
        return change_history(state, self.expert, change)

    def _expert_predictions(self, state: HistoryState, x: Any) -> FloatArray:
        expert = self.expert
        predictions = [expert._predict(own, x) for own in state.experts]
        return np.array(predictions, np.float64)
