"""UD factorisation: a positive definite P, as the factors of its inverse C = U D Uᵀ.

Also known as: Bierman-Thornton UD factors, the covariance form of a square-root Kalman
filter; ``learn`` is the rank-one identity of Sherman and Morrison for (P + vvᵀ)⁻¹, in
factors. P is the information matrix and C = P⁻¹ the covariance, which RLS and Kalman
texts call P. U is unit upper triangular and D diagonal and positive, so that C stays
symmetric and positive definite by construction, whatever rounding does. Three verbs
act on it, each O(n²):
    forget(factor, γ)         P ← γP, γ the forgetting factor
    learn(factor, v, gain)    P ← P + vvᵀ, and the Kalman gain P⁻¹v
    solve(factor, g, out)     P⁻¹g

A factor is packed in one array of shape (n + 3, n), the rows of ``UDFactor``. Kernels
and Python name its last rows by ``INPUT_SCALE``, ``RETAINED_RIDGE`` and ``GROWTH``:
factor[INPUT_SCALE, k]. Proofs: docs/derivations/ud-factorisation.md. Bierman (1977),
*Factorization Methods for Discrete Sequential Estimation*, chapter V.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from thalweg.kernels.compiler.jit import inner_function, kernel
from thalweg.kernels.compiler.layout import Layout, Shape


class UDFactor(NamedTuple):
    """The packed array, row by row; the last three rows serve kernels/windup.py."""

    # Row j: column j of U above its diagonal, then D_j, which is infinite where P_0 = 0
    # and nothing was learnt about j yet.
    triangle: Annotated[np.ndarray, Shape("n", "n")]
    # The recent size of each coordinate of v.
    input_scale: Annotated[np.ndarray, Shape("n")]
    # How much of P_kk is ridge, where a ridge is retained; 0 where P_0 = 0.
    retained_ridge: Annotated[np.ndarray, Shape("n")]
    # First entry: by how much forgetting has multiplied C since the covariance cap was
    # last checked. The others are not used.
    growth: Annotated[np.ndarray, Shape("n")]


LAYOUT = Layout("UD factor", UDFactor, version=1, dimensions=("n",))
# Every field is a number of whole rows, so that rows can be counted with n = 1, here
# from the end of the array.
_ROWS = LAYOUT.offsets(-LAYOUT.size(n=1), n=1)
INPUT_SCALE: int = _ROWS.input_scale
RETAINED_RIDGE: int = _ROWS.retained_ridge
GROWTH: int = _ROWS.growth
EXTRA_ROWS = -INPUT_SCALE
"""Rows of the packed array below the triangle."""

SCALE_DECAY = 0.75
"""The factor by which an input scale may fall in an excited round, so that it follows a
fall of the inputs within tens of rounds."""
NEGLIGIBLE_RIDGE = 1e-30
"""A retained ridge up to this one counts as P_0 = 0."""
NOISE_CHECK_LIMIT = 1e8
"""Above this D_j f_j² ``bierman_update`` checks whether f_j is more than rounding."""


def prior(ridge: float, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The packed factor of P_0 = εI, or of P_0 = 0 where ε is 0, for the start θ_1."""
    n = len(like)
    factor = np.zeros((n + EXTRA_ROWS, n), like.dtype)
    np.fill_diagonal(factor, 1 / ridge if ridge else np.inf)
    factor[INPUT_SCALE] = math.sqrt(ridge)
    factor[RETAINED_RIDGE] = ridge
    factor[GROWTH, 0] = 1
    return factor


@inner_function
def min_forgetting_factor(eps):
    """Lower limit of γ, ε²: information that shrinks so far is lost beside new rows."""
    return eps**2


@inner_function
def max_pivot(largest):
    """The D_j that stands for infinity; ``largest`` is the dtype's largest number."""
    return largest**0.75


@inner_function
def max_learnt_variance(largest):
    """The D_j input_scale_j² above which nothing was learnt about direction j.

    So it is only where P_0 = 0: ``cap_covariance`` stops far below it.
    """
    return largest**0.25


@inner_function
def noise_check_limit(eps):
    """From which D_j f_j² on ``bierman_update`` checks whether f_j is rounding.

    In float32 less than NOISE_CHECK_LIMIT: its infinity is no more than 10¹⁹.
    """
    return NOISE_CHECK_LIMIT if eps < 1e-10 else 1.0


@inner_function
def max_remainder(eps):
    """ε^(5/4): a share of a column of U that is less than its rounding."""
    return eps**1.25


