"""Rows into a triangular factor of P, in an order that reads memory seldom.

A row x of weight w, with y beside it, enters P = Uᵀ D U and z = Uθ as
    for every pivot i:   a = x_i,   d' = d_i + w a²,   g = w a / d'
                         x ← x - a u_i,   u_i ← u_i + g x,   w ← w d_i / d',   d_i ← d'
where u_i is row i of (U, z) and x stands for (x, y) (Gentleman 1973). What is left of y
is then y - x·θ, with the θ of before. Pivot i of row s needs no more than pivot i - 1
of that row and row s - 1 at that pivot. So eight pivots can take in all rows of a block
before the next eight start, and meanwhile their entries in a column stay in registers.
"""

from thalweg.kernels.jit import kernel
from thalweg.kernels.simd import WIDTH, fused, load, store


@kernel
def eliminate(pivots, factor, rows, weights, minus, gains):
    """Take ``rows`` into the factor, in place, one after the other.

    Shapes: pivots (p,), the D; factor (p, p + q), U with its diagonal and z; rows
    (b, p + 2q), x, y and 0, which becomes -x·θ; weights (b,); minus and gains
    (b, WIDTH) to work in. p and q are in whole lanes; rows may be longer.
    """
    p = len(pivots)
    q = factor.shape[1] - p
    for first in range(0, p, WIDTH):
        _at_the_pivots(pivots, factor, rows, weights, minus, gains, first)
        for column in range(first + WIDTH, p, WIDTH):
            _elsewhere(factor, rows, minus, gains, first, column, 0)
        for column in range(p, p + q, WIDTH):
            _elsewhere(factor, rows, minus, gains, first, column, column + q)


@kernel(ieee_division=True)
def _at_the_pivots(pivots, factor, rows, weights, minus, gains, first):
    """``minus`` a and ``gains`` g of every row, and the columns of the pivots."""
    for i in range(WIDTH):
        u, d = load(factor, (first + i, first)), pivots[first + i]
        for s in range(len(rows)):
            a = rows[s, first + i]
            wa = weights[s] * a
            raised = d + wa * a
            per_d = 1 / raised
            # Left of its pivot u is 0 and at it 1: there a row becomes exactly 0.
            x = fused(-a, u, load(rows, (s, first)))
            store(rows, (s, first), x)
            u = fused(wa * per_d, x, u)
            minus[s, i], gains[s, i] = -a, wa * per_d
            weights[s] *= d * per_d
            d = raised
        store(factor, (first + i, first), u)
        pivots[first + i] = d


@kernel
def _elsewhere(factor, rows, minus, gains, first, column, said):
    """All rows through the pivots, in eight columns.

    If these are of y, what is taken from it goes to the columns from ``said`` on: the
    difference of y and what is left of it would be less exact where y is huge.
    """
    u0, u1, u2, u3 = _four(factor, first, column)
    u4, u5, u6, u7 = _four(factor, first + 4, column)
    for s in range(len(rows)):
        if said:
            taken = _taken(load(rows, (s, said)), u0, u1, u2, u3, minus, s, 0)
            store(rows, (s, said), _taken(taken, u4, u5, u6, u7, minus, s, 4))
        x, u0 = _meet(load(rows, (s, column)), u0, minus[s, 0], gains[s, 0])
        x, u1 = _meet(x, u1, minus[s, 1], gains[s, 1])
        x, u2 = _meet(x, u2, minus[s, 2], gains[s, 2])
        x, u3 = _meet(x, u3, minus[s, 3], gains[s, 3])
        x, u4 = _meet(x, u4, minus[s, 4], gains[s, 4])
        x, u5 = _meet(x, u5, minus[s, 5], gains[s, 5])
        x, u6 = _meet(x, u6, minus[s, 6], gains[s, 6])
        x, u7 = _meet(x, u7, minus[s, 7], gains[s, 7])
        store(rows, (s, column), x)
    _put(factor, first, column, u0, u1, u2, u3)
    _put(factor, first + 4, column, u4, u5, u6, u7)


@kernel
def _meet(x, u, minus, gain):
    x = fused(minus, u, x)
    return x, fused(gain, x, u)


@kernel
def _taken(so_far, a, b, c, d, minus, s, i):
    so_far = fused(minus[s, i + 1], b, fused(minus[s, i], a, so_far))
    return fused(minus[s, i + 3], d, fused(minus[s, i + 2], c, so_far))


@kernel
def _four(factor, i, column):
    a, b = load(factor, (i, column)), load(factor, (i + 1, column))
    return a, b, load(factor, (i + 2, column)), load(factor, (i + 3, column))


@kernel
def _put(factor, i, column, a, b, c, d):
    store(factor, (i, column), a)
    store(factor, (i + 1, column), b)
    store(factor, (i + 2, column), c)
    store(factor, (i + 3, column), d)
