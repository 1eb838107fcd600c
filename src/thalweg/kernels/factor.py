"""A positive definite matrix P, kept as the factors of its inverse: C = U D Uᵀ.

U is unit upper triangular and D diagonal and positive, so that C stays symmetric and
positive definite by construction, whatever rounding does. Three verbs act on it, each
O(n²): ``forget`` is P ← γP, ``learn`` is P ← P + vvᵀ, ``solve`` gives P⁻¹g.

Packed in one array of shape (n + 3, n):
    [j, :j]    column j of U above its diagonal
    [j, j]     D_j; infinite where P_0 = 0 and nothing was learnt about j yet
    [n]        the size of each coordinate of v lately
    [n+1]      how much of P is ridge, coordinate by coordinate
    [n+2, 0]   by how much forgetting has multiplied C since ``floor.hold`` last looked
The last three rows are for kernels/floor.py. docs/derivations/factor.md has the proofs.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

SIZE_DECAY = 0.75
"""A coordinate's size follows a fall of its scale within tens of rounds."""
NOISE_MATTERS = 1e16
"""``floor.hold`` keeps dv² below this; above it is only what is left of P_0 = 0."""


def prior(ridge: float, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The packed factor of P_0 = εI, or of P_0 = 0 where ε is 0, for the start θ_1."""
    n = len(like)
    factor = np.zeros((n + 3, n), like.dtype)
    np.fill_diagonal(factor, 1 / ridge if ridge else np.inf)
    factor[n] = math.sqrt(ridge)
    factor[n + 1] = ridge
    factor[n + 2, 0] = 1
    return factor


@njit(cache=True, error_model="numpy", inline="always")
def forget(factor, gamma):
    """P ← γP."""
    n = factor.shape[1]
    grown = 1 / gamma
    for j in range(n):
        factor[j, j] *= grown
        factor[n + 1, j] *= gamma
    factor[n + 2, 0] *= grown


@njit(cache=True, error_model="numpy", inline="always")
def learn(factor, v, image):
    """P ← P + vvᵀ by Bierman's update. Leaves P⁻¹v, of the new P, in ``image``."""
    n = v.size
    _transposed_times(factor, v, image)
    for j in range(n):
        if v[j] != 0:
            factor[n, j] = max(abs(v[j]), factor[n, j] * SIZE_DECAY)
    alpha = factor.dtype.type(1)  # 1 + vᵀCv, over the coordinates done so far
    per_alpha = alpha
    for j in range(n):
        d, f = factor[j, j], image[j]
        if not d * f * f <= NOISE_MATTERS:  # nor where it is infinite, or 0 · ∞
            d, f = _beyond_measure(factor, v, j, f)
        g = d * f
        ratio = -f * per_alpha
        left = alpha
        alpha += g * f
        per_alpha = 1 / alpha
        if f != 0:
            factor[j, j] = d * (left * per_alpha)
        for i in range(j):
            u = factor[j, i]
            factor[j, i] = u + ratio * image[i]
            image[i] += g * u
        image[j] = g
    for i in range(n):
        image[i] *= per_alpha


@njit(cache=True, error_model="numpy", inline="always")
def _transposed_times(factor, v, out):
    """Uᵀv into ``out``, four rows at a time: a single sum would wait for itself."""
    n = v.size
    for j in range(0, n - 3, 4):
        a, b, c, d = v[j], v[j + 1], v[j + 2], v[j + 3]
        for i in range(j):
            w = v[i]
            a += factor[j, i] * w
            b += factor[j + 1, i] * w
            c += factor[j + 2, i] * w
            d += factor[j + 3, i] * w
        b += factor[j + 1, j] * v[j]
        c += factor[j + 2, j] * v[j]
        c += factor[j + 2, j + 1] * v[j + 1]
        d += factor[j + 3, j] * v[j]
        d += factor[j + 3, j + 1] * v[j + 1]
        d += factor[j + 3, j + 2] * v[j + 2]
        out[j], out[j + 1], out[j + 2], out[j + 3] = a, b, c, d
    for j in range(n - n % 4, n):
        f = v[j]
        for i in range(j):
            f += factor[j, i] * v[i]
        out[j] = f


@njit(cache=True, error_model="numpy")
def _beyond_measure(factor, v, j, f):
    """(d, f) where P_0 = 0 still shows in direction j; f is 0 if v teaches nothing."""
    d = factor[j, j]
    none = factor.dtype.type(0)
    if d == np.inf:
        d = _first_sight(factor, v[j])
        if d == 0:
            return none, none
    return (d, none) if _is_noise(factor, v, j, f) else (d, f)


@njit(cache=True)
def _first_sight(factor, v):
    """D_j once coordinate j of P_0 = 0 is seen: so large that 1/D_j counts as 0."""
    infinite = np.finfo(factor.dtype).max ** 0.25
    # Of a v whose square vanishes beside that, nothing can be learnt: 0 says so.
    square = v * v
    return factor.dtype.type(infinite / square if square * infinite > 1 else 0)


@njit(cache=True)
def _is_noise(factor, v, j, f):
    """Whether f = Σ U_ij v_i is all rounding: v says nothing new about direction j."""
    size = abs(v[j])
    for i in range(j):
        size += abs(factor[j, i] * v[i])
    return abs(f) <= 4 * v.size * np.finfo(factor.dtype).eps * size


@njit(cache=True)
def solve(factor, g, out):
    """P⁻¹g into ``out``."""
    out[:] = 0
    for j in range(g.size):
        f = g[j]
        for i in range(j):
            f += factor[j, i] * g[i]
        if f != 0:
            f *= factor[j, j]
            for i in range(j):
                out[i] += factor[j, i] * f
            out[j] += f


@njit(cache=True)
def diagonal(factor, out):
    """The diagonal of C = P⁻¹ into ``out``."""
    for j in range(out.size):
        d = factor[j, j]
        out[j] = d
        if d < np.inf:
            for i in range(j):
                out[i] += factor[j, i] * factor[j, i] * d


def covariance(factor: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """C = P⁻¹ as a dense matrix; infinite where nothing was learnt yet."""
    n = factor.shape[1]
    u = np.triu(factor[:n].T, 1) + np.eye(n)
    d = np.diagonal(factor)
    known = d < np.inf
    dense = (u[:, known] * d[known]) @ u[:, known].T
    dense[~known, ~known] = np.inf
    return np.asarray(dense)


def information(factor: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """P as a dense matrix."""
    n = factor.shape[1]
    inverse = np.linalg.inv(np.triu(factor[:n].T, 1) + np.eye(n))
    return np.asarray((inverse.T / np.diagonal(factor)) @ inverse)
