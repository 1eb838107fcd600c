"""The nearest point of a ball in the norm of P, for steps of learners/newton.py.

``Ball.project_in`` (domains/ball.py) is the definition, and serves what is refused
here: other domains, many features, extreme numbers. On the sphere (P + μI) z = Py for
the one μ > 0 with ‖z‖ = D, found by the definition's Newton steps on 1/‖z(μ)‖; each
needs a Cholesky factorisation, but no eigenvectors.
"""

import math

import numpy as np

from thalweg.kernels.cholesky import factorise_row
from thalweg.kernels.compiler.jit import inner_function, kernel

MAX_FEATURES = 64
"""With more of them, eigenvectors by LAPACK are faster."""
SAFE_SQUARE = 1e100
"""Upper limit of the square of a radius, of its inverse, and of ‖θ‖² in its unit."""
MAX_STEPS = 60
"""Newton steps until the point is returned as it is; ten are many."""


@inner_function
def max_condition(eps):
    """ε^(-2/5): 2·10⁶ in float64. Up to it the two ways agree to ten digits or so."""
    return eps**-0.4


@kernel(ieee_division=True)
def projection_workspace(theta):
    """The array (2n+4, n) that ``project_on_ball`` works in."""
    n = min(theta.size, MAX_FEATURES)
    return np.empty((2 * n + 4, n))


@kernel(ieee_division=True)
def project_on_ball(theta, factor, radius, low, high, work):
    """Project θ, which a step led out of {‖θ‖ ≤ radius, low ≤ θ ≤ high}, in place.

    Returns False, and leaves θ alone, where that is left to the definition. Shapes:
    theta, low, high (n,), factor (n+3, n) of P, work as ``projection_workspace`` gives
    it. In one dimension the norm has no effect, and both kinds of limits are served.
    """
    n = theta.size
    if n == 1:
        if not abs(theta[0]) < np.inf:
            return False
        nearest = max(-radius, min(radius, max(low[0], min(high[0], theta[0]))))
        theta[0] = theta.dtype.type(nearest)
        return True
    square = 0.0
    for i in range(n):
        square += float(theta[i]) * float(theta[i])
    is_safe = 1 / SAFE_SQUARE < radius * radius < SAFE_SQUARE
    if n > MAX_FEATURES or not is_safe or not square < SAFE_SQUARE * radius * radius:
        return False
    # As far as Ball.contains allows rounding to lead.
    rounding = n * np.finfo(theta.dtype).eps
    if math.sqrt(square) <= radius * (1 + rounding):
        return True
    P, L, z = work[:n], work[n : 2 * n], work[2 * n]
    limit = max_condition(np.finfo(theta.dtype).eps)
    if not _set_information(factor, P, L) <= limit:
        return False
    _move_to_sphere(P, L, theta, radius, z, work[2 * n + 1], work[2 * n + 2])
    square = 0.0
    for i in range(n):
        square += z[i] * z[i]
    if not 0 < square < np.inf:
        return False
    scale = min(radius / math.sqrt(square), 1.0)
    for i in range(n):
        theta[i] = scale * z[i]
    return True


@kernel(ieee_division=True, counts_references=False)
def _set_information(factor, P, X):
    """Set P to U⁻ᵀD⁻¹U⁻¹ in a unit in which its greatest diagonal entry is 1.

    Returns tr(P) tr(P⁻¹), which is no less than the condition of P. X is to work in.
    """
    n = len(P)
    trace, inverse_trace, largest = 0.0, 0.0, 0.0
    # X = U⁻¹, column by column; row j of the factor is column j of U.
    for j in range(n):
        X[j, j] = 1.0
        column = 1.0
        for i in range(j - 1, -1, -1):
            entry = 0.0
            for k in range(i + 1, j + 1):
                entry -= factor[k, i] * X[k, j]
            X[i, j] = entry
            column += float(factor[j, i]) * float(factor[j, i])
        inverse_trace += column * factor[j, j]
    for i in range(n):
        for j in range(i + 1):
            entry = 0.0
            for k in range(j + 1):
                entry += X[k, i] * X[k, j] / factor[k, k]
            P[i, j] = entry
            P[j, i] = entry
        trace += P[i, i]
        largest = max(largest, P[i, i])
    for i in range(n):
        for j in range(n):
            P[i, j] /= largest
    return trace * inverse_trace


@kernel(ieee_division=True, counts_references=False)
def _move_to_sphere(P, L, y, radius, z, product, half):
    """Set z to z(μ) = (P + μI)⁻¹Py with ‖z‖ = radius; product and half to work in."""
    n, mu = len(P), 0.0
    for i in range(n):
        product[i] = 0.0
        for j in range(n):
            product[i] += P[i, j] * y[j]
    for _ in range(MAX_STEPS):
        for i in range(n):
            for j in range(i + 1):
                L[i, j] = P[i, j]
            L[i, i] += mu
            factorise_row(L, i, n, -np.inf)
        _solve_lower(L, product, half)
        for i in range(n - 1, -1, -1):
            entry = half[i]
            for k in range(i + 1, n):
                entry -= L[k, i] * z[k]
            z[i] = entry / L[i, i]
        _solve_lower(L, z, half)
        square, slope = 0.0, 0.0  # slope: z·(P + μI)⁻¹z
        for i in range(n):
            square += z[i] * z[i]
            slope += half[i] * half[i]
        excess = math.sqrt(square) / radius - 1
        if not excess > n * np.finfo(np.float64).eps:
            return
        mu += excess * square / slope


@kernel(ieee_division=True, counts_references=False)
def _solve_lower(L, b, out):
    """Solve L out = b."""
    for i in range(len(L)):
        entry = b[i]
        for k in range(i):
            entry -= L[i, k] * out[k]
        out[i] = entry / L[i, i]
