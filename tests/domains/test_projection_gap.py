"""1,000 random problems a domain; the gap is worked out here, not in the library.

For z in S and any ν, ½‖z - y‖²_P lies ½‖P(z - y) + ν‖²_{P⁻¹} + σ(ν) - ν·z above the
dual value at ν, where σ(ν) = max ν·θ over S. Nothing in S can cost less than that.
"""

import numpy as np
import pytest
from scipy.optimize import nnls

from tests.domains import random_problems
from thalweg.domains import Ball, Box, Ellipsoid, Polytope, Simplex

PROBLEMS = 1000
ALLOWED = 1e-9  # relative to ‖P‖‖y‖²


def ball(rng, n):
    domain = Ball(10.0 ** rng.uniform(-3, 0))
    return domain, lambda z, nu: (nu, domain.radius * np.linalg.norm(nu) - nu @ z)


def ellipsoid(rng, n):
    E = random_problems.information(rng, n, 1e4)
    E *= 4 / np.abs(E).max()
    domain = Ellipsoid(0.1 * rng.standard_normal(n), E)

    def dual(z, nu):
        return nu, np.sqrt(nu @ np.linalg.solve(E, nu)) - nu @ (z - domain.centre)

    return domain, dual


def box(rng, n):
    low, high = random_problems.box(rng, n)

    def dual(z, nu):
        # A free coordinate bears no force: what is left of it is a residual.
        nu = np.where((z > low) & (z < high), 0.0, nu)
        nu = np.where((z == low) & (low < high), np.minimum(nu, 0.0), nu)
        nu = np.where((z == high) & (low < high), np.maximum(nu, 0.0), nu)
        bound = np.where(nu > 0, high, np.where(nu < 0, low, z))
        return nu, nu @ (bound - z)

    return Box(low, high), dual


def simplex(rng, n):
    total = 10.0 ** rng.uniform(-3, 0)
    return Simplex(total), lambda z, nu: (nu, total * nu.max() - nu @ z)


def polytope(rng, n):
    A, b = random_problems.inequalities(rng, n)

    def dual(z, nu):
        # σ(Aᵀλ) ≤ b·λ for every λ ≥ 0; take those of the faces z lies on.
        on = np.abs(b - A @ z) <= 1e-9 * (np.abs(b) + np.abs(A) @ np.abs(z))
        size = np.linalg.norm(nu)
        multiplier = size * nnls(A[on].T, nu / size)[0]
        return A[on].T @ multiplier, multiplier @ (b - A @ z)[on]

    return Polytope(A, b), dual


@pytest.mark.parametrize("kind", [ball, box, ellipsoid, polytope, simplex])
@pytest.mark.slow
def test_no_projection_costs_more_than_rounding_above_the_least(kind):
    rng = np.random.default_rng(7)
    for _ in range(PROBLEMS):
        n = int(rng.integers(1, 31))
        domain, dual = kind(rng, n)
        P, y = random_problems.information(rng, n), random_problems.point(rng, n)
        z, reported = domain.project_in(y, P)
        assert domain.contains(z)
        allowed = ALLOWED * np.linalg.norm(P, 2) * (y @ y)
        assert 0 <= reported <= allowed
        if np.array_equal(z, y):
            assert reported == 0
            continue
        nu, slack = dual(z, P @ (y - z))
        residual = P @ (z - y) + nu
        gap = 0.5 * residual @ np.linalg.solve(P, residual) + slack
        assert abs(gap) <= allowed  # negative only by rounding, if z is in S
