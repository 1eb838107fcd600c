"""The Euclidean ball around the origin."""

from dataclasses import dataclass

import numpy as np

from thalweg import checks
from thalweg.domains.base import Domain, Projection
from thalweg.types import FloatArray


@dataclass(frozen=True, eq=False)
class Ball(Domain):
    """S = {θ : ‖θ‖ ≤ radius}, in any dimension. ``radius`` (D) is in (0, inf)."""

    radius: float = 1.0

    def __post_init__(self) -> None:
        checks.require_interval(self, "radius", "(0, inf)")

    def contains(self, point: FloatArray) -> bool:
        # n coordinates, each off by half an ε, change the norm by less than nε.
        rounding = point.size * np.finfo(point.dtype).eps
        return bool(np.linalg.norm(point) <= self.radius * (1 + rounding))

    def project(self, point: FloatArray) -> FloatArray:
        if self.contains(point):
            return point
        return point * point.dtype.type(self.radius / np.linalg.norm(point))

    def project_in(self, point: FloatArray, information: FloatArray) -> Projection:
        if self.contains(point):
            return Projection(point, 0.0)
        y, P = np.asarray(point, np.float64), np.asarray(information, np.float64)
        # On the sphere (P + μI) z = Py for the one μ > 0 with ‖z‖ = D.
        eigenvalue, basis = np.linalg.eigh(P)
        # Below this eigh tells no eigenvalue from zero, nor from a negative one.
        eigenvalue = np.maximum(eigenvalue, np.finfo(np.float64).eps * eigenvalue[-1])
        z = self.project(basis @ self._on_sphere(eigenvalue, basis.T @ y))
        nearest = z.astype(point.dtype)
        # With ν = P(y - z), the dual value at ν lies max{ν·θ : θ ∈ S} - ν·z below the
        # cost of z. It is negative only if z is outside by a rounding: its size counts.
        normal = P @ (y - nearest)
        gap = self.radius * np.linalg.norm(normal) - normal @ nearest
        return Projection(nearest, abs(float(gap)))

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
        low, high = np.full_like(point, -np.inf), np.full_like(point, np.inf)
        return self.radius, low, high
