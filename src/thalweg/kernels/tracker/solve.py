"""All linear systems of a round at once, one in each SIMD lane: L D Lᵀ factors.

Also known as: square-root-free Cholesky factorisation. Without lanes and blocking it is

    for j in range(z):
        D[j] = max(A[j, j] - Σ_{k<j} D[k] L[j, k]², MIN_RELATIVE_PIVOT · A[j, j])
        for i in range(j + 1, rows):
            L[i, j] = (A[i, j] - Σ_{k<j} D[k] L[j, k] L[i, k]) / D[j]

with A = S + ridge, and right-hand sides as further rows of A.

Memory is the limit: one load a cycle, and a first-level cache of 32 kB. So two columns
are computed at a time, of three rows each (six products for five loads), and of L and D
only L is stored. Two columns of all lanes come before the next two: while one vector of
lanes waits for its pivots, the others are computed.
"""

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import (
    WIDTH,
    absolute,
    any_greater,
    broadcast,
    fma,
    load,
    maximum,
    select_greater,
    store,
)
from thalweg.kernels.tracker import tracker_layout as layout

MAX_FLOAT = 1.7e308
"""Predictions and coefficients of at least this size count as infinite."""
MIN_RELATIVE_PIVOT = 1e-14
"""Lower limit of a pivot, in units of its diagonal entry: less is only rounding."""
NEGATIVE_D = 2
"""The row of ``work`` that holds -D; rows 0 and 1 hold -L D of two columns."""


@inner_function
def factorise(moments, ridge, lower, work):
    """Factor L D Lᵀ = S + ridge, with right-hand sides b and u as further rows.

    ``moments`` (n + 1 or n + 2, n, lanes) is S, then b, then u, work (3, n, lanes).
    ``lower`` gets L with 1/D on its diagonal, below it D⁻¹L⁻¹b and D⁻¹L⁻¹u. Only
    ``back_substitute`` is left to solve for both. u is for the lanes of ``anchored``,
    others do without.
    """
    rows, n, lanes = moments.shape
    for j in range(0, n, 2):
        for lane in range(0, lanes, WIDTH):
            last = rows if lane < layout.ANCHORED_LANES else n + 1
            if j + 1 < n:
                _factorise_two_columns(moments, ridge, lower, work, j, last, lane)
            else:
                _factorise_last_column(moments, ridge, lower, work, j, last, lane)


@inline_function
def _factorise_two_columns(moments, ridge, lower, work, j, rows, lane):
    """Compute columns j and j + 1 of L, from those before them."""
    first = load(moments, (j, j, lane)) + load(ridge, (j, lane))
    second = load(moments, (j + 1, j + 1, lane)) + load(ridge, (j + 1, lane))
    floor_0, floor_1 = MIN_RELATIVE_PIVOT * first, MIN_RELATIVE_PIVOT * second
    between = load(moments, (j + 1, j, lane))
    for k in range(j):
        l_0, l_1 = load(lower, (j, k, lane)), load(lower, (j + 1, k, lane))
        m_0 = l_0 * load(work, (NEGATIVE_D, k, lane))
        m_1 = l_1 * load(work, (NEGATIVE_D, k, lane))
        store(work, (0, k, lane), m_0)
        store(work, (1, k, lane), m_1)
        first = fma(m_0, l_0, first)
        second = fma(m_1, l_1, second)
        between = fma(m_0, l_1, between)
    first = maximum(first, floor_0)
    inverse_0 = 1.0 / first
    l_10 = between * inverse_0
    between = -1.0 * between
    second = maximum(fma(between, l_10, second), floor_1)
    inverse_1 = 1.0 / second
    store(work, (NEGATIVE_D, j, lane), -1.0 * first)
    store(work, (NEGATIVE_D, j + 1, lane), -1.0 * second)
    store(lower, (j, j, lane), inverse_0)
    store(lower, (j + 1, j, lane), l_10)
    store(lower, (j + 1, j + 1, lane), inverse_1)
    i = j + 2
    while i + 3 <= rows:
        a_0, b_0 = load(moments, (i, j, lane)), load(moments, (i, j + 1, lane))
        a_1, b_1 = load(moments, (i + 1, j, lane)), load(moments, (i + 1, j + 1, lane))
        a_2, b_2 = load(moments, (i + 2, j, lane)), load(moments, (i + 2, j + 1, lane))
        for k in range(j):
            m_0, m_1 = load(work, (0, k, lane)), load(work, (1, k, lane))
            l_i = load(lower, (i, k, lane))
            a_0, b_0 = fma(l_i, m_0, a_0), fma(l_i, m_1, b_0)
            l_i = load(lower, (i + 1, k, lane))
            a_1, b_1 = fma(l_i, m_0, a_1), fma(l_i, m_1, b_1)
            l_i = load(lower, (i + 2, k, lane))
            a_2, b_2 = fma(l_i, m_0, a_2), fma(l_i, m_1, b_2)
        _store_row(lower, i, j, lane, a_0 * inverse_0, b_0, between, inverse_1)
        _store_row(lower, i + 1, j, lane, a_1 * inverse_0, b_1, between, inverse_1)
        _store_row(lower, i + 2, j, lane, a_2 * inverse_0, b_2, between, inverse_1)
        i += 3
    while i < rows:
        a_0, b_0 = load(moments, (i, j, lane)), load(moments, (i, j + 1, lane))
        for k in range(j):
            l_i = load(lower, (i, k, lane))
            a_0 = fma(l_i, load(work, (0, k, lane)), a_0)
            b_0 = fma(l_i, load(work, (1, k, lane)), b_0)
        _store_row(lower, i, j, lane, a_0 * inverse_0, b_0, between, inverse_1)
        i += 1


