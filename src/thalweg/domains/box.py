"""Bounds on each coordinate."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg import checks
from thalweg.domains import _quadratic
from thalweg.domains.base import Domain, Projection
from thalweg.errors import InvalidParameterError
from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Box(Domain):
    """S = {θ : low ≤ θ ≤ high}, coordinate by coordinate.

    ``low`` and ``high`` have shape (n,) and may be infinite. Where they are equal the
    coordinate is fixed.
    """

    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, checks.frozen_array(self, name, 1))
        if self.low.shape != self.high.shape:
            raise InvalidParameterError(
                "The 'high' parameter of Box must have as many coordinates as 'low', "
                f"{self.low.size}. Got {self.high.size} instead."
            )
        valid = (self.low <= self.high) & (self.low < np.inf) & (self.high > -np.inf)
        if not valid.all():
            k = int(valid.argmin())
            raise InvalidParameterError(
                "The 'low' and 'high' parameters of Box must have low ≤ high and leave "
                f"a finite number between. Got low {self.low[k]} and high "
                f"{self.high[k]} at coordinate {k} instead."
            )
        object.__setattr__(self, "dimension", self.low.size)

    @property
    def radius(self) -> float:
        farthest = np.maximum(np.abs(self.low), np.abs(self.high))
        return float(np.linalg.norm(farthest))

    def contains(self, point: FloatArray) -> bool:
        # A bound may have been rounded to the point's dtype: one ε of each coordinate.
        rounding = np.finfo(point.dtype).eps * np.abs(point)
        above, below = point + rounding >= self.low, point - rounding <= self.high
        return bool((above & below).all())

    def project(self, point: FloatArray) -> FloatArray:
        return np.clip(point, self.low, self.high).astype(point.dtype)

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        if self.contains(point):
            return Projection(point, 0.0)
        start = self.project(point.astype(np.float64))
        return _quadratic.project(
            point, information, self._constraints, start, repair=self.project
        )

    @cached_property
    def _constraints(self) -> _quadratic.Constraints:
        return _quadratic.Constraints(np.eye(self.low.size), self.low, self.high)

    def support(self, directions: FloatArray) -> FloatArray:
        # A coordinate that is not asked about adds 0, also where its end is infinite.
        below = np.where(directions < 0, self.low, 0.0)
        end = np.where(directions > 0, self.high, below)
        return np.asarray((directions * end).sum(axis=1))

    def limits(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return np.inf, self.low.astype(point.dtype), self.high.astype(point.dtype)

    @classmethod
    def example(cls) -> "Box":
        return cls(np.array([-1.0, -0.5, 0.2]), np.array([1.0, 0.3, 2.0]))
