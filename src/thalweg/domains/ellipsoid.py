"""An ellipsoid around any centre."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from thalweg import checks
from thalweg.domains.ball import Ball
from thalweg.domains.base import (
    Domain,
    Projection,
    is_legal,
    limit_problem,
    norm,
)
from thalweg.errors import InvalidParameterError
from thalweg.types import FloatArray

MAX_ASYMMETRY = 1e-12
"""Limit of the asymmetry of ``shape``, by rounding, relative to its largest entry."""


@dataclass(frozen=True, eq=False)
class Ellipsoid(Domain):
    """S = {θ : (θ - c)·E(θ - c) ≤ 1}.

    ``centre`` (c) has shape (n,); ``shape`` (E) is (n, n), symmetric and positive
    definite. An axis of length a along the unit vector v has Ev = v/a².
    """

    centre: FloatArray
    shape: FloatArray

    def __post_init__(self) -> None:
        for name, axes in (("centre", 1), ("shape", 2)):
            object.__setattr__(self, name, checks.check_array(self, name, axes))
        c, E = self.centre, self.shape
        if not np.isfinite(c).all():
            raise InvalidParameterError(
                f"The 'centre' parameter of Ellipsoid must be finite. Got {c} instead."
            )
        if E.shape != (c.size, c.size):
            raise InvalidParameterError(
                "The 'shape' parameter of Ellipsoid must be a square matrix with the "
                f"centre's {c.size} coordinates. Got shape {E.shape} instead."
            )
        if (
            not np.isfinite(E).all()
            or self._asymmetry > MAX_ASYMMETRY * np.abs(E).max()
        ):
            raise InvalidParameterError(
                "The 'shape' parameter of Ellipsoid must be finite and symmetric. "
                f"Got {E} instead."
            )
        least = np.linalg.eigvalsh(E)[0]
        if not least > np.finfo(np.float64).eps * np.abs(E).max():
            raise InvalidParameterError(
                "The 'shape' parameter of Ellipsoid must be positive definite. "
                f"Got {least} as its least eigenvalue instead."
            )
        object.__setattr__(self, "dimension", c.size)

    @cached_property
    def radius(self) -> float:
        """‖c‖ plus the longest half-axis; the least such number where c = 0."""
        longest = 1 / np.sqrt(np.linalg.eigvalsh(self.shape)[0])
        return float(np.linalg.norm(self.centre) + longest)

    def contains(self, point: FloatArray) -> bool:
        # The rounding of θ and c, stretched by the factor at most.
        if not is_legal(point):
            return False
        away = norm((point - self.centre) @ self._factor)
        stretched = 1 + self._factor_norm * (norm(point) + norm(self.centre))
        rounding = point.size * float(np.finfo(point.dtype).eps)
        return away <= 1 + rounding * stretched

    def project(self, point: FloatArray) -> FloatArray:
        return self.project_in(point, np.eye(point.size)).point

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        member = self._project_member(point)
        if member is not None:
            return member
        y, P, is_exact = limit_problem(point, information, self.centre, self.radius)
        # u = Lᵀ(θ - c) with E = LLᵀ makes S the unit ball and P into L⁻¹PL⁻ᵀ.
        L = self._factor
        Q = np.linalg.solve(L, np.linalg.solve(L, P).T)
        u = Ball(1.0).project_in((y - self.centre) @ L, 0.5 * (Q + Q.T)).point
        nearest = (self.centre + np.linalg.solve(L.T, u)).astype(point.dtype)
        # The same dual value as for the ball, but from P and E as they were given.
        normal = P @ (y - nearest)
        farthest = np.linalg.norm(np.linalg.solve(L, normal))
        gap = farthest - normal @ (nearest - self.centre)
        return Projection(nearest, abs(float(gap)) if is_exact else np.inf)

    def support(self, directions: FloatArray) -> FloatArray:
        stretched = np.linalg.solve(self._factor, directions.T)
        return np.asarray(directions @ self.centre + np.linalg.norm(stretched, axis=0))

    @cached_property
    def _factor(self) -> FloatArray:
        return np.linalg.cholesky(self.shape)

    @cached_property
    def _factor_norm(self) -> float:
        return float(np.linalg.norm(self._factor))

    @property
    def _asymmetry(self) -> float:
        return float(np.abs(self.shape - self.shape.T).max())
