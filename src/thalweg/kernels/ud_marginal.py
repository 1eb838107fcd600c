"""Marginals of a UD factor: the covariance of all coordinates but one.

Without coordinate k the covariance C = Σ_j D_j u_j u_jᵀ loses row and column k. The u_j
behind k lose an entry and stay columns of a unit triangle. Only u_k has no diagonal
entry any more: D_k u_k u_kᵀ has to be added to what the columns before it make up, a
positive rank-one update (Agee & Turner 1972, as in Bierman 1977, section III.3), which
keeps every D_j positive.
"""

import numpy as np

from thalweg.kernels.jit import kernel
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
    is (n,). Where P_0 = 0 and nothing was learnt about direction k, its variance is
    infinite: what u_k has in other coordinates is then not known of these either,
    unless that is no more than rounding.
    """
    c, limit = factor[k, k], 0.0
    if is_unlearnt(factor, k):
        share = min_new_share(factor.shape[1], np.finfo(factor.dtype).eps)
        c, limit = factor.dtype.type(np.inf), share * column_size(factor, k)
    for i in range(k):
        work[i] = factor[k, i]
        if limit > 0 and not abs(work[i]) * factor[INPUT_SCALE, i] > limit:
            work[i] = 0
    add_outer_product(factor, c, work, k, limit)


@kernel(ieee_division=True)
def add_outer_product(factor, c, v, size, limit):
    """C ← C + c vvᵀ in the leading ``size`` coordinates; v is overwritten.

    With D'_j = D_j + c v_j², from the last coordinate to the first:
        v_i ← v_i - v_j U_ij,  U_ij ← U_ij + (c v_j / D'_j) v_i  for i < j
        c ← c D_j / D'_j,  D_j ← D'_j
    and their limits where c or D_j is infinite. An infinite c comes with the ``limit``
    up to which |v_j| input_scale_j is rounding.
    """
    largest = factor.dtype.type(max_pivot(np.finfo(factor.dtype).max))
    for j in range(size - 1, -1, -1):
        s, d = v[j], factor[j, j]
        is_rounding = c == np.inf and not abs(s) * factor[INPUT_SCALE, j] > limit
        if s == 0 or is_rounding:
            continue
        ratio = factor.dtype.type(0)  # c v_j / D'_j: any is right if both are infinite
        is_open = is_unlearnt(factor, j)
        if c == np.inf and not is_open:
            ratio, c = 1 / s, d / s / s
            factor[j, j] = np.inf
        elif not is_open:
            increased = d + c * s * s
            if not c / increased < np.inf:  # next to nothing, in a direction known well
                continue
            ratio, c = s * (c / increased), c / increased * d
            factor[j, j] = increased if increased < largest else largest
        for i in range(j):
            v[i] -= s * factor[j, i]
            factor[j, i] += ratio * v[i]
