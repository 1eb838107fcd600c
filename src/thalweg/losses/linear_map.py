"""Half squared error of several linear measurements of one θ."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg import checks
from thalweg.errors import StreamError
from thalweg.losses.base import Constants, Loss, Shape, inverse
from thalweg.types import Block, FloatArray


@dataclass(frozen=True)
class LinearMap(Loss):
    """f(θ) = ½‖y - Aθ‖² with a matrix A of m rows in each round (x of the block).

    The Hessian AᵀA has rank m at most: a Newton step is m rank-one updates.
    """

    is_quadratic: ClassVar[bool] = True

    def value(self, theta: FloatArray, x: Any, y: Any) -> float:
        return float(0.5 * np.sum((x @ theta - y) ** 2))

    def grad(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(x.T @ (x @ theta - y))

    def hess(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(x.T @ x)

    def hess_root(self, theta: FloatArray, x: Any, y: Any) -> FloatArray:
        return np.asarray(x)

    def prediction_loss(self, prediction: FloatArray, y: FloatArray) -> FloatArray:
        return np.asarray(0.5 * ((prediction - y) ** 2).sum(axis=1))

    def shapes(self, theta: FloatArray) -> tuple[Shape | None, Shape]:
        return (None, theta.size), (None,)

    def check_rounds(self, x: FloatArray | None, y: FloatArray) -> None:
        if x is not None and x.shape[1] != y.shape[1]:
            raise StreamError(
                f"LinearMap needs one y for each row of A. Got {y.shape[1]} for "
                f"{x.shape[1]} rows."
            )

    def constants(self, domain: Any, block: Block) -> Constants:
        block = checks.check_block(block, self, np.zeros(np.shape(block.x)[-1:]))
        A, y, weight = block.x, block.y, block.weights
        m, n = A.shape[1:]
        singular = np.linalg.svd(A, compute_uv=False)
        min_eigenvalue = singular[:, -1] ** 2 if m >= n else np.zeros(len(y))
        residual = singular[:, 0] * domain.in_dimension(n).radius + np.linalg.norm(
            y, axis=1
        )
        return Constants(
            float((weight * min_eigenvalue).min()),
            float((weight * singular[:, 0] ** 2).max()),
            # ∇ = Aᵀr, so α∇∇ᵀ ⪯ AᵀA as long as α‖r‖² ≤ 1.
            inverse(float((weight * residual**2).max())),
            float((weight * singular[:, 0] * residual).max()),
        )
