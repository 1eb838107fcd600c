"""Online gradient descent with steps that shrink as 1/√t."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.domains import Ball, Domain
from thalweg.kernels.ogd import ogd
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange, move_into
from thalweg.learners.kernel_arrays import (
    KernelArrays,
    has_gradient_kernel,
    loss_formula,
)
from thalweg.losses import Loss, Round
from thalweg.types import Block, FloatArray, Trace


class OnlineGradientState(NamedTuple):
    """The state of online gradient descent."""

    theta: FloatArray  # (n,) θ_t, the point played next
    rounds: int  # t - 1


@dataclass(frozen=True)
class OnlineGradientDescent(Learner[OnlineGradientState]):
    r"""A gradient step, then a projection on the domain.

    Also known as: OGD, online projected subgradient descent, Zinkevich's algorithm; for
    squared error LMS (least mean squares) with a falling step.

    .. math:: \theta_{t+1} = \Pi_S(\theta_t - \eta_t \nabla f_t(\theta_t)),
              \quad \eta_t = c / \sqrt{t}

    The classic of online convex optimisation: Zinkevich (2003), *Online Convex
    Programming and Generalized Infinitesimal Gradient Ascent*, ICML; its rule has
    c = 1. ``step_size`` is c > 0: D/G, for a domain of diameter D and gradients of norm
    G at most, balances the two parts of the bound. ``domain`` is S. No discount enters,
    so ``elapsed`` has no effect.
    """

    # A round costs O(n).
    max_features: ClassVar[int] = 2**20
    step_size: float = 1.0
    domain: Domain = Ball(1.0)

    def __post_init__(self) -> None:
        checks.require_type(self, "domain", Domain)
        checks.require_interval(self, "step_size", "(0, inf)")

    def init(self, theta: Any) -> OnlineGradientState:
        theta = checks.check_start(self, theta, ndim=(1,))
        checks.require_start_in_domain(self, self.domain, theta)
        return OnlineGradientState(theta, rounds=0)

    @np.errstate(over="ignore")  # an infinite step is projected like any other
    def update(self, state: OnlineGradientState, f: Round) -> OnlineGradientState:
        f = self.check_round(state, f)
        theta, t = state.theta, state.rounds + 1
        eta_t = self.step_size / math.sqrt(t)
        point = theta - eta_t * f.grad(theta)
        return OnlineGradientState(self.domain.project(point), t)

    def _change_features(
        self, state: OnlineGradientState, change: FeatureChange
    ) -> OnlineGradientState:
        return state._replace(theta=move_into(self.domain, change.apply(state.theta)))

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return has_gradient_kernel(loss, self.domain, theta)

    def _play(
        self,
        state: OnlineGradientState,
        loss: Loss,
        block: Block,
        record: Sequence[str],
    ) -> tuple[OnlineGradientState, Trace]:
        if not self.has_compiled_run(loss, state.theta):
            return super()._play(state, loss, block, record)
        theta, rounds = state.theta.copy(), state.rounds
        arrays = KernelArrays.from_block(theta, block, record)
        x, y, weight, _, *trace = arrays.by_column()
        ogd(
            theta, rounds, float(self.step_size), loss_formula(loss),
            self.domain.limits(theta), (x, y, weight), tuple(trace),
        )  # fmt: skip
        return OnlineGradientState(theta, rounds + len(block)), arrays.trace()
