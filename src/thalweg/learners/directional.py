"""RLS with directional forgetting: only the direction of the new row is forgotten."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import checks
from thalweg.domains import Domain, Everywhere
from thalweg.kernels import ud_factor as factors
from thalweg.kernels.directional import forget_along
from thalweg.kernels.ud_factor import learn
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange, move_into
from thalweg.learners.newton import NewtonState, scaled_information
from thalweg.losses import Round, SquaredError


@dataclass(frozen=True)
class DirectionalRLS(Learner[NewtonState]):
    r"""Recursive least squares with directional forgetting: no covariance windup.

    .. math:: P_t = P_{t-1} - (1-\gamma) \frac{P_{t-1} x_t x_t^\top P_{t-1}}
              {x_t^\top P_{t-1} x_t} + x_t x_t^\top, \qquad
              \theta_{t+1} = \Pi_S^{P_t}(\theta_t - P_t^{-1} \nabla f_t(\theta_t))

    What was learnt about a feature stays while that feature is zero: nothing is
    forgotten in a direction that is not excited. The form is that of Cao & Schwartz
    (2000), recalled, not read; the idea is Kulhavý & Kárný's (1984). ``discount`` is γ
    in (0, 1]; for features that vary in all directions alike it forgets as slowly as
    1 - (1-γ)/n would everywhere. ``ridge`` is ε > 0 in P_0 = εI. Where ‖x‖ ≤ X, P stays
    below c = max(ε, X²/(1-γ)), and above the like for the shortest x; on a ``domain``
    of radius D with residuals up to E its regret is at most (E²/2)[n log(c/ε) +
    T log(1/γ)] + 2DcV + 2εD² (ours: docs/derivations/directional-forgetting.md).
    Features should be of similar size. Of features that are removed the covariance is
    marginalised; that they were zero from now on would also be remembered in xᵀPx.
    """

    accepts: ClassVar = (SquaredError,)
    discount: float = 0.99
    ridge: float = 1.0
    domain: Domain = Everywhere()

    def __post_init__(self) -> None:
        checks.require_type(self, "domain", Domain)
        checks.require_interval(self, "discount", "(0, 1]")
        checks.require_interval(self, "ridge", "(0, inf)")

    def init(self, theta: Any) -> NewtonState:
        theta = checks.check_start(self, theta, ndim=(1,))
        checks.require_start_in_domain(self, self.domain, theta)
        checks.require_ridge_in_range(self, theta)
        return NewtonState(theta, factors.prior(self.ridge, theta))

    def update(self, state: NewtonState, f: Round) -> NewtonState:
        f = self.check_round(state, f)
        theta, factor = state.theta, state.factor.copy()
        v = theta.dtype.type(np.sqrt(f.weight)) * f.x
        gain, work = np.empty((2, theta.size), theta.dtype)
        forget_along(factor, v, self.discount**f.elapsed, work)
        learn(factor, v, gain)  # gain = P_t⁻¹ √w x_t
        root = theta.dtype.type(np.sqrt(f.weight))
        point = theta - gain * (root * (f.x @ theta - f.y))
        if not self.domain.contains(point):
            point = self.domain.project_in(point, scaled_information(factor)).point
        return NewtonState(point, factor)

    def _change_features(
        self, state: NewtonState, change: FeatureChange
    ) -> NewtonState:
        theta = move_into(self.domain, change.apply(state.theta))
        return NewtonState(theta, change.apply_to_factor(state.factor, self.ridge))
