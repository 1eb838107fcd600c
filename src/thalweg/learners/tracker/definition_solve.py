"""Linear systems in every lane, in the Tracker's definition: L D Lᵀ factors.

The kernel's twin is kernels/tracker/solve.py.
"""

import numpy as np

from thalweg.kernels.tracker.solve import MAX_FLOAT, MIN_RELATIVE_PIVOT
from thalweg.types import FloatArray


def factorise(moments: FloatArray, ridge: FloatArray) -> tuple[FloatArray, FloatArray]:
    """L and D of S + ridge = L D Lᵀ, in every lane: L (n, n, lanes), D (n, lanes).

    A pivot below 1e-14 of its diagonal entry is rounding only, and is set to that.
    """
    n = len(ridge)
    lower, pivots = np.zeros_like(moments), np.empty_like(ridge)
    for j in range(n):
        diagonal = moments[j, j] + ridge[j]
        scaled = lower[j, :j] * pivots[:j]  # L² alone may be beyond float64
        known = (lower[j, :j] * scaled).sum(axis=0)
        pivots[j] = np.maximum(diagonal - known, MIN_RELATIVE_PIVOT * diagonal)
        below = slice(j + 1, n)
        known = (lower[below, :j] * scaled).sum(axis=1)
        lower[below, j] = (moments[below, j] - known) / pivots[j]
    return lower, pivots


def forward(lower: FloatArray, pivots: FloatArray, right: FloatArray) -> FloatArray:
    """D⁻¹L⁻¹ right, in every lane; in the kernels a part of ``factorise``."""
    out = right.copy()
    for j in range(len(out)):
        out[j] -= (lower[j, :j] * out[:j]).sum(axis=0)
    return np.asarray(out / pivots)


def back_substitute(lower: FloatArray, half: FloatArray) -> FloatArray:
    """L⁻ᵀ half, in every lane; 0 beyond float64."""
    out = half.copy()
    for j in reversed(range(len(out))):
        out[j] -= (lower[j + 1 :, j] * out[j + 1 :]).sum(axis=0)
        out[j] = finite_or_zero(out[j])
    return out


def finite_or_zero(values: FloatArray) -> FloatArray:
    """The values; 0 where they are infinite or not a number."""
    return np.where(abs(values) < MAX_FLOAT, values, 0.0)
