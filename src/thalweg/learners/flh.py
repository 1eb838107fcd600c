"""Follow the leading history (FLH): a copy of one learner starts in every round."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.kernels.hedge import mean_point
from thalweg.learners.base import Learner
from thalweg.learners.compiled_history import LivingCopies, play_history
from thalweg.learners.exponential_weights import hedge, weighted_mean
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.gradient import DiscountedGradient
from thalweg.learners.kernel_arrays import KernelArrays
from thalweg.learners.newton import DiscountedNewton
from thalweg.losses import Loss, Round
from thalweg.types import Block, FloatArray, Trace


class HistoryState(NamedTuple):
    """The state of following the leading history with K experts alive."""

    theta: FloatArray  # (n,) or (n, k) θ_t, the weighted mean of the experts' points
    log_weights: FloatArray  # (K,) log v_t, normalised
    active_from: npt.NDArray[np.int64]  # (K,) the round each expert started in; last: t
    experts: tuple[Any, ...]  # K states, oldest first


@dataclass(frozen=True)
class FollowTheLeadingHistory(Learner[HistoryState]):
    r"""Mixes copies of ``expert`` that know only the rounds since their own start.

    Also known as: FLH, here in its efficient version, in which most copies end. The
    share 1/(t+1) that a new copy takes plays the part of fixed share.

    .. math:: \theta_t = \sum_{i \in S_t} v_t^i \theta_t^i, \quad
              \hat v_{t+1}^i \propto v_t^i e^{-\alpha f_t(\theta_t^i)}, \quad
              v_{t+1}^i \propto (1 - 1/(t+1)) \hat v_{t+1}^i, \quad
              v_{t+1}^{t+1} \propto 1/(t+1)

    Hazan & Seshadhri (2009), *Efficient Learning Algorithms for Changing Environments*,
    ICML; recalled, not read. The expert that starts in round r2^k, r odd, lives for
    2^{k+2} + 1 rounds. So S_t holds at most 2⌊log₂t⌋ + 2 experts and, for every s ≤ t,
    one that started in [s, (s+t)/2] (see the tests).

    ``expert`` is any learner that plays points; every copy starts from the point given
    to ``init``. ``exp_concavity`` is α > 0, that of the losses where the experts play.
    ``elapsed`` is passed on to the experts, and has no effect on the weights v.
    """

    expert: Learner[Any]
    exp_concavity: float = 1.0

    def __post_init__(self) -> None:
        checks.require_interval(self, "exp_concavity", "(0, inf)")
        if not (isinstance(self.expert, Learner) and self.expert.plays_points):
            raise InvalidParameterError(
                "The 'expert' parameter of FollowTheLeadingHistory must be a learner "
                f"that plays points. Got {self.expert!r} instead."
            )

    def check_loss(self, loss: Loss) -> None:
        super().check_loss(loss)
        self.expert.check_loss(loss)

    def init(self, theta: Any) -> HistoryState:
        theta = checks.check_start(self, theta)
        return HistoryState(
            theta, np.zeros(1), np.ones(1, np.int64), (self.expert.init(theta),)
        )

    def _point(self, state: HistoryState, x: Any) -> FloatArray:
        # In the kernel's order of sums, so that calls agree with runs.
        points = np.array([self.expert._point(own, x) for own in state.experts])
        count, mean = len(points), np.empty(points[0].size, points.dtype)
        by_expert = points.reshape(count, -1)
        mean_point(state.log_weights, by_expert, np.arange(count), count, mean)
        return mean.reshape(points.shape[1:])

    def update(self, state: HistoryState, f: Round) -> HistoryState:
        f = self.check_round(state, f)
        losses = [f.value(self.expert._point(own, f.x)) for own in state.experts]
        log_v = hedge(state.log_weights, np.array(losses), self.exp_concavity)
        return advance_history(state, log_v, self.expert, f)

    def _change_features(
        self, state: HistoryState, change: FeatureChange
    ) -> HistoryState:
        return change_history(state, self.expert, change)

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        is_known = type(self.expert) in (DiscountedNewton, DiscountedGradient)
        return is_known and self.expert.has_compiled_run(loss, theta)

    def _play(
        self, state: HistoryState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[HistoryState, Trace]:
        if not self.has_compiled_run(loss, state.theta):
            return super()._play(state, loss, block, record)
        arrays = KernelArrays.from_block(state.theta, block, record)
        copies = play_history(
            self.expert,  # type: ignore[arg-type]
            self.exp_concavity,
            LivingCopies(*state[1:]),
            loss,
            arrays,
        )
        points = np.array([own.theta for own in copies.states])
        theta = weighted_mean(copies.log_weights, points)
        return HistoryState(theta, *copies), arrays.trace()


def advance_history(
    state: HistoryState, log_v: FloatArray, expert: Learner[Any], f: Round
) -> HistoryState:
    """Survivors learn, a new expert starts, and takes its share of ``log_v``."""
    survives = is_alive(state.active_from, int(state.active_from[-1]) + 1)
    active_from, log_v = advance_weights(state.active_from, log_v, survives)
    # The newest has seen no round yet, so that the next one starts from the same state.
    newest = state.experts[-1]
    survivors = [state.experts[i] for i in np.flatnonzero(survives)]
    experts = (*(expert.update(own, f) for own in survivors), newest)
    theta = weighted_mean(log_v, np.array([own.theta for own in experts]))
    return HistoryState(theta, log_v, active_from, experts)


def advance_weights(
    active_from: npt.NDArray[np.int64],
    log_v: FloatArray,
    survives: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Starts and weights in the next round: of survivors, and of a new expert."""
    t = int(active_from[-1])
    active_from = np.append(active_from[survives], t + 1)
    log_v = np.append(log_v[survives] + np.log1p(-1 / (t + 1)), -np.log(t + 1))
    log_v -= np.logaddexp.reduce(log_v)
    return active_from, log_v


def change_history(
    state: HistoryState, expert: Learner[Any], change: FeatureChange
) -> HistoryState:
    """The state with these features, of all copies of the expert."""
    states = state.experts
    experts = change.apply_to_experts((expert,) * len(states), states)
    return state._replace(theta=change.apply(state.theta), experts=experts)


def is_alive(active_from: npt.NDArray[np.int64], t: int) -> npt.NDArray[np.bool_]:
    """Which of the experts that started in these rounds are alive in round ``t``."""
    return np.asarray(t <= last_rounds(active_from))


def last_rounds(active_from: Any) -> Any:
    """The last rounds of experts that start in these rounds, numbers or an array."""
    # Of s = r2^k with r odd, s & -s is the lowest set bit: 2^k.
    return active_from + 4 * (active_from & -active_from)