@inline_function
def _store_row(lower, i, j, lane, l_i, entry, between, inverse_1):
    """Store L[i, j] and L[i, j + 1] = (entry - D[j] L[j + 1, j] L[i, j]) / D[j + 1]."""
    store(lower, (i, j, lane), l_i)
    store(lower, (i, j + 1, lane), fma(l_i, between, entry) * inverse_1)


@inline_function
def _factorise_last_column(moments, ridge, lower, work, j, rows, lane):
    """Compute the last column, where their number is odd."""
    pivot = load(moments, (j, j, lane)) + load(ridge, (j, lane))
    floor_0 = MIN_RELATIVE_PIVOT * pivot
    for k in range(j):
        l_j = load(lower, (j, k, lane))
        m_j = l_j * load(work, (NEGATIVE_D, k, lane))
        store(work, (0, k, lane), m_j)
        pivot = fma(m_j, l_j, pivot)
    pivot = maximum(pivot, floor_0)
    inverse = 1.0 / pivot
    store(work, (NEGATIVE_D, j, lane), -1.0 * pivot)
    store(lower, (j, j, lane), inverse)
    for i in range(j + 1, rows):
        entry = load(moments, (i, j, lane))
        for k in range(j):
            l_i = load(lower, (i, k, lane))
            entry = fma(l_i, load(work, (0, k, lane)), entry)
        store(lower, (i, j, lane), entry * inverse)


@inner_function
def back_substitute(lower, which, size, lanes, out):
    """Solve Lᵀ out = row ``which`` of ``lower`` in the leading ``size`` coordinates.

    In every lane, from i = size - 1 down: out_i = row_i - Σ_{k>i} L[k, i] out_k; or 0
    where that is beyond float64, as it may be for tiny features and huge labels. Two
    coordinates are done at a time, and those beyond float64 are looked for at the end:
    a test of each would be waited for by the next.
    """
    for lane in range(0, lanes, WIDTH):
        for j in range(size):
            store(out, (j, lane), load(lower, (which, j, lane)))
        i, total = size - 1, broadcast(0.0)
        while i > 0:
            last = load(out, (i, lane))
            total += absolute(last)
            last = -1.0 * last
            before = fma(load(lower, (i, i - 1, lane)), last, load(out, (i - 1, lane)))
            store(out, (i - 1, lane), before)
            total += absolute(before)
            before = -1.0 * before
            for j in range(i - 1):
                entry = fma(load(lower, (i, j, lane)), last, load(out, (j, lane)))
                entry = fma(load(lower, (i - 1, j, lane)), before, entry)
                store(out, (j, lane), entry)
            i -= 2
        total += absolute(load(out, (0, lane)))
        if any_greater(select_greater(MAX_FLOAT, total, 0.0, 1.0), 0.5):
            _back_substitute_finite(lower, which, size, lane, out)


@inner_function
def _back_substitute_finite(lower, which, size, lane, out):
    """The same in eight lanes, where a coordinate is beyond float64: it becomes 0."""
    for j in range(size):
        store(out, (j, lane), load(lower, (which, j, lane)))
    for i in range(size - 1, -1, -1):
        here = finite_or_zero(load(out, (i, lane)))
        store(out, (i, lane), here)
        for j in range(i):
            entry = fma(load(lower, (i, j, lane)), -1.0 * here, load(out, (j, lane)))
            store(out, (j, lane), entry)


@inline_function
def finite_or_zero(value):
    """The value; 0 in lanes where it is infinite or not a number."""
    return select_greater(MAX_FLOAT, absolute(value), value, 0.0)
