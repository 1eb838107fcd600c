"""Least squares on several rows a round, without a prior: the paper's appendix."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import checks, discounts
from thalweg.errors import InvalidParameterError
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.general_least_squares import general_least_squares, predict_rows
from thalweg.kernels.ud_factor import drop_all_overflow, forget, learn
from thalweg.kernels.windup import cap_covariance
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange
from thalweg.learners.kernel_arrays import KernelArrays
from thalweg.learners.rls import RLSState, change_least_squares, clip_coefficients
from thalweg.losses import Constants, LinearMap, Loss, Round
from thalweg.types import Block, FloatArray, Trace


@dataclass(frozen=True)
class GeneralLeastSquares(Learner[RLSState]):
    r"""Discounted least squares on a matrix A_t of m rows a round, with P_0 = 0.

    .. math:: P_t = \gamma P_{t-1} + A_t^\top A_t, \quad
              \theta_{t+1} = \theta_t - P_t^{-1} A_t^\top (A_t \theta_t - y_t)
              = \arg\min_\theta \sum_{s \le t} \gamma^{t-s} \|y_s - A_s \theta\|^2 / 2

    Yuan & Lamperski (2020), appendix, "Online least-squares optimization". Also known
    as: RLS with vector measurements, multi-channel or block RLS; no relation to
    generalised least squares, whose errors are correlated.

    ``discount`` is γ in (0, 1]. The loss is ``LinearMap``: a block's x is A of shape
    (T, m, n) and its y (T, m). There is no domain and no prior: where A_1 has full
    column rank, θ_2 is its least-squares fit whatever the start; with fewer rows, θ
    is the fit nearest to the start until n independent ones were seen. The paper's
    theorems need full column rank in every round (``from_theorem``). A round costs
    O(mn²): one forgetting, then a rank-one update for each row. A row at a time is
    ``RecursiveLeastSquares`` with ``ridge=0``.

    Departure, against covariance windup: forgetting stops in a direction that has not
    been excited for very long (kernels/windup.py), which full rank excludes.
    """

    accepts: ClassVar = (LinearMap,)
    discount: float = 0.99

    def __post_init__(self) -> None:
        checks.require_interval(self, "discount", "(0, 1]")

    @classmethod
    def from_theorem(
        cls, theorem: int, constants: Constants, discount: float
    ) -> "GeneralLeastSquares":
        """The learner of Theorem 9 (dynamic regret) or 10 (static), if γ is in range.

        Both ask for ℓI ⪯ A_tᵀA_t ⪯ uI with ℓ > 0. Theorem 9, against the minimiser of
        every round, holds for γ below 1/(δ^(3/2) - δ + 1), δ = u/ℓ, Theorem 10 for
        all. Both start from ‖θ_1‖ ≤ √uY/ℓ, Y ≥ ‖y_t‖, which 0 always fulfils.
        """
        ell, u = constants.strong_convexity, constants.smoothness
        if theorem not in (9, 10):
            raise InvalidParameterError(
                "The 'theorem' parameter of from_theorem must be 9 or 10. "
                f"Got {theorem!r} instead."
            )
        if not 0 < ell <= u < math.inf:
            raise InvalidParameterError(
                "The 'constants' parameter of from_theorem must be those of A_t of "
                f"full column rank, 0 < ℓ ≤ u. Got ℓ = {ell} and u = {u} instead."
            )
        if theorem == 9:
            largest = discounts.largest_contracting(u / ell)
            owner = f"{cls.__name__} in Theorem 9, at u/ℓ = {u / ell:g},"
            checks.require_argument(owner, "discount", discount, f"(0, {largest})")
        return cls(discount)

    def init(self, theta: Any) -> RLSState:
        theta = checks.check_start(self, theta, ndim=(1,))
        return RLSState(theta, factors.prior(0.0, theta))

    def _predict(self, state: RLSState, x: Any) -> Any:
        if x is None or x.ndim == 1:
            return super()._predict(state, x)
        out = np.empty(len(x), state.theta.dtype)
        predict_rows(np.ascontiguousarray(x), state.theta, out)
        return out

    def update(self, state: RLSState, f: Round) -> RLSState:
        f = self.check_round(state, f)
        theta, factor = state.theta, state.factor.copy()
        root = theta.dtype.type(math.sqrt(f.weight))
        gain, work = np.empty((2, len(theta)), theta.dtype)
        forget(factor, self.discount**f.elapsed)
        for a, y in zip(f.x, f.y, strict=True):
            learn(factor, root * a, gain)  # gain = P⁻¹ √w a, P with this row
            with np.errstate(over="ignore", invalid="ignore"):
                theta = clip_coefficients(theta + gain * (root * (y - a @ theta)))
        cap_covariance(factor, gain, work)
        drop_all_overflow(factor)
        return RLSState(theta, factor)

    def _change_features(self, state: RLSState, change: FeatureChange) -> RLSState:
        return change_least_squares(state, change, 0.0)

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return True

    def _play(
        self, state: RLSState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[RLSState, Trace]:
        theta, factor = state.theta.copy(), state.factor.copy()
        arrays = KernelArrays.from_block(theta, block, record)
        general_least_squares(theta, factor, float(self.discount), *arrays)
        return RLSState(theta, factor), arrays.trace()
