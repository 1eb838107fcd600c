"""Vovk's aggregating algorithm for squared error: the best mixture in theory."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.learners.base import Learner
from thalweg.learners.exponential_weights import hedge, initial_log_weights
from thalweg.learners.feature_changes import FeatureChange
from thalweg.losses import Loss, Round, SquaredError
from thalweg.types import FloatArray


class AggregatingState(NamedTuple):
    """The state of the aggregating algorithm."""

    theta: FloatArray  # (n,) the weighted mean of the experts' points; not played
    log_weights: FloatArray  # (N,) log w_t, normalised
    experts: tuple[Any, ...]  # N states


@dataclass(frozen=True)
class AggregatingExperts(Learner[AggregatingState]):
    r"""Predicts what loses least against the weighted experts, for the worst y.

    Also known as: the aggregating algorithm (AA), prediction with expert advice; the
    prediction rule is Vovk's substitution function.

    .. math:: g(y) = -Y^2 \log \sum_i w_t^i e^{-(y - p_t^i)^2 / 2Y^2}, \qquad
              p_t = \frac{g(-Y) - g(Y)}{2Y}

    For half squared error with |y| ≤ Y, the experts' predictions clipped to [-Y, Y];
    recalled, not read. The rate 1/Y² is four times what a weighted mean can take, so
    that its regret against any expert is at most Y² log(1/w_1). ``experts`` are
    learners of squared error, those that forget slowest first; ``label_bound`` is
    Y > 0. The learner also learns from labels beyond it, but no theorem covers them.
    """

    accepts: ClassVar = (SquaredError,)
    records: ClassVar = ("theta", "log_weights")
    plays_points: ClassVar[bool] = False
    experts: tuple[Learner[Any], ...]
    label_bound: float = 1.0

    def __post_init__(self) -> None:
        checks.require_type(self, "experts", Iterable)
        object.__setattr__(self, "experts", tuple(self.experts))
        checks.require_interval(self, "label_bound", "[1e-100, 1e100]")
        for expert in self.experts or (None,):
            if not isinstance(expert, Learner):
                raise InvalidParameterError(
                    f"The 'experts' parameter of AggregatingExperts must hold at least "
                    f"one learner. Got {expert!r} instead."
                )

    def init(self, theta: Any) -> AggregatingState:
        states = tuple(expert.init(theta) for expert in self.experts)
        start = checks.check_start(self, theta, ndim=(1,))
        return AggregatingState(start, initial_log_weights(len(states)), states)

    def _predict(self, state: AggregatingState, x: Any) -> Any:
        predictions, Y = self._expert_predictions(state, x), self.label_bound
        low, high = (self._generalised_loss(state, predictions, y) for y in (-Y, Y))
        return state.theta.dtype.type(np.clip((low - high) / (2 * Y), -Y, Y))

    def update(self, state: AggregatingState, f: Round) -> AggregatingState:
        f = self.check_round(state, f)
        losses = 0.5 * f.weight * (f.y - self._expert_predictions(state, f.x)) ** 2
        log_weights = hedge(state.log_weights, losses, 1 / self.label_bound**2)
        experts = zip(self.experts, state.experts, strict=True)
        states = tuple(expert.update(own, f) for expert, own in experts)
        points = np.array([own.theta for own in states])
        mean = np.exp(log_weights).astype(points.dtype) @ points
        return AggregatingState(mean, log_weights, states)

    def _change_features(
        self, state: AggregatingState, change: FeatureChange
    ) -> AggregatingState:
        return AggregatingState(
            change.apply(state.theta),
            state.log_weights,
            change.apply_to_experts(self.experts, state.experts),
        )

    def check_loss(self, loss: Loss) -> None:
        super().check_loss(loss)
        for expert in self.experts:
            expert.check_loss(loss)

    def _expert_predictions(self, state: AggregatingState, x: Any) -> FloatArray:
        """p_t^i, clipped to [-Y, Y]."""
        experts = zip(self.experts, state.experts, strict=True)
        predictions = [expert._predict(own, x) for expert, own in experts]
        bound = self.label_bound
        return np.asarray(np.clip(np.array(predictions, float), -bound, bound))

    def _generalised_loss(
        self, state: AggregatingState, expert_predictions: FloatArray, y: float
    ) -> float:
        """g(y): the loss that the mixture may suffer if y is the label."""
        square = self.label_bound**2
        errors = y - expert_predictions
        exponents = state.log_weights - errors**2 / (2 * square)
        return -square * float(np.logaddexp.reduce(exponents))
