"""Matrix products and triangular matrices in SIMD vectors, for blocks of rounds.

The packed factor of kernels/ud_factor.py in the two forms that blocks work with, and
the sums over a few rows that these are made of. ``rows`` is (≥ count, w), and the first
``count`` of them are meant. All lengths but counts are in whole SIMD lanes.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.simd import WIDTH, broadcast, fma, load, reduce_sum, store

SUM_ROWS = 4
"""Rows that ``row_products`` and ``subtract_rows`` sum at once: additions to a single
sum wait for each other."""
INVERSE_ROWS = 4
"""Rows of an inverse that are computed at once."""
PRODUCT_ROWS = 64
"""Rows of a product that are summed at once: more would leave the cache."""


@kernel
def whole_lanes(size):
    """``size`` rounded up to whole lanes."""
    return -(-size // WIDTH) * WIDTH


@kernel
def padded_width(size):
    """``size`` rounded up to an odd number of whole lanes.

    Rows whose distance is a power of two would compete for the same cache sets.
    """
    return (-(-size // WIDTH) | 1) * WIDTH


@kernel
def invert_unit_triangle(packed, rows):
    """U⁻¹ into ``rows``, which hold ones on the diagonal and zeros elsewhere.

    U is the unit upper triangle of a packed factor. Row i of the inverse is e_i minus
    Σ_k U_ik times row k, k > i; ``INVERSE_ROWS`` read the rows below together.
    """
    n = packed.shape[1]
    last, column = n - n % INVERSE_ROWS, np.empty((n, INVERSE_ROWS))
    for i in range(n - 1, last - 1, -1):
        _subtract_below(packed, rows, i, n)
    for i in range(last - INVERSE_ROWS, -1, -INVERSE_ROWS):
        for k in range(i, n):
            for j in range(INVERSE_ROWS):
                column[k, j] = packed[k, i + j]
        for j in range(i - i % WIDTH, whole_lanes(n), WIDTH):
            a = b = c = d = broadcast(0.0)
            for k in range(i + INVERSE_ROWS, min(n, j + WIDTH)):
                shared = load(rows, (k, j))
                a = fma(column[k, 0], shared, a)
                b = fma(column[k, 1], shared, b)
                c = fma(column[k, 2], shared, c)
                d = fma(column[k, 3], shared, d)
            store(rows, (i, j), load(rows, (i, j)) - a)
            store(rows, (i + 1, j), load(rows, (i + 1, j)) - b)
            store(rows, (i + 2, j), load(rows, (i + 2, j)) - c)
            store(rows, (i + 3, j), load(rows, (i + 3, j)) - d)
        for k in range(i + INVERSE_ROWS - 2, i - 1, -1):
            _subtract_below(packed, rows, k, i + INVERSE_ROWS)


@kernel
def _subtract_below(packed, rows, i, end):
    """Subtract U_ik times row k from row i, for k from i + 1 to end."""
    for k in range(i + 1, end):
        u = packed[k, i]
        for j in range(k, packed.shape[1]):
            rows[i, j] -= u * rows[k, j]


@kernel
def dense_covariance(factor):
    """C = U D Uᵀ, exactly symmetric, padded with zeros to whole lanes."""
    n = factor.shape[1]
    width = padded_width(n)
    columns, negative = np.zeros((n, width)), np.zeros((width, width))
    for j in range(n):
        root = math.sqrt(factor[j, j])
        columns[j, j] = root
        for i in range(j):
            columns[j, i] = root * factor[j, i]
    for first in range(0, n, PRODUCT_ROWS):
        part = columns[first : first + PRODUCT_ROWS]
        subtract_squares(negative, part, len(part), 1.0)
    return -negative


@kernel(ieee_division=True)
def factorise_covariance(covariance, factor):
    """Set the packed U and D of a dense C, which is overwritten.

    For j = n..1: D_j = C_jj, U_ij = C_ij / D_j, and for i, k < j
    C_ik ← C_ik - U_ij D_j U_kj.
    """
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
    rows = np.zeros((n, whole_lanes(n)))
    for i in range(n):
        rows[i, i] = 1.0
    invert_unit_triangle(factor, rows)
    out.fill(0)
    for i in range(n):
        inverse_d = 1 / factor[i, i]
        for k in range(i, n):
            out[k] += rows[i, k] * rows[i, k] * inverse_d


@kernel
def subtract_squares(matrix, rows, count, scale):
    """matrix ← scale (matrix - Σ_s rows_s rows_sᵀ), symmetric to the last bit."""
    for i in range(0, len(matrix), WIDTH):
        for j in range(i, len(matrix), WIDTH):
            sums = _products(rows, rows, count, i, j)
            for k in range(WIDTH):
                difference = load(matrix, (i + k, j)) - sums[k]
                store(matrix, (i + k, j), scale * difference)
            for k in range(WIDTH):
                for m in range(WIDTH):
                    matrix[j + m, i + k] = matrix[i + k, j + m]


@kernel
def multiply_transposed(left, right, out):
    """out ← leftᵀ right, for left (m, r), right (m, w), out (r, w)."""
    for i in range(0, out.shape[0], WIDTH):
        for j in range(0, out.shape[1], WIDTH):
            sums = _products(left, right, len(left), i, j)
            for k in range(WIDTH):
                store(out, (i + k, j), sums[k])


@kernel
def _products(left, right, count, i, j):
    """Σ_s left[s, i + k] right[s, j:j+8], for k from 0 to 7."""
    a = b = c = d = e = f = g = h = broadcast(0.0)
    for s in range(count):
        shared = load(right, (s, j))
        a = fma(left[s, i], shared, a)
        b = fma(left[s, i + 1], shared, b)
        c = fma(left[s, i + 2], shared, c)
        d = fma(left[s, i + 3], shared, d)
        e = fma(left[s, i + 4], shared, e)
        f = fma(left[s, i + 5], shared, f)
        g = fma(left[s, i + 6], shared, g)
        h = fma(left[s, i + 7], shared, h)
    return a, b, c, d, e, f, g, h


@kernel
def row_products(rows, count, v, out):
    """out[s] = rows_s·v, in whole ``SUM_ROWS``."""
    for s in range(0, count, SUM_ROWS):
        a = b = c = d = broadcast(0.0)
        for j in range(0, len(v), WIDTH):
            shared = load(v, j)
            a = fma(load(rows, (s, j)), shared, a)
            b = fma(load(rows, (s + 1, j)), shared, b)
            c = fma(load(rows, (s + 2, j)), shared, c)
            d = fma(load(rows, (s + 3, j)), shared, d)
        out[s], out[s + 1] = reduce_sum(a), reduce_sum(b)
        out[s + 2], out[s + 3] = reduce_sum(c), reduce_sum(d)


@kernel
def subtract_rows(rows, count, weights, out):
    """out ← out - Σ_s weights[s] rows_s."""
    for s in range(count, -(-count // SUM_ROWS) * SUM_ROWS):
        weights[s] = 0.0
    for j in range(0, len(out), WIDTH):
        a = b = c = d = broadcast(0.0)
        for s in range(0, count, SUM_ROWS):
            a = fma(weights[s], load(rows, (s, j)), a)
            b = fma(weights[s + 1], load(rows, (s + 1, j)), b)
            c = fma(weights[s + 2], load(rows, (s + 2, j)), c)
            d = fma(weights[s + 3], load(rows, (s + 3, j)), d)
        store(out, j, load(out, j) - ((a + b) + (c + d)))


@kernel
def inner_product(v, w):
    """v·w."""
    a = broadcast(0.0)
    for j in range(0, len(v), WIDTH):
        a = fma(load(v, j), load(w, j), a)
    return reduce_sum(a)
