"""The base class of domains: convex sets that a learner's points must stay in."""

import math
from abc import ABC, abstractmethod
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from thalweg.checks import MAX_MAGNITUDE
from thalweg.types import FloatArray

SAFE_SCALE = 1e50
"""Limit of the factor between a matrix's largest entry and 1; beyond it, the matrix is
scaled."""
MAX_DISTANCE = 1e60
"""Limit of a point's distance, in units of a bounded set: farther ones are moved there.
In the norm of any P that is numerically regular, the projection reaches its limit along
the ray long before."""


class Projection(NamedTuple):
    """The nearest point of a domain, and how far from optimal it can be."""

    point: FloatArray
    gap: float
    """Certified: ½‖point - y‖²_P is at most this above the least; never negative.

    Infinite where nothing is certified: y or P was beyond what can be computed with.
    """


class Domain(ABC):
    """A closed convex set S."""

    dimension: int | None = None
    """The number of coordinates, or None where the set exists in every dimension."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """The paper's D: every point of S has norm at most this. Not a diameter."""

    def in_dimension(self, n: int) -> "Domain":
        """The same set as one of n dimensions, where its radius may depend on n."""
        return self

    @abstractmethod
    def contains(self, point: FloatArray) -> bool:
        """Whether the point lies in S, up to the rounding of its own coordinates."""

    @abstractmethod
    def project(self, point: FloatArray) -> FloatArray:
        """The nearest point of S in the Euclidean norm.

        It is finite and in S for every point: one with coordinates beyond
        ``checks.MAX_MAGNITUDE`` is first moved nearer, along its ray; an infinite
        coordinate counts as the largest number and NaN as 0.
        """

    @abstractmethod
    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        """The nearest point of S in the norm ‖v‖² = v·Pv, P = ``information``.

        It is finite and in S for every point, as that of ``project``. A P that is
        singular to rounding is raised by a rounding; one that is not finite counts as
        the identity.
        """

    def _project_member(self, point: FloatArray) -> Projection | None:
        """The projection of a point that is in S, or is so once its numbers are legal.

        None where the point is outside.
        """
        if self.contains(point):
            return Projection(point, 0.0)
        near = limit_coordinates(point)
        is_member = near is not point and self.contains(near)
        return Projection(near, np.inf) if is_member else None

    @abstractmethod
    def support(self, directions: FloatArray) -> FloatArray:
        """max x·θ over S for each row x of ``directions``, shape (T, n) to (T,)."""

    def limits(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray] | None:
        """(r, low, high) where S = {‖θ‖ ≤ r, low ≤ θ ≤ high}, for kernels; or None."""
        return None

    def _settings(self) -> tuple[Any, ...]:
        return tuple(getattr(self, entry.name) for entry in fields(self) if entry.init)  # type: ignore[arg-type]

    def _value(self) -> tuple[Any, ...]:
        return tuple(
            (part.shape, part.tobytes()) if isinstance(part, np.ndarray) else part
            for part in self._settings()
        )

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._value() == other._value()

    def __hash__(self) -> int:
        return hash((type(self), self._value()))

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy is built from its settings, so that its arrays are read-only too.
        return type(self), self._settings()


def norm(vector: FloatArray) -> float:
    """‖v‖, which overflows only where the norm itself does."""
    return math.hypot(*vector.tolist())


def is_legal(point: FloatArray) -> bool:
    """Whether all coordinates are finite and at most the largest legal number."""
    largest = MAX_MAGNITUDE[point.dtype]
    return norm(point) <= largest or bool(np.abs(point).max() <= largest)


def limit_coordinates(point: FloatArray) -> FloatArray:
    """The point, moved nearer along its ray where a coordinate is beyond all legal."""
    if is_legal(point):
        return point
    largest = MAX_MAGNITUDE[point.dtype]
    finite = np.nan_to_num(point, nan=0.0)
    size = np.abs(finite).max()
    return finite if size <= largest else finite / size * point.dtype.type(largest)


class ProjectionProblem(NamedTuple):
    """Which point is to be projected, in which norm; all in float64."""

    point: FloatArray  # (n,) y
    information: FloatArray  # (n, n) P
    is_exact: bool  # whether both are as they were given


def limit_problem(
    point: FloatArray, information: FloatArray, member: FloatArray | float, unit: float
) -> ProjectionProblem:
    """The problem of projecting on a set of size ``unit`` around its ``member``.

    Where numbers are so extreme that products of them would overflow, y is moved nearer
    to the member and P, whose unit has no effect on the nearest point, is scaled.
    """
    y = np.asarray(limit_coordinates(point), np.float64)
    excess = norm(y - member) / unit / MAX_DISTANCE
    if excess > 1:
        y = member + (y - member) / excess
    given = np.asarray(information, np.float64)
    P = _scale_information(given)
    is_exact = P is given and excess <= 1 and is_legal(point)
    return ProjectionProblem(y, P, is_exact)


def _scale_information(P: FloatArray) -> FloatArray:
    """P, divided by a power of two where its entries are extreme."""
    size = float(np.abs(P).max())
    if 1 / SAFE_SCALE <= size <= SAFE_SCALE:
        return P
    if not 0 < size < np.inf:
        return np.eye(len(P))
    return np.asarray(np.ldexp(P, -math.frexp(size)[1]))
