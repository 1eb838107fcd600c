"""The whole space: no constraint at all."""

from dataclasses import dataclass

import numpy as np

from thalweg.domains.base import Domain, Projection
from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Everywhere(Domain):
    """S = ℝⁿ, for unconstrained learning.

    Its radius is infinite, so that no bound of the paper applies.
    """

    @property
    def radius(self) -> float:
        return float("inf")

    def contains(self, point: FloatArray) -> bool:
        return True

    def project(self, point: FloatArray) -> FloatArray:
        return point

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        return Projection(point, 0.0)

    def support(self, directions: FloatArray) -> FloatArray:
        return np.where(np.any(directions != 0, axis=1), np.inf, 0.0)

    def limits(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return np.inf, np.full_like(point, -np.inf), np.full_like(point, np.inf)
