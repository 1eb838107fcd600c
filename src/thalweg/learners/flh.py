"""Follow the leading history: a copy of one learner born in every round, few kept."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.learners.base import Learner
from thalweg.learners.weights import hedge, mean
from thalweg.losses import Loss, Round
from thalweg.types import FloatArray


class HistoryState(NamedTuple):
    """What following the leading history remembers of the K experts alive."""

    theta: FloatArray  # (n,) or (n, k) θ_t, the weighted mean of the experts' points
    log_weights: FloatArray  # (K,) log v_t, normalised
    births: npt.NDArray[np.int64]  # (K,) the round each expert was born in; last: t
    experts: tuple[Any, ...]  # K states, oldest first


@dataclass(frozen=True)
class FollowTheLeadingHistory(Learner[HistoryState]):
    r"""Mixes copies of ``expert`` that know only the rounds since their own birth.

    .. math:: \theta_t = \sum_{i \in S_t} v_t^i \theta_t^i, \quad
              \hat v_{t+1}^i \propto v_t^i e^{-\alpha f_t(\theta_t^i)}, \quad
              v_{t+1}^i \propto (1 - 1/(t+1)) \hat v_{t+1}^i, \quad
              v_{t+1}^{t+1} \propto 1/(t+1)

    Hazan & Seshadhri (2009), *Efficient Learning Algorithms for Changing Environments*,
    ICML, in the efficient version; recalled, not read. The expert born in round
    r2^k, r odd, lives for 2^{k+2} + 1 rounds. So S_t holds at most 2⌊log₂t⌋ + 2 experts
    and, for every s ≤ t, one that was born in [s, (s+t)/2] (see the tests).

    ``expert`` is any learner that plays points; every copy starts from the point given
    to ``init``. ``exp_concavity`` is α > 0, that of the losses where the experts play.
    ``elapsed`` means to the experts whatever it means to them, and nothing to v.
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

    def play(self, state: HistoryState, x: Any = None) -> FloatArray:
        points = [self.expert.play(one, x) for one in state.experts]
        return mean(state.log_weights, np.array(points))

    def update(self, state: HistoryState, f: Round) -> HistoryState:
        losses = [f.value(self.expert.play(one, f.x)) for one in state.experts]
        log_v = hedge(state.log_weights, np.array(losses), self.exp_concavity)
        return next_round(state, log_v, self.expert, f)


def next_round(
    state: HistoryState, log_v: FloatArray, expert: Learner[Any], f: Round
) -> HistoryState:
    """Survivors learn, one is born, and the weights ``log_v`` make room for it."""
    t = int(state.births[-1])
    kept = alive(state.births, t + 1)
    births = np.append(state.births[kept], t + 1)
    log_v = np.append(log_v[kept] + np.log1p(-1 / (t + 1)), -np.log(t + 1))
    log_v -= np.logaddexp.reduce(log_v)
    # The youngest has seen nothing yet: the next newborn is its twin.
    newborn = state.experts[-1]
    survivors = [state.experts[i] for i in np.flatnonzero(kept)]
    experts = (*(expert.update(one, f) for one in survivors), newborn)
    theta = mean(log_v, np.array([one.theta for one in experts]))
    return HistoryState(theta, log_v, births, experts)


def alive(births: npt.NDArray[np.int64], t: int) -> npt.NDArray[np.bool_]:
    """Which of the experts born in these rounds live in round ``t``."""
    # Of b = r2^k with r odd, b & -b keeps the lowest set bit: 2^k.
    return np.asarray(t - births <= 4 * (births & -births))
