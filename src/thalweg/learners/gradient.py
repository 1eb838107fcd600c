"""Discounted online gradient descent, with the paper's three step rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np

from thalweg import checks
from thalweg.domains import Ball, Domain
from thalweg.errors import UnsupportedLossError
from thalweg.kernels import gradient as kernel
from thalweg.learners.base import Learner
from thalweg.learners.feature_changes import FeatureChange, move_into
from thalweg.learners.kernel_arrays import KernelArrays, has_gradient_kernel
from thalweg.losses import LinearLoss, Loss, Round, Tracking
from thalweg.types import Block, FloatArray, Trace

Rule = Literal["tracking", "smooth", "strongly_convex"]


class GradientState(NamedTuple):
    """The state of discounted gradient descent."""

    theta: FloatArray  # (n,) θ_t, the point played next
    # S_{t-1} = 1 + γ + ... + γ^{t-2}, the discounted weight of the rounds seen.
    discounted_count: float


@dataclass(frozen=True)
class DiscountedGradient(Learner[GradientState]):
    r"""Projected gradient steps whose size does not fall to zero, so that they track.

    Also known as: online (projected) gradient descent with a forgetting factor.

    .. math:: \theta_{t+1} = \Pi_S(\theta_t - \eta_t \nabla f_t(\theta_t))

    Yuan & Lamperski (2020), sections 3 to 5. With S_t = γS_{t-1} + 1 = (1-γᵗ)/(1-γ):

    ``"tracking"``          η_t = (1-γ) / (1-γᵗ) = 1 / S_t, for f_t = ½‖θ - y_t‖²
    ``"smooth"``            η_t = (1-γ) / (ℓ(γ-γᵗ) + u(1-γ)) = 1 / (ℓγS_{t-1} + u)
    ``"strongly_convex"``   η_t = (1-γ) / (ℓ(1-γᵗ)) = 1 / ℓS_t

    ``discount`` is γ in (0, 1]. ``strong_convexity`` is ℓ > 0, ``smoothness`` is u ≥ ℓ.
    Departure: S_t is a recursion, which holds at γ = 1 as it stands and lets
    a round weigh w and come after any time e: S_t = γᵉS_{t-1} + w, 1 becomes w.
    """

    # A round costs O(n).
    max_features: ClassVar[int] = 2**20
    discount: float = 0.99
    rule: Rule = "strongly_convex"
    strong_convexity: float = 1.0
    smoothness: float = 1.0
    domain: Domain = Ball(1.0)

    def __post_init__(self) -> None:
        checks.require_type(self, "domain", Domain)
        checks.require_interval(self, "discount", "(0, 1]")
        checks.require_choice(self, "rule", get_args(Rule))
        checks.require_interval(self, "strong_convexity", "(0, inf)")
        checks.require_interval(self, "smoothness", f"[{self.strong_convexity}, inf)")

    def init(self, theta: Any) -> GradientState:
        theta = checks.check_start(self, theta, ndim=(1,))
        checks.require_start_in_domain(self, self.domain, theta)
        return GradientState(theta, discounted_count=0.0)

    @np.errstate(over="ignore")  # an infinite step is projected like any other
    def update(self, state: GradientState, f: Round) -> GradientState:
        f = self.check_round(state, f)
        theta, discounted_count = state
        past = self.discount**f.elapsed * discounted_count
        if f.weight == 0:
            return GradientState(theta, past)
        eta_t = self.step_size(past, f.weight)
        point = theta - eta_t * f.grad(theta)
        return GradientState(self.domain.project(point), past + f.weight)

    def _change_features(
        self, state: GradientState, change: FeatureChange
    ) -> GradientState:
        return state._replace(theta=move_into(self.domain, change.apply(state.theta)))

    def step_size(self, past: float, weight: float = 1.0) -> float:
        """η_t, where ``past`` = γS_{t-1} is the weight of the rounds before."""
        ell, u = self.strong_convexity, self.smoothness
        if self.rule == "tracking":
            return 1 / (past + weight)
        if self.rule == "smooth":
            return 1 / (ell * past + u * weight)
        return 1 / (ell * (past + weight))

    def check_loss(self, loss: Loss) -> None:
        super().check_loss(loss)
        if self.rule == "tracking" and not isinstance(loss, Tracking):
            raise UnsupportedLossError(
                f"The rule 'tracking' learns from Tracking. Got {loss!r} instead."
            )

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return has_gradient_kernel(loss, self.domain, theta)

    def _play(
        self, state: GradientState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[GradientState, Trace]:
        limits = self.domain.limits(state.theta)
        if limits is None or not self.has_compiled_run(loss, state.theta):
            return super()._play(state, loss, block, record)
        theta = state.theta.copy()
        arrays = KernelArrays.from_block(theta, block, record)
        start = (theta, float(state.discounted_count), *self._kernel_settings)
        if isinstance(loss, LinearLoss):
            phi = (loss.code, loss.shape_parameter)
            discounted_count = kernel.gradient(*start, *phi, *limits, *arrays)
        else:
            discounted_count = kernel.point_gradient(*start, *limits, *arrays[1:])
        return GradientState(theta, discounted_count), arrays.trace()

    @property
    def _kernel_settings(self) -> tuple[float, float, float]:
        """γ, and the parts of 1/η_t = before·γS_{t-1} + now·w_t: see ``step_size``."""
        before = 1.0 if self.rule == "tracking" else float(self.strong_convexity)
        now = float(self.smoothness) if self.rule == "smooth" else before
        return float(self.discount), before, now
