"""Recursive least squares whose predictions are clipped to the range of the labels."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import checks
from thalweg.errors import InvalidParameterError
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.rls import RecursiveLeastSquares, RLSState
from thalweg.losses import Round, SquaredError


@dataclass(frozen=True)
class ClippedRLS(Learner[RLSState]):
    """Predicts x·θ of recursive least squares, clipped to [low, high].

    With every y in [low, high], W = high - low, its regret against any sequence z is at
    most (γε/2)‖z_1‖² + γΣ[F_t(z_{t+1}) - F_t(z_t)] + ½W²[log|P_T|/|P_0| + nT log 1/γ]:
    no domain and no projection are needed (ours: ``regret.clipped_bound``).

    ``rls`` is the recursive least squares whose predictions are clipped;
    ``low`` < ``high``.
    """

    accepts: ClassVar = (SquaredError,)
    plays_points: ClassVar[bool] = False
    low: float
    high: float
    rls: RecursiveLeastSquares = RecursiveLeastSquares()

    def __post_init__(self) -> None:
        checks.require_type(self, "rls", RecursiveLeastSquares)
        for name in ("low", "high"):
            checks.require_interval(self, name, "(-inf, inf)")
        if not self.low < self.high:
            raise InvalidParameterError(
                f"The 'high' parameter of ClippedRLS must be above 'low', "
                f"{self.low!r}. Got {self.high!r} instead."
            )

    def init(self, theta: Any) -> RLSState:
        return self.rls.init(theta)

    def _predict(self, state: RLSState, x: Any) -> Any:
        return self.clip(self.rls._predict(state, x))

    def clip(self, prediction: Any) -> Any:
        """Predictions of ``rls``, a number or an array, clipped to [low, high]."""
        largest = float(np.finfo(prediction.dtype).max)
        # What the dtype can hold of the range: a cast of the rest would overflow.
        low, high = (
            prediction.dtype.type(min(max(bound, -largest), largest))
            for bound in (self.low, self.high)
        )
        return np.clip(prediction, low, high)

    def _change_features(self, state: RLSState, change: FeatureChange) -> RLSState:
        return change.apply_to_expert(self.rls, state)

    def update(self, state: RLSState, f: Round) -> RLSState:
        return self.rls.update(state, f)
