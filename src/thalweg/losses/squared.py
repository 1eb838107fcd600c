"""Half squared error of a linear prediction."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from thalweg.kernels.losses import SQUARED
from thalweg.losses.linear import LinearLoss


@dataclass(frozen=True)
class SquaredError(LinearLoss):
    """f(θ) = ½(x·θ - y)², the least-squares loss; summed over targets if several."""

    code: ClassVar[int | None] = SQUARED
    is_quadratic: ClassVar[bool] = True

    def phi(self, p: Any, y: Any) -> Any:
        return 0.5 * (p - y) ** 2

    def slope(self, p: Any, y: Any) -> Any:
        return p - y

    def curvature(self, p: Any, y: Any) -> Any:
        return np.ones_like(p)

    def curvature_range(self, low: Any, high: Any, y: Any) -> tuple[Any, Any]:
        return np.ones_like(y), np.ones_like(y)
