"""The regret of discounted least squares as an exact sum of terms.

With F_t = γF_{t-1} + f_t, F_0 = (ε/2)‖θ-θ_1‖², P_t its Hessian and θ_{t+1} its
minimiser, Gap_t(u) = F_t(u) - F_t(θ_{t+1}) = ½‖u-θ_{t+1}‖² in the norm of P_t. Then
f_t(θ_t) - f_t(z_t) = ½e_t²h_t - Gap_t(z_t) + γGap_{t-1}(z_t), and summing gives it.
Ours; Yuan & Lamperski (2020) bound the same terms one by one in Theorem 1's proof.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from thalweg import checks
from thalweg.errors import StreamError
from thalweg.losses import SquaredError
from thalweg.regret.best_point import least_squares_rows
from thalweg.types import Block, FloatArray


@dataclass(frozen=True)
class Decomposition:
    """regret = init + path + stability - slack, exactly, for unconstrained RLS."""

    regret: float  # Σ f_t(θ_t) - f_t(z_t), measured
    init: float  # (γε/2)‖z_1-θ_1‖²: the prior was not the comparator
    path: float  # γΣ F_t(z_{t+1}) - F_t(z_t): the comparator moved
    stability: float  # ½Σ e_t²h_t: each round moved the learner
    slack: float  # (1-γ)Σ_{t<T} Gap_t(z_t) + Gap_T(z_T) ≥ 0: it fits better than z does

    @property
    def residual(self) -> float:
        """The unexplained part: rounding, if the points are those of RLS."""
        return self.regret - (self.init + self.path + self.stability - self.slack)


@dataclass(frozen=True)
class ClippedBound:
    """A bound on the regret of clipped RLS against one comparator on one block."""

    init: float  # (γε/2)‖z_1‖²
    path: float  # γΣ F_t(z_{t+1}) - F_t(z_t)
    stability: float  # ½W²(log|P_T|/|P_0| + nT log 1/γ)

    @property
    def total(self) -> float:
        return self.init + self.path + self.stability


class _Step(NamedTuple):
    """One round of the recursion."""

    gamma: float  # γ, to the power of the time elapsed
    information: FloatArray  # P_t
    theta: FloatArray  # θ_t, played
    minimiser: FloatArray  # θ_{t+1}
    error: float  # e_t = y_t - x_t·θ_t
    leverage: float  # h_t = x_t·P_t⁻¹x_t

    def gap(self, point: FloatArray) -> float:
        away = point - self.minimiser
        return float(0.5 * away @ self.information @ away)


def decomposition(
    block: Block,
    comparator: Any,
    *,
    discount: float,
    ridge: float = 1.0,
    start: Any = None,
    theta: Any = None,
) -> Decomposition:
    """The terms of the regret of RLS on squared error against a sequence z.

    ``comparator`` is z, (T, n). ``discount`` is γ in (0, 1], ``ridge`` ε > 0, ``start``
    θ_1, by default 0. The recursion is run afresh, densely, unless ``theta`` brings
    the points of a trace, (T, n): then ``residual`` shows how far they are from RLS's.
    """
    x, y, z = _check_inputs(block, comparator, discount, ridge)
    prior = np.zeros(x.shape[1]) if start is None else np.asarray(start, np.float64)
    steps = list(_recursion(block, x, y, discount, ridge, prior, theta))
    errors, leverages = (np.array([s[i] for s in steps]) for i in (4, 5))
    comparator_errors = y - (x * z).sum(axis=1)
    init, path = _init_and_path(steps, z, ridge, prior)
    slack = steps[-1].gap(z[-1])
    for step, later, point in zip(steps, steps[1:], z, strict=False):
        slack += (1 - later.gamma) * step.gap(point)
    return Decomposition(
        regret=0.5 * float((errors**2 - comparator_errors**2).sum()),
        init=init,
        path=path,
        stability=0.5 * float((errors**2 * leverages).sum()),
        slack=slack,
    )


def clipped_bound(
    block: Block,
    comparator: Any,
    low: float,
    high: float,
    *,
    discount: float,
    ridge: float = 1.0,
) -> ClippedBound:
    """A bound for RLS from θ_1 = 0 whose predictions are clipped to [low, high].

    For every comparator, without a domain or a projection, as long as all y lie in
    [low, high]: the identity above for RLS with its own clipped prediction as a hint,
    and Σh_t ≤ log|P_T|/|P_0| + nT log 1/γ. Ours. A weight w scales W² = (high-low)².
    """
    x, y, z = _check_inputs(block, comparator, discount, ridge)
    targets = np.asarray(block.y)
    if not (low <= targets.min() and targets.max() <= high):
        raise StreamError(
            f"Clipping to [{low}, {high}] needs all y inside. "
            f"Got y from {targets.min()} to {targets.max()}."
        )
    prior = np.zeros(x.shape[1])
    steps = list(_recursion(block, x, y, discount, ridge, prior))
    init, path = _init_and_path(steps, z, ridge, prior)
    n = x.shape[1]
    growth = np.linalg.slogdet(steps[-1].information)[1] - n * np.log(ridge)
    forgetting = -n * sum(np.log(step.gamma) for step in steps)
    width = float(block.weights.max()) * (high - low) ** 2
    return ClippedBound(init, path, 0.5 * width * float(growth + forgetting))


def _check_inputs(
    block: Block, comparator: Any, discount: float, ridge: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    checks.require_argument("decomposition", "discount", discount, "(0, 1]")
    checks.require_argument("decomposition", "ridge", ridge, "(0, inf)")
    block = checks.check_block(block, SquaredError(), np.zeros(np.shape(block.x)[-1]))
    A, b = least_squares_rows(block, SquaredError())
    x, y, z = A[:, 0], b[:, 0, 0], np.asarray(comparator, np.float64)
    if z.shape != x.shape:
        raise StreamError(
            f"The comparator needs shape {x.shape} here. Got shape {z.shape} instead."
        )
    return x, y, z


def _recursion(
    block: Block,
    x: FloatArray,
    y: FloatArray,
    discount: float,
    ridge: float,
    start: FloatArray,
    points: Any = None,
) -> Any:
    """RLS by its definition: P_t θ_{t+1} = b_t is solved afresh in every round.

    ``points``, where given, take the place of the θ that RLS would play.
    """
    P, theta = ridge * np.eye(x.shape[1]), start
    b = ridge * start
    for t, (_, _, _, elapsed) in enumerate(block.rounds()):
        gamma = discount**elapsed
        P, b = gamma * P + np.outer(x[t], x[t]), gamma * b + y[t] * x[t]
        if points is not None:
            theta = np.asarray(points[t], np.float64)
        minimiser = np.linalg.solve(P, b)
        if points is not None and t + 1 < len(y):
            minimiser = np.asarray(points[t + 1], np.float64)
        leverage = float(x[t] @ np.linalg.solve(P, x[t]))
        yield _Step(gamma, P, theta, minimiser, float(y[t] - x[t] @ theta), leverage)
        theta = minimiser


def _init_and_path(
    steps: list[_Step], z: FloatArray, ridge: float, start: FloatArray
) -> tuple[float, float]:
    """The terms init and path."""
    away = z[0] - start
    path = 0.0
    for step, later, here, there in zip(steps, steps[1:], z, z[1:], strict=False):
        path += later.gamma * (step.gap(there) - step.gap(here))
    return float(0.5 * steps[0].gamma * ridge * away @ away), path