@inner_function
def min_new_share(n, eps):
    """nε^(3/4): the share of a row that has to be new for it to count as new.

    That is half of the digits which rounding leaves above nε, the least share that a
    row can have: enough for what the rows before it have lost to their own condition.
    """
    return n * eps**0.75


@inner_function
def max_coefficient(largest):
    """The limit of |θ_i|, √largest/1024: 10¹⁵¹ in float64, above every legal number.

    So x·θ is finite for every legal x. An innovation √w(y - x·θ) counts in the loss up
    to the same limit, so that its square is finite.
    """
    return largest**0.5 / 1024


@inner_function
def clip(value, limit):
    """``value`` within ±limit; what is no number becomes ``limit``."""
    value = value if value < limit else limit
    return value if value > -limit else -limit


@kernel(ieee_division=True, inline=True)
def forget(factor, gamma):
    """P ← γP, for the forgetting factor γ."""
    growth = count_growth(factor, gamma)
    for j in range(factor.shape[1]):
        factor[j, j] *= growth


@kernel(ieee_division=True, inline=True)
def count_growth(factor, gamma):
    """1/γ, by which forgetting multiplies C; it is counted for ``cap_covariance``."""
    gamma = max(gamma, min_forgetting_factor(np.finfo(factor.dtype).eps))
    growth = 1 / gamma
    factor[GROWTH, 0] *= growth
    return growth


@kernel(ieee_division=True, inline=True)
def learn(factor, v, gain):
    """P ← P + vvᵀ; sets ``gain`` to the Kalman gain P⁻¹v, of the new P."""
    inverse_alpha = bierman_update(factor, v, gain, factor.dtype.type(1))
    for i in range(v.size):
        gain[i] *= inverse_alpha


@kernel(ieee_division=True, inline=True)
def bierman_update(factor, v, gain, growth):
    """P ← P/growth + vvᵀ by Bierman's update. Sets ``gain`` to α times P⁻¹v.

    P⁻¹v is the Kalman gain. With f = Uᵀv, D_j already multiplied by ``growth`` and
    α_j = 1 + Σ_{i≤j} D_i f_i², for j = 1..n:
        D_j ← D_j α_{j-1} / α_j
        U_ij ← U_ij - (f_j / α_{j-1}) g_i,  g_i ← g_i + D_j f_j U_ij  for i < j
        g_j = D_j f_j
    with D_j and U_ij from before the update on the right. Returns 1/α_n: the Kalman
    gain is ``gain`` times this, and callers scale the innovation instead. ``growth`` is
    that of ``count_growth``, or 1 where P was forgotten before: one pass over the
    pivots takes less time than two.
    """
    n = v.size
    transposed_product(factor, v, gain)
    for j in range(n):
        # Conditional expressions are one instruction each, ``max`` is several.
        before, size = factor[INPUT_SCALE, j], abs(v[j])
        decayed = before * SCALE_DECAY
        largest = size if size > decayed else decayed
        factor[INPUT_SCALE, j] = largest if size > 0 else before
    alpha = factor.dtype.type(1)  # 1 + vᵀCv, over the coordinates done so far
    inverse_alpha = alpha
    limit = factor.dtype.type(noise_check_limit(np.finfo(factor.dtype).eps))
    for j in range(n):
        d, f = factor[j, j] * growth, gain[j]
        factor[j, j] = d
        if not d * f * f <= limit:  # also where it is infinite, or 0 · ∞
            d, f = _bounded_pivot(factor, v, j, f)
        g = d * f
        ratio = -f * inverse_alpha
        previous = alpha
        alpha += g * f
        inverse_alpha = 1 / alpha
        if f != 0:
            # A pivot of 0 would stay 0: nothing could be forgotten any more.
            shrunk = d * (previous * inverse_alpha)
            tiny = np.finfo(factor.dtype).tiny
            factor[j, j] = shrunk if shrunk > tiny else tiny
        for i in range(j):
            u = factor[j, i]
            factor[j, i] = u + ratio * gain[i]
            gain[i] += g * u
        gain[j] = g
    if alpha > max_learnt_variance(np.finfo(factor.dtype).max):
        _drop_remainders(factor)
    return inverse_alpha


