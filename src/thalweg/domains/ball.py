"""The Euclidean ball around the origin."""

from dataclasses import dataclass

import numpy as np

from thalweg import checks
from thalweg.checks import MAX_MAGNITUDE
from thalweg.domains.base import (
    SAFE_SCALE,
    Domain,
    Projection,
    is_legal,
    limit_coordinates,
    limit_problem,
    norm,
)
from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Ball(Domain):
    """S = {θ : ‖θ‖ ≤ radius}, in any dimension. ``radius`` (D) is in (0, inf)."""

    radius: float = 1.0

    def __post_init__(self) -> None:
        checks.require_interval(self, "radius", "(0, inf)")

    def contains(self, point: FloatArray) -> bool:
        # n coordinates, each off by half an ε, change the norm by less than nε.
        rounding = point.size * float(np.finfo(point.dtype).eps)
        return norm(point) <= self.radius * (1 + rounding) and is_legal(point)

    def project(self, point: FloatArray) -> FloatArray:
        if self.contains(point):
            return point
        near = limit_coordinates(point)
        if near is not point and self.contains(near):
            return near
        return near * near.dtype.type(self.radius / np.linalg.norm(near))

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        member = self._project_member(point)
        if member is not None:
            return member
        if not 1 / SAFE_SCALE <= self.radius <= SAFE_SCALE:
            return self._project_in_own_unit(point, information)
        y, P, is_exact = limit_problem(point, information, 0.0, self.radius)
        # On the sphere (P + μI) z = Py for the one μ > 0 with ‖z‖ = D.
        eigenvalue, basis = np.linalg.eigh(P)
        # Below this, the signs of eigenvalues computed by eigh are rounding.
        eigenvalue = np.maximum(eigenvalue, np.finfo(np.float64).eps * eigenvalue[-1])
        z = self.project(basis @ self._on_sphere(eigenvalue, basis.T @ y))
        nearest = z.astype(point.dtype)
        # With ν = P(y - z), the dual value at ν lies max{ν·θ : θ ∈ S} - ν·z below the
        # cost of z. It is negative only if z is outside by a rounding: its size counts.
        normal = P @ (y - nearest)
        gap = self.radius * np.linalg.norm(normal) - normal @ nearest
        return Projection(nearest, abs(float(gap)) if is_exact else np.inf)

    def _project_in_own_unit(
        self, point: FloatArray, information: FloatArray
    ) -> Projection:
        """``project_in``, with an extreme radius as the unit of length."""
        y = np.asarray(limit_coordinates(point), np.float64)
        with np.errstate(over="ignore"):
            nearest = Ball(1.0).project_in(y / self.radius, information).point
        return Projection(
            self.project((nearest * self.radius).astype(point.dtype)), np.inf
        )

    def _on_sphere(self, eigenvalue: FloatArray, y: FloatArray) -> FloatArray:
        """z(μ) = Py / (P + μ) with ‖z(μ)‖ = D, all in P's eigenbasis."""
        # 1/‖z(μ)‖ is concave and grows, so Newton's steps on 1/‖z(μ)‖ - 1/D from μ = 0
        # never pass the root: μ grows until rounding stops it. No bisection is needed.
        mu = 0.0
        while True:
            z = eigenvalue / (eigenvalue + mu) * y
            square = z @ z
            slope = z @ (z / (eigenvalue + mu))
            excess = np.sqrt(square) / self.radius - 1
            further = float(mu + excess * square / slope)
            if not further > mu:
                return np.asarray(z)
            mu = further

    def support(self, directions: FloatArray) -> FloatArray:
        return np.asarray(self.radius * np.linalg.norm(directions, axis=1))

    def limits(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        largest = MAX_MAGNITUDE[point.dtype]
        low, high = np.full_like(point, -largest), np.full_like(point, largest)
        return self.radius, low, high
