"""The online Newton step, for exp-concave losses that do not drift."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.domains import Ball, Domain
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange, move_into
from thalweg.learners.newton import limit_gradient
from thalweg.losses import Round
from thalweg.types import FloatArray


class OnlineNewtonState(NamedTuple):
    """The state of the online Newton step."""

    theta: FloatArray  # (n,) θ_t, the point played next
    information: FloatArray  # (n, n) A_{t-1}


@dataclass(frozen=True)
class OnlineNewtonStep(Learner[OnlineNewtonState]):
    r"""Newton steps on the sum of all gradients' outer products; nothing is forgotten.

    Also known as: ONS.

    .. math:: A_t = A_{t-1} + \nabla_t \nabla_t^\top, \quad
              \theta_{t+1} = \Pi_S^{A_t}(\theta_t - A_t^{-1} \nabla_t / \beta)

    with A_0 = εI, β = ½min{1/4GD, α} and ε = 1/β²D². Hazan, Agarwal & Kale (2007),
    *Logarithmic Regret Algorithms for Online Convex Optimization*, Machine Learning 69;
    the constants are recalled, not read. ``gradient_bound`` is G > 0,
    ``exp_concavity`` is α > 0, both on ``domain``, which is S and must be bounded.
    Their D is the diameter: here twice the radius. A gradient some 1e8 times √ε leaves
    A singular to rounding; the shortest step that solves it is then taken, and nothing
    is promised: G must be a true bound. No discount enters, so ``elapsed`` has no
    effect.
    """

    gradient_bound: float
    exp_concavity: float
    domain: Domain = Ball(1.0)

    def __post_init__(self) -> None:
        checks.require_type(self, "domain", Domain)
        checks.require_interval(self, "gradient_bound", "(0, inf)")
        checks.require_interval(self, "exp_concavity", "(0, inf)")
        checks.require_interval(self.domain, "radius", "(0, inf)")

    @property
    def beta(self) -> float:
        """β: a step is 1/β times A⁻¹∇."""
        D = 2 * self.domain.radius
        return 0.5 * min(1 / (4 * self.gradient_bound * D), self.exp_concavity)

    @property
    def ridge(self) -> float:
        """ε, from which the information starts."""
        return 1 / (self.beta * 2 * self.domain.radius) ** 2

    def init(self, theta: Any) -> OnlineNewtonState:
        theta = checks.check_start(self, theta, ndim=(1,))
        checks.require_start_in_domain(self, self.domain, theta)
        return OnlineNewtonState(
            theta, self.ridge * np.eye(theta.size, dtype=theta.dtype)
        )

    def update(self, state: OnlineNewtonState, f: Round) -> OnlineNewtonState:
        f = self.check_round(state, f)
        theta, information = state
        grad = limit_gradient(f.grad(theta))
        information = information + np.outer(grad, grad)
        point = theta - _solve(information, grad) / self.beta
        if not self.domain.contains(point):
            point = self.domain.project_in(point, information).point
        return OnlineNewtonState(point.astype(theta.dtype), information)

    def _change_features(
        self, state: OnlineNewtonState, change: FeatureChange
    ) -> OnlineNewtonState:
        information = change.apply(change.apply(state.information), axis=1)
        information[change.added, change.added] = self.ridge
        if len(change.removed):
            # The inverse loses rows and columns: that is what the Schur complement does
            # to A itself.
            between = state.information[np.ix_(change.sources, change.removed)]
            own = state.information[np.ix_(change.removed, change.removed)]
            information -= between @ np.linalg.solve(own, between.T)
            information = (information + information.T) / 2
        theta = move_into(self.domain, change.apply(state.theta))
        return OnlineNewtonState(theta, information)


def _solve(information: FloatArray, grad: FloatArray) -> FloatArray:
    """A⁻¹∇, or where A is singular the shortest solution."""
    try:
        return np.linalg.solve(information, grad)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(information, grad)[0])