@kernel(ieee_division=True, inline=True)
def transposed_product(factor, v, out):
    """Uᵀv into ``out``: out_j = v_j + Σ_{i<j} U_ij v_i, each sum in the order of i.

    Four sums are computed at a time, since each addition to a single sum waits for the
    one before it.
    """
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
def _bounded_pivot(factor, v, j, f):
    """(d, f) of a direction with almost no information; 0 if v adds nothing.

    Its D_j is so large that 1/D_j counts as 0, or even infinite: P_0 = 0 and no row had
    a component in j, or its feature has grown by orders of magnitude.
    """
    d, zero = factor[j, j], factor.dtype.type(0)
    if not abs(f) < np.inf:
        drop_overflow(factor, j)
        f = v[j]
        for i in range(j):
            f += factor[j, i] * v[i]
    if f == 0 or not abs(f) < np.inf:
        return zero, zero
    if d * f * f > NOISE_CHECK_LIMIT and _is_noise(factor, v, j, f):
        return zero, zero
    if is_unlearnt(factor, j) and _is_in_learnt_span(factor, v, j, f):
        return zero, zero
    # Any d with 1 ≪ df² < ∞ gives the same update.
    largest = factor.dtype.type(max_pivot(np.finfo(factor.dtype).max))
    if d == np.inf:
        root = np.finfo(factor.dtype).max ** 0.5
        d = min(factor.dtype.type(root / v[j] / v[j]), largest)
    return (d if d * f * f <= largest else largest / f / f), f


@kernel
def _drop_remainders(factor):
    """Set to 0 what a finite κ leaves of zeros in columns about which nothing is known.

    It is of order 1/κ. For a row that excites only such entries D_j f_j² would be too
    small to be checked, and the gain D_j f_j large. This is called where a direction
    was learnt for the first time, n times at most.
    """
    limit = max_remainder(np.finfo(factor.dtype).eps)
    for j in range(factor.shape[1]):
        if is_unlearnt(factor, j):
            size = column_size(factor, j)
            for i in range(j):
                if abs(factor[j, i]) * factor[INPUT_SCALE, i] <= limit * size:
                    factor[j, i] = 0


@kernel
def column_size(factor, j):
    """max_i |U_ij| input_scale_i: the size of column j, in units of the features."""
    size = factor[INPUT_SCALE, j]
    for i in range(j):
        size = max(size, abs(factor[j, i]) * factor[INPUT_SCALE, i])
    return size


@kernel
def drop_overflow(factor, j):
    """Set entries of column j of U that have overflowed to 0.

    Each of them makes f_j overflow in the next round, whatever v is, so that
    ``bierman_update`` drops them then; code that returns a factor does it before.
    """
    for i in range(j):
        if not abs(factor[j, i]) < np.inf:
            factor[j, i] = 0


@kernel
def drop_all_overflow(factor):
    """``drop_overflow`` in every column."""
    for j in range(factor.shape[1]):
        drop_overflow(factor, j)


@kernel
def _is_noise(factor, v, j, f):
    """Whether f = Σ U_ij v_i is only rounding: v holds nothing new on direction j."""
    size = abs(v[j])
    for i in range(j):
        size += abs(factor[j, i] * v[i])
    return abs(f) <= 4 * v.size * np.finfo(factor.dtype).eps * size


@kernel
def is_unlearnt(factor, j):
    """Whether P_0 = 0 and no row so far has had a component in direction j."""
    scale = factor[INPUT_SCALE, j]
    limit = max_learnt_variance(np.finfo(factor.dtype).max)
    is_large = not factor[j, j] * scale * scale <= limit  # also where it is 0 · ∞
    return is_large and factor[RETAINED_RIDGE, j] <= NEGLIGIBLE_RIDGE


@kernel
def _is_in_learnt_span(factor, v, j, f):
    """Whether v lies in the span of earlier rows, so that f = u_j·v is only rounding.

    Rounding leaves something in entries of u_j that should be 0, and where v excites
    only those, Σ|U_ij v_i| is rounding as well. So f is compared with the size of all
    of u_j times the size of v, each feature in units of its recent size.
    """
    share = abs(v[j]) / factor[INPUT_SCALE, j]
    for i in range(j):
        if factor[INPUT_SCALE, i] > 0:
            share = max(share, abs(v[i]) / factor[INPUT_SCALE, i])
    limit = min_new_share(v.size, np.finfo(factor.dtype).eps)
    return abs(f) <= limit * (column_size(factor, j) * share)


@kernel
def solve(factor, g, out):
    """Solve P out = g."""
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
def covariance_diagonal(factor, out):
    """The diagonal of C = P⁻¹ into ``out``: C_ii = Σ_{j≥i} U_ij² D_j."""
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
