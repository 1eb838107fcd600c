"""Ader: gradient descent at every useful step size at once, mixed by Hedge.

Also known as: adaptive learning for dynamic environments.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.domains import Ball, Domain
from thalweg.kernels.ader import ader
from thalweg.learners.base import Learner
from thalweg.learners.exponential_weights import (
    hedge,
    initial_log_weights,
    weighted_mean,
)
from thalweg.learners.feature_changes import FeatureChange, move_into
from thalweg.learners.kernel_arrays import (
    KernelArrays,
    has_gradient_kernel,
    loss_formula,
)
from thalweg.losses import Loss, Round
from thalweg.types import Block, FloatArray, Trace


class AderState(NamedTuple):
    """The state of Ader."""

    theta: FloatArray  # (n,) θ_t, the weighted mean of the experts' points
    log_weights: FloatArray  # (N,) log w_t, normalised
    points: FloatArray  # (N, n) θ_t^i, one row an expert


@dataclass(frozen=True)
class Ader(Learner[AderState]):
    r"""Plays the weighted mean of N gradient descents, each with its own constant step.

    The weights are exponential (Hedge).

    .. math:: \theta_t = \sum_i w_t^i \theta_t^i, \quad
              w_{t+1}^i \propto w_t^i e^{-\alpha f_t(\theta_t^i)}, \quad
              \theta_{t+1}^i = \Pi_S(\theta_t^i - \eta_i \nabla f_t(\theta_t^i))

    with η_i = 2^{i-1} (D/G) √(7/2T), N = ⌈½log₂(1 + 4T/7)⌉ + 1, α = √(8/TG²D²) and
    w_1^i = (1 + 1/N) / i(i+1). Zhang, Lu & Zhou (2018), *Adaptive Online Learning in
    Dynamic Environments*, NeurIPS; recalled, not read. With ``surrogate`` it is their
    improved Ader: f_t is replaced throughout by ⟨∇f_t(θ_t), θ - θ_t⟩, so that a round
    costs one gradient instead of N.

    ``horizon`` is T ≥ 1: rounds beyond it are played all the same, but not covered by
    the theory. ``gradient_bound`` is G > 0 on ``domain``, which is S and must be
    bounded. Their D is the diameter: here twice the radius. GD bounds the range of
    f_t on S, and that of its surrogate, so one α is right for both. No discount
    enters, so ``elapsed`` has no effect.
    """

    records: ClassVar[tuple[str, ...]] = ("theta", "log_weights")

    # A round costs O(n).
    max_features: ClassVar[int] = 2**20
    horizon: int
    gradient_bound: float
    domain: Domain = Ball(1.0)
    surrogate: bool = False

    def __post_init__(self) -> None:
        checks.require_type(self, "domain", Domain)
        checks.require_interval(self, "horizon", "[1, inf)")
        checks.require_interval(self, "gradient_bound", "(0, inf)")
        checks.require_interval(self.domain, "radius", "(0, inf)")
        checks.require_choice(self, "surrogate", (False, True))

    @property
    def step_sizes(self) -> FloatArray:
        """η_1 to η_N, each twice the one before."""
        T, G, D = self.horizon, self.gradient_bound, 2 * self.domain.radius
        N = math.ceil(0.5 * math.log2(1 + 4 * T / 7)) + 1
        return np.asarray(2.0 ** np.arange(N) * (D / G) * math.sqrt(7 / (2 * T)))

    @property
    def mixing_rate(self) -> float:
        """α, at which the experts' losses count."""
        G, D = self.gradient_bound, 2 * self.domain.radius
        return math.sqrt(8 / self.horizon) / (G * D)

    def init(self, theta: Any) -> AderState:
        theta = checks.check_start(self, theta, ndim=(1,))
        checks.require_start_in_domain(self, self.domain, theta)
        N = len(self.step_sizes)
        return AderState(theta, initial_log_weights(N), np.tile(theta, (N, 1)))

    @np.errstate(over="ignore")  # an infinite step is projected like any other
    def update(self, state: AderState, f: Round) -> AderState:
        f = self.check_round(state, f)
        theta, log_weights, points = state
        if self.surrogate:
            grads = f.grad(theta)[None]
            losses = (points - theta) @ grads[0]
        else:
            grads = np.array([f.grad(point) for point in points])
            losses = np.array([f.value(point) for point in points])
        log_weights = hedge(log_weights, losses, self.mixing_rate)
        eta = self._limited_step_sizes(theta)[:, None]
        points = np.array([self.domain.project(z) for z in points - eta * grads])
        mean = weighted_mean(log_weights, points)
        if not self.domain.contains(mean):  # rounding: the weights may not sum to 1
            mean = self.domain.project(mean)
        return AderState(mean, log_weights, points)

    def _change_features(self, state: AderState, change: FeatureChange) -> AderState:
        points = change.apply(state.points, axis=1)
        return AderState(
            move_into(self.domain, change.apply(state.theta)),
            state.log_weights,
            np.array([move_into(self.domain, point) for point in points]),
        )

    def has_compiled_run(self, loss: Loss, theta: FloatArray) -> bool:
        return has_gradient_kernel(loss, self.domain, theta)

    def _play(
        self, state: AderState, loss: Loss, block: Block, record: Sequence[str]
    ) -> tuple[AderState, Trace]:
        if not self.has_compiled_run(loss, state.theta):
            return super()._play(state, loss, block, record)
        theta, log_weights, points = (array.copy() for array in state)
        arrays = KernelArrays.from_block(theta, block, record)
        rounds = len(block) if "log_weights" in record else 0
        recorded = np.empty((rounds, len(points)))
        x, y, weight, _, *trace = arrays.by_column()
        ader(
            theta, log_weights, points, self._limited_step_sizes(theta),
            self.mixing_rate, bool(self.surrogate), loss_formula(loss),
            self.domain.limits(theta), (x, y, weight), (*trace, recorded),
        )  # fmt: skip
        played = arrays.trace()
        if rounds:
            played = replace(played, extras={"log_weights": recorded})
        return AderState(theta, log_weights, points), played

    def _limited_step_sizes(self, theta: FloatArray) -> FloatArray:
        """η_1 to η_N as legal numbers of θ's dtype."""
        largest = checks.MAX_MAGNITUDE[theta.dtype]
        return np.asarray(np.minimum(self.step_sizes, largest).astype(theta.dtype))
