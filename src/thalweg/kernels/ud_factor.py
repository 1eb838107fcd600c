"""A positive definite matrix P, kept as the factors of its inverse: C = U D Uᵀ.

U is unit upper triangular and D diagonal and positive, so that C stays symmetric and
positive definite by construction, whatever rounding does. Three verbs act on it, each
O(n²): ``forget`` is P ← γP, ``learn`` is P ← P + vvᵀ, ``solve`` gives P⁻¹g.

Packed in one array of shape (n + 3, n):
    [j, :j]    column j of U above its diagonal
    [j, j]     D_j; infinite where P_0 = 0 and nothing was learnt about j yet
    [n]        the size of each coordinate of v lately
    [n+1]      how much of P is ridge, coordinate by coordinate; where one is kept
    [n+2, 0]   by how much forgetting has multiplied C since ``floor.hold`` last looked
The last three rows are for kernels/windup.py. Proofs: docs/derivations/factor.md.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.kernels.jit import kernel

SIZE_DECAY = 0.75
"""A coordinate's size follows a fall of its scale within tens of rounds."""
NOISE_MATTERS = 1e8
"""Where df² passes this, it is worth asking whether f is more than rounding."""


def prior(ridge: float, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The packed factor of P_0 = εI, or of P_0 = 0 where ε is 0, for the start θ_1."""
    n = len(like)
    factor = np.zeros((n + 3, n), like.dtype)
    np.fill_diagonal(factor, 1 / ridge if ridge else np.inf)
    factor[n] = math.sqrt(ridge)
    factor[n + 1] = ridge
    factor[n + 2, 0] = 1
    return factor


@kernel(ieee_division=True, inline=True)
def forget(factor, gamma):
    """P ← γP; beside new rows, what is down to ε² is as good as forgotten."""
    n = factor.shape[1]
    gamma = max(gamma, np.finfo(factor.dtype).eps ** 2)
    grown = 1 / gamma
    for j in range(n):
        factor[j, j] *= grown
    factor[n + 2, 0] *= grown


@kernel(ieee_division=True, inline=True)
def learn(factor, v, image):
    """P ← P + vvᵀ. Leaves P⁻¹v, of the new P, in ``image``."""
    per_alpha = update(factor, v, image)
    for i in range(v.size):
        image[i] *= per_alpha


@kernel(ieee_division=True, inline=True)
def update(factor, v, image):
    """P ← P + vvᵀ by Bierman's update; P⁻¹v is ``image`` times what is returned."""
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
            # Were it ever 0, it would stay 0: nothing could be forgotten any more.
            factor[j, j] = max(d * (left * per_alpha), np.finfo(factor.dtype).tiny)
        for i in range(j):
            u = factor[j, i]
            factor[j, i] = u + ratio * image[i]
            image[i] += g * u
        image[j] = g
    return per_alpha


@kernel(ieee_division=True, inline=True)
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


@kernel(ieee_division=True)
def _beyond_measure(factor, v, j, f):
    """(d, f) for a direction of which all but nothing was known; f = 0: v adds nothing.

    Its D_j is so large that 1/D_j counts as 0, or even infinite: P_0 = 0 and j was
    never seen, or its feature has grown out of all proportion.
    """
    none = factor.dtype.type(0)
    if f == 0 or _is_noise(factor, v, j, f):
        return none, none
    d = factor[j, j]
    # Any d with 1 ≪ df² < ∞ says the same.
    most = factor.dtype.type(np.finfo(factor.dtype).max ** 0.75)
    if d == np.inf:
        root = np.finfo(factor.dtype).max ** 0.5
        d = min(factor.dtype.type(root / v[j] / v[j]), most)
    return (d if d * f * f <= most else most / f / f), f


@kernel
def _is_noise(factor, v, j, f):
    """Whether f = Σ U_ij v_i is all rounding: v says nothing new about direction j."""
    size = abs(v[j])
    for i in range(j):
        size += abs(factor[j, i] * v[i])
    return abs(f) <= 4 * v.size * np.finfo(factor.dtype).eps * size


@kernel
def solve(factor, g, out):
    """P⁻¹g into ``out``."""
    out.fill(0)
    for j in range(g.size):
        f = g[j]
        for i in range(j):
            f += factor[j, i] * g[i]
        if f != 0 and not _is_noise(factor, g, j, f):
            f *= factor[j, j]
            for i in range(j):
                out[i] += factor[j, i] * f
            out[j] += f


@kernel
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
