"""Marginals of a UD factor: the covariance of all coordinates but one.

Without coordinate k the covariance C = Σ_j D_j u_j u_jᵀ loses row and column k. The u_j
behind k lose an entry and stay columns of a unit triangle. Only u_k has no diagonal
entry any more: D_k u_k u_kᵀ has to be added to what the columns before it make up, a
positive rank-one update (Agee & Turner 1972, as in Bierman 1977, section III.3), which
keeps every D_j positive.
"""

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.ud_factor import (
    INPUT_SCALE,
    column_size,
    is_unlearnt,
    max_pivot,
    min_new_share,
)


@kernel(ieee_division=True)
def marginalise(factor, k, work):
    """Make rows and columns of ``factor`` other than k the factor of C without k.

    Row and column k themselves are left as they are, for the caller to leave out; work
    is (n,). Where P_0 = 0 and nothing was learnt about direction k, its variance is all
    but infinite: what u_k has in other coordinates is then not known of these either,
    unless that is no more than rounding.
    """
    limit = 0.0
    if is_unlearnt(factor, k):
        share = min_new_share(factor.shape[1], np.finfo(factor.dtype).eps)
        limit = share * column_size(factor, k)
    for i in range(k):
        work[i] = factor[k, i]
    add_outer_product(factor, factor[k, k], work, k, limit)


@kernel(ieee_division=True)
def add_outer_product(factor, c, v, size, limit):
    """C ← C + c vvᵀ in the leading ``size`` coordinates; v is overwritten.

    With D'_j = D_j + c v_j², from the last coordinate to the first:
        v_i ← v_i - v_j U_ij,  U_ij ← U_ij + (c v_j / D'_j) v_i  for i < j
        c ← c D_j / D'_j,  D_j ← D'_j
    |v_j| input_scale_j up to ``limit`` is rounding, as long as c is that of a direction
    about which nothing was learnt.
    """
    largest = factor.dtype.type(max_pivot(np.finfo(factor.dtype).max))
    for j in range(size - 1, -1, -1):
        s, d = v[j], factor[j, j]
        if s == 0 or not d < np.inf:  # no row has excited j where D_j is infinite
            continue
        if limit > 0 and not abs(s) * factor[INPUT_SCALE, j] > limit:
            continue
        if not is_unlearnt(factor, j):
            limit = 0.0  # from here on c is that of this direction
        increased = d + c * s * s
        ratio, rest = s * (c / increased), c / increased * d
        if not increased < np.inf:
            increased, ratio, rest = largest, 1 / s, d / s / s
        if not abs(ratio) < np.inf:  # tiny, in a direction known exactly
            continue
        c, factor[j, j] = rest, min(increased, largest)
        for i in range(j):
            v[i] -= s * factor[j, i]
            factor[j, i] += ratio * v[i]
