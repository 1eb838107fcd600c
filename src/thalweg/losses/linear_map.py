"""Half squared error of several linear measurements of one θ."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from thalweg.losses.base import Constants, Loss, Shape
from thalweg.types import Block, FloatArray


@dataclass(frozen=True)
class LinearMap(Loss):
    """f(θ) = ½‖y - Aθ‖² with a matrix A of m rows in each round (x of the block).

    The Hessian AᵀA has rank m at most: a Newton step is m rank-one updates.
    """

    def value(self, theta: FloatArray, x: Any, y: Any) -> float:
        return float(0.5 * np.sum((x @ theta - y) ** 2))

    def grad(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(x.T @ (x @ theta - y))

    def hess(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(x.T @ x)

    def hess_root(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(x)

    def at_prediction(self, prediction: FloatArray, y: FloatArray) -> FloatArray:
        return np.asarray(0.5 * ((prediction - y) ** 2).sum(axis=1))

    def shapes(self, theta: FloatArray) -> tuple[Shape | None, Shape]:
        return (None, theta.size), (None,)

    def constants(self, domain: Any, block: Block) -> Constants:
        A, y = np.asarray(block.x, np.float64), np.asarray(block.y, np.float64)
        weight = np.ones(len(y)) if block.weight is None else np.asarray(block.weight)
        m, n = A.shape[1:]
        singular = np.linalg.svd(A, compute_uv=False)
        least = singular[:, -1] ** 2 if m >= n else np.zeros(len(y))
        residual = singular[:, 0] * domain.radius + np.linalg.norm(y, axis=1)
        return Constants(
            float((weight * least).min()),
            float((weight * singular[:, 0] ** 2).max()),
            # ∇ = Aᵀr, so α∇∇ᵀ ⪯ AᵀA as long as α‖r‖² ≤ 1.
            1 / float((weight * residual**2).max()),
            float((weight * singular[:, 0] * residual).max()),
        )

    @classmethod
    def example(cls) -> "LinearMap":
        return cls()
