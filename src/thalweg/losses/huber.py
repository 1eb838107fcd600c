"""Huber's loss of a linear prediction, with an optional ridge penalty on θ."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import checks
from thalweg.errors import UnsupportedLossError
from thalweg.kernels.losses import HUBER
from thalweg.losses.base import Constants, Loss, Shape, inverse
from thalweg.losses.linear import LinearLoss
from thalweg.types import Block, FloatArray


@dataclass(frozen=True)
class Huber(LinearLoss):
    """f(θ) = φ(x·θ - y) + (μ/2)‖θ‖², φ(r) = ½r² up to |r| = width, then linear.

    A robust loss: outliers count linearly.

    ``width`` > 0 is the residual from which on the loss grows linearly.
    ``ridge`` is μ ≥ 0: it makes f μ-strongly convex, which φ alone never is where
    a residual can pass ``width``; the Hessian then has full rank.
    """

    code: ClassVar[int | None] = HUBER
    width: float = 1.0
    ridge: float = 0.0

    def __post_init__(self) -> None:
        checks.require_interval(self, "width", "(0, inf)")
        checks.require_interval(self, "ridge", "[0, inf)")

    @property
    def shape_parameter(self) -> float:
        return self.width

    @property
    def rank_one(self) -> bool:
        return self.ridge == 0

    def phi(self, p: Any, y: Any) -> Any:
        size = np.abs(p - y)
        inner = np.minimum(size, self.width)
        return inner * (size - 0.5 * inner)

    def slope(self, p: Any, y: Any) -> Any:
        return np.clip(p - y, -self.width, self.width)

    def curvature(self, p: Any, y: Any) -> Any:
        return np.where(np.abs(p - y) <= self.width, 1.0, 0.0)

    def curvature_range(self, low: Any, high: Any, y: Any) -> tuple[Any, Any]:
        farthest = np.maximum(np.abs(low - y), np.abs(high - y))
        nearest = np.maximum(np.maximum(low - y, y - high), 0.0)
        return 1.0 * (farthest <= self.width), 1.0 * (nearest <= self.width)

    def value(self, theta: FloatArray, x: Any, y: Any) -> float:
        return super().value(theta, x, y) + 0.5 * self.ridge * float(theta @ theta)

    def grad(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return super().grad(theta, x, y) + self.ridge * theta

    def hess(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return super().hess(theta, x, y) + self.ridge * np.eye(theta.size)

    def hess_root(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        rank_one = super().hess_root(theta, x, y)
        return Loss.hess_root(self, theta, x, y) if self.ridge else rank_one

    def prediction_loss(self, prediction: FloatArray, y: FloatArray) -> FloatArray:
        if self.ridge:
            raise UnsupportedLossError(
                f"{self!r} depends on θ itself and cannot be measured from predictions."
            )
        return super().prediction_loss(prediction, y)

    def shapes(self, theta: FloatArray) -> tuple[Shape | None, Shape]:
        return theta.shape[:1], ()

    def constants(self, domain: Any, block: Block) -> Constants:
        without_ridge = super().constants(domain, block)
        if not self.ridge:
            return without_ridge
        weight = block.weights
        convexity = without_ridge.strong_convexity + self.ridge * float(weight.min())
        radius = domain.in_dimension(np.shape(block.x)[1]).radius
        gradient = (
            without_ridge.gradient_bound + self.ridge * float(weight.max()) * radius
        )
        return Constants(
            convexity,
            without_ridge.smoothness + self.ridge * float(weight.max()),
            # Any ℓ-strongly convex f with ‖∇f‖ ≤ G is ℓ/G²-exp-concave.
            convexity * inverse(gradient**2),
            gradient,
        )
