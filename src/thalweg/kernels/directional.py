"""Directional forgetting on UD factors: only what is known about one v fades.

The proof is in docs/derivations/directional-forgetting.md.
"""

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.ud_factor import min_forgetting_factor
from thalweg.kernels.ud_marginal import add_outer_product


@kernel(ieee_division=True)
def forget_along(factor, v, gamma, work):
    """P ← P - (1-γ) Pvvᵀ P / vᵀPv: of what is known, only that about v fades.

    In terms of C = P⁻¹ = U D Uᵀ it is C + β vvᵀ with β = (1-γ)/γ · 1/vᵀPv, a rank-one
    update that keeps D positive (Agee & Turner). work is (n,).
    """
    energy = information_along(factor, v, work)
    # A v that is too small has no direction along which anything could be forgotten.
    if not energy > np.finfo(factor.dtype).tiny ** 0.5:
        return
    gamma = max(gamma, min_forgetting_factor(np.finfo(factor.dtype).eps))
    c = (1 / gamma - 1) / energy
    for i in range(v.size):
        work[i] = v[i]
    add_outer_product(factor, c, work, v.size, 0.0)


@kernel(ieee_division=True)
def information_along(factor, v, work):
    """vᵀPv, as Σ (U⁻¹v)_j² / D_j; work is (n,)."""
    for i in range(v.size):
        work[i] = v[i]
    energy = 0.0
    for j in range(v.size - 1, -1, -1):
        s = work[j]
        energy += s * s / factor[j, j]
        for i in range(j):
            work[i] -= s * factor[j, i]
    return energy
