"""All linear systems of a round at once, one in each lane.

Memory sets the pace: one load a cycle, and 32 kB near by. So two columns are made at a
time of three rows each (six products for five loads), and of L and D only L is kept.
Two columns of all lanes come before the next two: while one vector of lanes waits for
its pivots, the others are worked on.
"""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import WIDTH, fused, larger, load, store
from thalweg.kernels.tracker.layout import ANCHORED_LANES, AUTOREGRESSIVE_LANES, LANES

LEAST_PIVOT = 1e-14
"""Of the diagonal entry it came from: below that a pivot is rounding only."""
MINUS_D = 2
"""Rows of ``work``: L D of the two columns at hand, negative; and -D."""


@inner_function
def factorise(moments, ridge, lower, work):
    """L D Lᵀ = S + ridge, with two right-hand sides riding along as further rows.

    ``moments`` (z + 2, z, LANES) is S, then b, then u, work (3, z, LANES). ``lower``
    gets L with 1/D on its diagonal, below it D⁻¹L⁻¹b and D⁻¹L⁻¹u. Only
    ``back_substitute`` is left to solve for both. Leading coordinates come first, so
    the same L serves their system alone: the last is for the lanes of
    ``autoregressive``, u for those of ``anchored``, and others do without.
    """
    z = moments.shape[1]
    for j in range(0, z, 2):
        for lane in range(0, LANES, WIDTH):
            columns = z if lane < AUTOREGRESSIVE_LANES else z - 1
            rows = z + 2 if lane < ANCHORED_LANES else z + 1
            if j + 1 < columns:
                _two_columns(moments, ridge, lower, work, j, rows, lane)
            elif j < columns:
                _one_column(moments, ridge, lower, work, j, rows, lane)


@inline_function
def _two_columns(moments, ridge, lower, work, j, rows, lane):
    """Columns j and j + 1 of L, from those before them."""
    first = load(moments, (j, j, lane)) + load(ridge, (j, lane))
    second = load(moments, (j + 1, j + 1, lane)) + load(ridge, (j + 1, lane))
    least, least_second = LEAST_PIVOT * first, LEAST_PIVOT * second
    between = load(moments, (j + 1, j, lane))
    for k in range(j):
        l_0, l_1 = load(lower, (j, k, lane)), load(lower, (j + 1, k, lane))
        m_0 = l_0 * load(work, (MINUS_D, k, lane))
        m_1 = l_1 * load(work, (MINUS_D, k, lane))
        store(work, (0, k, lane), m_0)
        store(work, (1, k, lane), m_1)
        first = fused(m_0, l_0, first)
        second = fused(m_1, l_1, second)
        between = fused(m_0, l_1, between)
    first = larger(first, least)
    per_first = 1.0 / first
    l_10 = between * per_first
    between = -1.0 * between
    second = larger(fused(between, l_10, second), least_second)
    per_second = 1.0 / second
    store(work, (MINUS_D, j, lane), -1.0 * first)
    store(work, (MINUS_D, j + 1, lane), -1.0 * second)
    store(lower, (j, j, lane), per_first)
    store(lower, (j + 1, j, lane), l_10)
    store(lower, (j + 1, j + 1, lane), per_second)
    i = j + 2
    while i + 3 <= rows:
        a_0, b_0 = load(moments, (i, j, lane)), load(moments, (i, j + 1, lane))
        a_1, b_1 = load(moments, (i + 1, j, lane)), load(moments, (i + 1, j + 1, lane))
        a_2, b_2 = load(moments, (i + 2, j, lane)), load(moments, (i + 2, j + 1, lane))
        for k in range(j):
            m_0, m_1 = load(work, (0, k, lane)), load(work, (1, k, lane))
            l_i = load(lower, (i, k, lane))
            a_0, b_0 = fused(l_i, m_0, a_0), fused(l_i, m_1, b_0)
            l_i = load(lower, (i + 1, k, lane))
            a_1, b_1 = fused(l_i, m_0, a_1), fused(l_i, m_1, b_1)
            l_i = load(lower, (i + 2, k, lane))
            a_2, b_2 = fused(l_i, m_0, a_2), fused(l_i, m_1, b_2)
        _keep(lower, i, j, lane, a_0 * per_first, b_0, between, per_second)
        _keep(lower, i + 1, j, lane, a_1 * per_first, b_1, between, per_second)
        _keep(lower, i + 2, j, lane, a_2 * per_first, b_2, between, per_second)
        i += 3
    while i < rows:
        a_0, b_0 = load(moments, (i, j, lane)), load(moments, (i, j + 1, lane))
        for k in range(j):
            l_i = load(lower, (i, k, lane))
            a_0 = fused(l_i, load(work, (0, k, lane)), a_0)
            b_0 = fused(l_i, load(work, (1, k, lane)), b_0)
        _keep(lower, i, j, lane, a_0 * per_first, b_0, between, per_second)
        i += 1


@inline_function
def _keep(lower, i, j, lane, l_i, entry, between, per_second):
    store(lower, (i, j, lane), l_i)
    store(lower, (i, j + 1, lane), fused(l_i, between, entry) * per_second)


@inline_function
def _one_column(moments, ridge, lower, work, j, rows, lane):
    """The last column, where their number is odd."""
    pivot = load(moments, (j, j, lane)) + load(ridge, (j, lane))
    least = LEAST_PIVOT * pivot
    for k in range(j):
        l_j = load(lower, (j, k, lane))
        m_j = l_j * load(work, (MINUS_D, k, lane))
        store(work, (0, k, lane), m_j)
        pivot = fused(m_j, l_j, pivot)
    inverse = 1.0 / larger(pivot, least)
    store(lower, (j, j, lane), inverse)
    for i in range(j + 1, rows):
        entry = load(moments, (i, j, lane))
        for k in range(j):
            l_i = load(lower, (i, k, lane))
            entry = fused(l_i, load(work, (0, k, lane)), entry)
        store(lower, (i, j, lane), entry * inverse)


@inner_function
def back_substitute(lower, which, size, lanes, out):
    """Solve Lᵀ out = row ``which`` of ``lower`` in the leading ``size`` coordinates."""
    for lane in range(0, lanes, WIDTH):
        for j in range(size):
            store(out, (j, lane), load(lower, (which, j, lane)))
        i = size - 1
        while i > 0:  # rows i and i - 1 are done with, once i - 1 knows of i
            last = -1.0 * load(out, (i, lane))
            before = fused(
                load(lower, (i, i - 1, lane)), last, load(out, (i - 1, lane))
            )
            store(out, (i - 1, lane), before)
            before = -1.0 * before
            for j in range(i - 1):
                entry = fused(load(lower, (i, j, lane)), last, load(out, (j, lane)))
                entry = fused(load(lower, (i - 1, j, lane)), before, entry)
                store(out, (j, lane), entry)
            i -= 2
