"""Ader: gradient descent at every useful step size at once, mixed by Hedge.

Also known as: adaptive learning for dynamic environments.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.domains import Ball, Domain
from thalweg.learners.base import Learner
from thalweg.learners.exponential_weights import (
    hedge,
    initial_log_weights,
    weighted_mean,
)
from thalweg.losses import Round
from thalweg.types import FloatArray


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
        largest = checks.MAX_MAGNITUDE[theta.dtype]
        eta = np.minimum(self.step_sizes, largest).astype(theta.dtype)[:, None]
        points = np.array([self.domain.project(z) for z in points - eta * grads])
        mean = weighted_mean(log_weights, points)
        if not self.domain.contains(mean):  # rounding: the weights may not sum to 1
            mean = self.domain.project(mean)
        return AderState(mean, log_weights, points)
