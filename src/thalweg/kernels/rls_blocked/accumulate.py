"""Sums over a few rows, eight columns at a time.

``rows`` is (≥ count, w), and the first ``count`` of them are meant. All lengths but
counts are in whole lanes.
"""

from thalweg.kernels.jit import kernel
from thalweg.kernels.simd import WIDTH, fused, load, spread, store, total

TOGETHER = 4
"""Rows that ``along`` and ``subtract`` take at once: a single sum waits for itself."""


@kernel
def subtract_squares(matrix, rows, count, scale):
    """matrix ← scale (matrix - Σ_s rows_s rows_sᵀ), symmetric to the last bit."""
    for i in range(0, len(matrix), WIDTH):
        for j in range(i, len(matrix), WIDTH):
            sums = _products(rows, rows, count, i, j)
            for k in range(WIDTH):
                less = load(matrix, (i + k, j)) - sums[k]
                store(matrix, (i + k, j), scale * less)
            for k in range(WIDTH):
                for m in range(WIDTH):
                    matrix[j + m, i + k] = matrix[i + k, j + m]


@kernel
def multiply(left, right, out):
    """out ← leftᵀ right, for left (m, r), right (m, w), out (r, w)."""
    for i in range(0, out.shape[0], WIDTH):
        for j in range(0, out.shape[1], WIDTH):
            sums = _products(left, right, len(left), i, j)
            for k in range(WIDTH):
                store(out, (i + k, j), sums[k])


@kernel
def _products(left, right, count, i, j):
    """Σ_s left[s, i + k] right[s, j:j+8], for k from 0 to 7."""
    a = b = c = d = e = f = g = h = spread(0.0)
    for s in range(count):
        shared = load(right, (s, j))
        a = fused(left[s, i], shared, a)
        b = fused(left[s, i + 1], shared, b)
        c = fused(left[s, i + 2], shared, c)
        d = fused(left[s, i + 3], shared, d)
        e = fused(left[s, i + 4], shared, e)
        f = fused(left[s, i + 5], shared, f)
        g = fused(left[s, i + 6], shared, g)
        h = fused(left[s, i + 7], shared, h)
    return a, b, c, d, e, f, g, h


@kernel
def along(rows, count, v, out):
    """out[s] = rows_s·v, in whole ``TOGETHER``."""
    for s in range(0, count, TOGETHER):
        a = b = c = d = spread(0.0)
        for j in range(0, len(v), WIDTH):
            shared = load(v, j)
            a = fused(load(rows, (s, j)), shared, a)
            b = fused(load(rows, (s + 1, j)), shared, b)
            c = fused(load(rows, (s + 2, j)), shared, c)
            d = fused(load(rows, (s + 3, j)), shared, d)
        out[s], out[s + 1] = total(a), total(b)
        out[s + 2], out[s + 3] = total(c), total(d)


@kernel
def subtract(rows, count, weights, out):
    """out ← out - Σ_s weights[s] rows_s."""
    for s in range(count, -(-count // TOGETHER) * TOGETHER):
        weights[s] = 0.0
    for j in range(0, len(out), WIDTH):
        a = b = c = d = spread(0.0)
        for s in range(0, count, TOGETHER):
            a = fused(weights[s], load(rows, (s, j)), a)
            b = fused(weights[s + 1], load(rows, (s + 1, j)), b)
            c = fused(weights[s + 2], load(rows, (s + 2, j)), c)
            d = fused(weights[s + 3], load(rows, (s + 3, j)), d)
        store(out, j, load(out, j) - ((a + b) + (c + d)))


@kernel
def inner(v, w):
    """v·w."""
    a = spread(0.0)
    for j in range(0, len(v), WIDTH):
        a = fused(load(v, j), load(w, j), a)
    return total(a)
