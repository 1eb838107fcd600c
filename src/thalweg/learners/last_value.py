"""The naive forecast: the next value is the last one. The baseline to beat."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange
from thalweg.losses import LinearLoss, Loss, Round
from thalweg.types import FloatArray


class LastValueState(NamedTuple):
    """The state of the naive forecast."""

    theta: FloatArray  # (n,) or (n, k) the start: gives shape and dtype, is not used
    last: FloatArray  # () or (k,) y_{t-1}, the prediction


@dataclass(frozen=True)
class LastValue(Learner[LastValueState]):
    r"""Predicts the last y that was seen, and zero before the first.

    .. math:: \hat y_t = y_{t-1}, \quad \hat y_1 = 0

    Also known as: persistence, naive forecast, random-walk forecast. It has no settings
    and ignores x. A round of weight zero is skipped; other weights, and
    ``elapsed``, have no effect.
    """

    # A round costs O(n).
    max_features: ClassVar[int] = 2**20
    accepts: ClassVar[tuple[type[Loss], ...]] = (LinearLoss,)
    plays_points: ClassVar[bool] = False

    def init(self, theta: Any) -> LastValueState:
        theta = checks.check_start(self, theta)
        return LastValueState(theta, np.zeros(theta.shape[1:], theta.dtype))

    def _predict(self, state: LastValueState, x: Any) -> Any:
        return state.last[()]

    def update(self, state: LastValueState, f: Round) -> LastValueState:
        f = self.check_round(state, f)
        if f.weight == 0:
            return state
        return state._replace(last=np.array(f.y, state.theta.dtype))

    def _change_features(
        self, state: LastValueState, change: FeatureChange
    ) -> LastValueState:
        return state._replace(theta=change.apply(state.theta))
