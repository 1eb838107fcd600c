"""Vovk's aggregating algorithm for squared error: the best mixture in theory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.learners.base import Learner
from thalweg.learners.exponential_weights import hedge, initial_log_weights
from thalweg.learners.feature_changes import FeatureChange
from thalweg.losses import Loss, Round, SquaredError
from thalweg.types import Block, FloatArray, Trace


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
        predictions = self._expert_predictions(state, x)
        return self._substitute(state.theta, state.log_weights, predictions)

    def _substitute(
        self, theta: FloatArray, log_weights: FloatArray, predictions: FloatArray
    ) -> Any:
        """p_t of the experts' predictions (N,): the substitution function."""
        Y = self.label_bound
        low, high = (
            self._generalised_loss(log_weights, predictions, y) for y in (-Y, Y)
        )
        return theta.dtype.type(np.clip((low - high) / (2 * Y), -Y, Y))

    def update(self, state: AggregatingState, f: Round) -> AggregatingState:
        f = self.check_round(state, f)
        losses = 0.5 * f.weight * (f.y - self._expert_predictions(state, f.x)) ** 2
        log_weights = hedge(state.log_weights, losses, 1 / self.label_bound**2)
        experts = zip(self.experts, state.experts, strict=True)
        states = tuple(expert.update(own, f) for expert, own in experts)
        return self._mix(log_weights, states)

    @staticmethod
    def _mix(log_weights: FloatArray, states: tuple[Any, ...]) -> AggregatingState:
        """The state of experts with these weights."""
        mean = _mean(log_weights, np.array([own.theta for own in states]))
        return AggregatingState(mean, log_weights, states)

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return all(expert.has_compiled_run(loss, theta) for expert in self.experts)

    def _play(
        self, state: AggregatingState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[AggregatingState, Trace]:
        """``update`` round by round, but each expert is played through by itself."""
        if not self.has_compiled_run(loss, state.theta):
            return super()._play(state, loss, block, record)
        wanted = ("theta",) if "theta" in record else ()
        pairs = zip(self.experts, state.experts, strict=True)
        runs = [expert._play(own, loss, block, wanted) for expert, own in pairs]
        by_expert = np.column_stack([trace.prediction for _, trace in runs])
        by_expert = self._clip(by_expert.astype(np.float64))
        prediction = np.empty(len(block), state.theta.dtype)
        log_weights: FloatArray = np.empty((len(block) + 1, len(runs)))
        log_weights[0] = state.log_weights
        for t, (_, y, weight, _) in enumerate(block.rounds()):
            prediction[t] = self._substitute(state.theta, log_weights[t], by_expert[t])
            losses = 0.5 * weight * (y - by_expert[t]) ** 2
            rate = 1 / self.label_bound**2
            log_weights[t + 1] = hedge(log_weights[t], losses, rate)
        states = tuple(after for after, _ in runs)
        after = self._mix(log_weights[-1].copy(), states) if len(block) else state
        extras = {"log_weights": log_weights[:-1]} if "log_weights" in record else {}
        points = None
        if wanted:
            points = _mean_points(log_weights, [trace.theta for _, trace in runs])
            points[:1] = state.theta  # as it was given, to the last bit
        own_loss = block.weights * loss.prediction_loss(prediction, block.y)
        trace = Trace(prediction, own_loss.astype(prediction.dtype), points, extras)
        return after, trace

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
        return self._clip(np.array(predictions, float))

    def _clip(self, predictions: FloatArray) -> FloatArray:
        return np.asarray(np.clip(predictions, -self.label_bound, self.label_bound))

    def _generalised_loss(
        self, log_weights: FloatArray, expert_predictions: FloatArray, y: float
    ) -> float:
        """g(y): the loss that the mixture may suffer if y is the label."""
        square = self.label_bound**2
        errors = y - expert_predictions
        exponents = log_weights - errors**2 / (2 * square)
        return -square * float(np.logaddexp.reduce(exponents))


def _mean(log_weights: FloatArray, points: FloatArray) -> FloatArray:
    """The weighted mean of the experts' points (N, n), in their dtype."""
    return np.asarray(np.exp(log_weights).astype(points.dtype) @ points)


def _mean_points(log_weights: FloatArray, points: Sequence[Any]) -> FloatArray:
    """The mean of each round, (T, n), of the points of N experts, (T, n) each."""
    by_round = np.stack(points, axis=1)
    rounds = zip(log_weights, by_round, strict=False)
    return np.array([_mean(weights, now) for weights, now in rounds])
