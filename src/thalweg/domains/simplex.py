"""The simplex: non-negative coordinates with a given sum, as for weights."""

from dataclasses import dataclass

import numpy as np

from thalweg import checks
from thalweg.domains import quadratic_program
from thalweg.domains.base import Domain, Projection, is_legal, limit_coordinates
from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Simplex(Domain):
    """S = {θ : θ ≥ 0, Σθ = total}, in any dimension. ``total`` is in (0, inf)."""

    total: float = 1.0

    def __post_init__(self) -> None:
        checks.require_interval(self, "total", "(0, inf)")

    @property
    def radius(self) -> float:
        return float(self.total)

    def contains(self, point: FloatArray) -> bool:
        # n coordinates, each off by half an ε, change the sum by less than nε.
        if not is_legal(point):
            return False
        rounding = point.size * float(np.finfo(point.dtype).eps) * self.total
        return bool(point.min() >= 0 and abs(point.sum() - self.total) <= rounding)

    def project(self, point: FloatArray) -> FloatArray:
        if self.contains(point):
            return point
        # z = max(y - τ, 0) with Σz = total. Adding a constant to y changes τ alone, so
        # the largest coordinate is moved to 0, and a far y costs no digits.
        y = limit_coordinates(point).astype(np.float64)
        y -= y.max()
        largest_first = np.sort(y)[::-1]
        count = np.arange(1, y.size + 1)
        tau = (np.cumsum(largest_first) - self.total) / count
        last_positive = np.flatnonzero(largest_first > tau)[-1]
        weights = np.maximum(y - tau[last_positive], 0.0)
        return np.asarray(weights * (self.total / weights.sum()), point.dtype)

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        member = self._project_member(point)
        if member is not None:
            return member
        n = point.size
        constraints = quadratic_program.Constraints(
            np.vstack([np.eye(n), np.ones(n)]),
            np.append(np.zeros(n), self.total),
            np.append(np.full(n, np.inf), self.total),
        )
        start = self.project(point.astype(np.float64))
        return quadratic_program.project(
            point, information, constraints, start, self.total, repair=self.project
        )

    def support(self, directions: FloatArray) -> FloatArray:
        return np.asarray(self.total * directions.max(axis=1))
