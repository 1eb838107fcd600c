"""The whole space: no constraint at all."""

from dataclasses import dataclass

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.domains.base import Domain, Projection, is_legal
from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Everywhere(Domain):
    """S = ℝⁿ, for unconstrained learning.

    Its radius is infinite, so that no bound of the paper applies. Of ℝⁿ it holds the
    points whose coordinates are legal: ``checks.MAX_MAGNITUDE``, 1e150 in float64.
    """

    @property
    def radius(self) -> float:
        return float("inf")

    def contains(self, point: FloatArray) -> bool:
        return is_legal(point)

    def project(self, point: FloatArray) -> FloatArray:
        if self.contains(point):
            return point
        _, low, high = self.limits(point)
        return np.clip(np.nan_to_num(point, nan=0.0), low, high)

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        nearest = self.project(point)
        return Projection(nearest, 0.0 if nearest is point else np.inf)

    def support(self, directions: FloatArray) -> FloatArray:
        return np.where(np.any(directions != 0, axis=1), np.inf, 0.0)

    def limits(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        largest = MAX_MAGNITUDE[point.dtype]
        return np.inf, np.full_like(point, -largest), np.full_like(point, largest)
