"""Bounds on each coordinate."""

from dataclasses import dataclass

import numpy as np

from thalweg import checks
from thalweg.checks import MAX_MAGNITUDE
from thalweg.domains import quadratic_program
from thalweg.domains.base import (
    Domain,
    Projection,
    is_legal,
    limit_coordinates,
    norm,
)
from thalweg.errors import InvalidParameterError
from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Box(Domain):
    """S = {θ : low ≤ θ ≤ high}, coordinate by coordinate; also: box constraints.

    ``low`` and ``high`` have shape (n,) and may be infinite. Where they are equal the
    coordinate is fixed. A scalar is a bound on every coordinate: ``Box(-1, 1)`` is a
    cube in any dimension. Its corners are farther away the more coordinates there are,
    so that its ``radius`` is infinite and only that of ``in_dimension(n)`` is not;
    where a learner asks for a finite radius, give arrays.
    """

    low: FloatArray | float
    high: FloatArray | float

    def __post_init__(self) -> None:
        low, high = (
            checks.check_array(self, name, 1, scalar=True) for name in ("low", "high")
        )
        if low.ndim and high.ndim and low.shape != high.shape:
            raise InvalidParameterError(
                "The 'high' parameter of Box must have as many coordinates as 'low', "
                f"{low.size}. Got {high.size} instead."
            )
        low, high = np.broadcast_arrays(low, high)
        valid = (low <= high) & (low < np.inf) & (high > -np.inf)
        if not valid.all():
            k = int(valid.argmin())
            raise InvalidParameterError(
                "The 'low' and 'high' parameters of Box must have low ≤ high and leave "
                f"a finite number between. Got low {low.flat[k]} and high "
                f"{high.flat[k]} at coordinate {k} instead."
            )
        for name, bound in (("low", low), ("high", high)):
            object.__setattr__(self, name, _read_only(bound))
        object.__setattr__(self, "dimension", low.size if low.ndim else None)

    @property
    def radius(self) -> float:
        farthest = np.maximum(np.abs(self.low), np.abs(self.high))
        if farthest.ndim == 0 and farthest > 0:
            return np.inf  # in n dimensions it is farthest·√n
        return float(np.linalg.norm(farthest))

    def in_dimension(self, n: int) -> "Box":
        return Box(np.full(n, self.low), np.full(n, self.high))

    def contains(self, point: FloatArray) -> bool:
        if not is_legal(point):
            return False
        # A bound may have been rounded to the point's dtype: one ε of each coordinate.
        rounding = np.finfo(point.dtype).eps * np.abs(point)
        above, below = point + rounding >= self.low, point - rounding <= self.high
        return bool((above & below).all())

    def project(self, point: FloatArray) -> FloatArray:
        if not is_legal(point):
            largest = MAX_MAGNITUDE[point.dtype]
            point = np.clip(np.nan_to_num(point, nan=0.0), -largest, largest)
        return np.clip(point, self.low, self.high).astype(point.dtype)

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        member = self._project_member(point)
        if member is not None:
            return member
        start = self.project(limit_coordinates(point).astype(np.float64))
        unit = max(1.0, norm(start))
        constraints = self._constraints(point.size)
        return quadratic_program.project(
            point, information, constraints, start, unit, self.project
        )

    def _constraints(self, n: int) -> quadratic_program.Constraints:
        low, high = (np.broadcast_to(bound, n) for bound in (self.low, self.high))
        return quadratic_program.Constraints(np.eye(n), low, high)

    def support(self, directions: FloatArray) -> FloatArray:
        # A coordinate that is not asked about adds 0, also where its end is infinite.
        below = np.where(directions < 0, self.low, 0.0)
        end = np.where(directions > 0, self.high, below)
        return np.asarray((directions * end).sum(axis=1))

    def limits(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        largest = MAX_MAGNITUDE[point.dtype]
        low, high = (
            np.full(point.shape, np.clip(bound, -largest, largest), point.dtype)
            for bound in (self.low, self.high)
        )
        return np.inf, low, high


def _read_only(bound: FloatArray) -> FloatArray | float:
    """A bound as a number, or as an array that cannot be changed."""
    if bound.ndim == 0:
        return float(bound)
    array = bound.copy()
    array.flags.writeable = False
    return array
