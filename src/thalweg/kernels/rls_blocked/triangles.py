"""The packed factor of kernels/ud_factor.py in the two forms that blocks work with."""

import math

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.rls_blocked.accumulate import subtract_squares
from thalweg.kernels.simd import WIDTH, fused, load, spread, store

ROWS = 4
"""So many rows of an inverse are made at once."""
FEW = 64
"""So many rows of a product are summed at once: more would leave the cache."""


@kernel
def lanes(size):
    """``size``, made up to whole lanes."""
    return -(-size // WIDTH) * WIDTH


@kernel
def padded(size):
    """``size``, made up to an odd number of whole lanes.

    Rows whose distance is a power of two would be in each other's way in the cache.
    """
    return (-(-size // WIDTH) | 1) * WIDTH


@kernel
def inverse(packed, rows):
    """U⁻¹ into ``rows``, which hold ones on the diagonal and zeros elsewhere.

    U is the unit upper triangle of a packed factor. Row i of the inverse is e_i minus
    Σ_k U_ik times row k, k > i; four of them read the rows below together.
    """
    n = packed.shape[1]
    last, column = n - n % ROWS, np.empty((n, ROWS))
    for i in range(n - 1, last - 1, -1):
        _clear(packed, rows, i, n)
    for i in range(last - ROWS, -1, -ROWS):
        for k in range(i, n):
            for j in range(ROWS):
                column[k, j] = packed[k, i + j]
        for j in range(i - i % WIDTH, lanes(n), WIDTH):
            a = b = c = d = spread(0.0)
            for k in range(i + ROWS, min(n, j + WIDTH)):
                shared = load(rows, (k, j))
                a = fused(column[k, 0], shared, a)
                b = fused(column[k, 1], shared, b)
                c = fused(column[k, 2], shared, c)
                d = fused(column[k, 3], shared, d)
            store(rows, (i, j), load(rows, (i, j)) - a)
            store(rows, (i + 1, j), load(rows, (i + 1, j)) - b)
            store(rows, (i + 2, j), load(rows, (i + 2, j)) - c)
            store(rows, (i + 3, j), load(rows, (i + 3, j)) - d)
        for k in range(i + ROWS - 2, i - 1, -1):
            _clear(packed, rows, k, i + ROWS)


@kernel
def _clear(packed, rows, i, end):
    """Row i minus U_ik times row k, for k from i + 1 to end."""
    for k in range(i + 1, end):
        u = packed[k, i]
        for j in range(k, packed.shape[1]):
            rows[i, j] -= u * rows[k, j]


@kernel
def dense(factor):
    """C = U D Uᵀ, exactly symmetric, padded with zeros to whole lanes."""
    n = factor.shape[1]
    width = padded(n)
    columns, negative = np.zeros((n, width)), np.zeros((width, width))
    for j in range(n):
        root = math.sqrt(factor[j, j])
        columns[j, j] = root
        for i in range(j):
            columns[j, i] = root * factor[j, i]
    for first in range(0, n, FEW):
        few = columns[first : first + FEW]
        subtract_squares(negative, few, len(few), 1.0)
    return -negative


@kernel(ieee_division=True)
def factorise(covariance, factor):
    """The packed U and D of a dense C, which is used up."""
    for j in range(factor.shape[1] - 1, -1, -1):
        d = max(covariance[j, j], np.finfo(np.float64).tiny)
        factor[j, j] = d
        for i in range(j):
            factor[j, i] = covariance[j, i] / d
        for i in range(j):
            u = covariance[j, i]
            for k in range(i + 1):
                covariance[i, k] -= u * factor[j, k]


@kernel(ieee_division=True)
def information_diagonal(factor, out):
    """P_kk = Σ_i (U⁻¹)_ik² / D_i."""
    n = factor.shape[1]
    rows = np.zeros((n, lanes(n)))
    for i in range(n):
        rows[i, i] = 1.0
    inverse(factor, rows)
    out.fill(0)
    for i in range(n):
        per_d = 1 / factor[i, i]
        for k in range(i, n):
            out[k] += rows[i, k] * rows[i, k] * per_d
