"""Half squared distance to a moving point."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import checks
from thalweg.losses.base import Constants, Loss, Shape, inverse
from thalweg.types import Block, FloatArray


@dataclass(frozen=True)
class Tracking(Loss):
    """f(θ) = ½‖θ - y‖²: no features, each round's y is a point to be near."""

    is_quadratic: ClassVar[bool] = True

    def value(self, theta: FloatArray, x: Any, y: Any) -> float:
        return float(0.5 * np.sum((theta - y) ** 2))

    def grad(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(theta - y)

    def hess(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.eye(theta.size)

    def hess_root(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.eye(theta.size)

    def prediction_loss(self, prediction: FloatArray, y: FloatArray) -> FloatArray:
        return np.asarray(0.5 * ((prediction - y) ** 2).sum(axis=1))

    def shapes(self, theta: FloatArray) -> tuple[Shape | None, Shape]:
        return None, (theta.size,)

    def constants(self, domain: Any, block: Block) -> Constants:
        block = checks.check_block(block, self, np.zeros(np.shape(block.y)[-1:]))
        y, weight = block.y, block.weights
        radius = domain.in_dimension(y.shape[1]).radius
        distance = radius + np.linalg.norm(y, axis=1)
        min_weight, max_weight = float(weight.min()), float(weight.max())
        # ∇²(wf) = wI and ∇(wf) = w(θ - y), so α = 1 / w‖θ - y‖².
        alpha = inverse(float((weight * distance**2).max()))
        return Constants(
            min_weight, max_weight, alpha, float((weight * distance).max())
        )
