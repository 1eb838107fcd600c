"""Gradient descent with a constant step, for strongly convex and smooth losses."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.domains import Ball, Domain
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange, move_into
from thalweg.losses import Round
from thalweg.types import FloatArray


class ConstantStepState(NamedTuple):
    """The state of gradient descent with a constant step."""

    theta: FloatArray  # (n,) θ_t, the point played next


@dataclass(frozen=True)
class ConstantStepGradient(Learner[ConstantStepState]):
    r"""Goes part of the way along a projected gradient step of constant size.

    Also known as: online gradient descent with averaging; for squared error LMS with a
    constant step.

    .. math:: \hat\theta_t = \Pi_S(\theta_t - \nabla f_t(\theta_t) / \gamma), \quad
              \theta_{t+1} = \theta_t + h (\hat\theta_t - \theta_t)

    Mokhtari, Shahrampour, Jadbabaie & Ribeiro (2016), *Online Optimization in Dynamic
    Environments: Improved Regret Rates for Strongly Convex Problems*, CDC; recalled,
    not read. ``smoothness`` is their γ > 0, which must be no less than the losses'
    own smoothness (this γ is no discount). ``averaging`` is their h in (0, 1].
    ``domain`` is S. No discount enters, so ``elapsed`` has no effect.
    """

    # A round costs O(n).
    max_features: ClassVar[int] = 2**20
    smoothness: float = 1.0
    averaging: float = 1.0
    domain: Domain = Ball(1.0)

    def __post_init__(self) -> None:
        checks.require_type(self, "domain", Domain)
        checks.require_interval(self, "smoothness", "(0, inf)")
        checks.require_interval(self, "averaging", "(0, 1]")

    def init(self, theta: Any) -> ConstantStepState:
        theta = checks.check_start(self, theta, ndim=(1,))
        checks.require_start_in_domain(self, self.domain, theta)
        return ConstantStepState(theta)

    @np.errstate(over="ignore")  # an infinite step is projected like any other
    def update(self, state: ConstantStepState, f: Round) -> ConstantStepState:
        f = self.check_round(state, f)
        (theta,) = state
        target = self.domain.project(theta - f.grad(theta) / self.smoothness)
        point = theta + self.averaging * (target - theta)
        # Between two points of S, up to rounding, which matters if they are far apart.
        return ConstantStepState(
            point if self.domain.contains(point) else self.domain.project(point)
        )

    def _change_features(
        self, state: ConstantStepState, change: FeatureChange
    ) -> ConstantStepState:
        return ConstantStepState(move_into(self.domain, change.apply(state.theta)))
