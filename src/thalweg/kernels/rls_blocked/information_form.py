"""Blocks of rounds without a retained ridge: Gaussian elimination in information form.

P = Uᵀ D U and z = Uθ. A row x of weight w, with y beside it, enters them as
    for every pivot i:   a = x_i,   d' = d_i + w a²,   g = w a / d'
                         x ← x - a u_i,   u_i ← u_i + g x,   w ← w d_i / d',   d_i ← d'
where u_i is row i of (U, z) and x stands for (x, y) (Gentleman 1973, square-root-free
Givens rotations). What is left of y is then the innovation y - x·θ, with the θ of
before. Pivot i of row s needs no more than pivot i - 1 of that row and row s - 1 at
that pivot. So eight pivots can take in all rows of a block before the next eight start,
and meanwhile their entries in a column stay in registers.

Forgetting is left to the weights: within a block a row weighs w over what remains by
then of the information at the start, which stays as it is.
docs/derivations/blocked-rls.md
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.simd import WIDTH, broadcast, fma, load, reduce_sum, store
from thalweg.kernels.rls_blocked.block_limits import (
    allocate_preview,
    block_end,
    is_well_conditioned,
    update_scale_rows,
)
from thalweg.kernels.rls_blocked.triangular import (
    invert_unit_triangle,
    padded_width,
    whole_lanes,
)
from thalweg.kernels.ud_factor import RETAINED_RIDGE, covariance_diagonal
from thalweg.kernels.windup import MIN_RIDGE

MAX_ROUNDS = 32
"""Upper limit of the rounds in a block: more are no faster, and at n = 128 would exceed
the cache."""


@kernel(ieee_division=True, nogil=True)
def play_information_blocks(theta, factor, gamma, min_ridge, rounds, t):
    """Play blocks from round t on for as long as they are safe; returns where they end.

    ``min_ridge`` is 0 without a retained ridge, else the ridge with which
    ``restore_ridge`` leaves a coordinate alone: blocks are then safe where all
    coordinates have more.
    """
    (n, k), started = theta.shape, t
    bound, ahead = np.empty(n), allocate_preview(n, MAX_ROUNDS)
    covariance_diagonal(factor, bound)
    end = _next_block_end(factor, bound, gamma, min_ridge, rounds, t, ahead)
    if end == t:
        return t
    pivots, triangle = _information_form(theta, factor)
    column, information = triangle.shape[1], np.empty(n)  # column of the predictions
    _information_diagonal(pivots, triangle, information)
    width = padded_width(column + whole_lanes(k))
    rows, weights = np.zeros((MAX_ROUNDS, width)), np.empty(MAX_ROUNDS)
    minus, gains = np.empty((MAX_ROUNDS, WIDTH)), np.empty((MAX_ROUNDS, WIDTH))
    while end > t and _is_exact(pivots, triangle, bound, information, ahead):
        count = end - t
        _fill_rows(rows, rounds.x, rounds.y, t, count, len(pivots))
        for s in range(count):
            weights[s] = ahead.weight[s] / ahead.remaining[s]
        gauss_elimination(pivots, triangle, rows[:count], weights, minus, gains)
        for s in range(count):
            negative = rows[s, column : column + k]
            _record_prediction(negative, ahead.weight[s], rounds, t + s)
            if min_ridge > 0:
                _forget_ridge(factor, ahead.discount[s])
        update_scale_rows(factor, ahead, count)
        left = ahead.remaining[count - 1]
        inverse_left = 1 / left
        for i in range(n):
            pivots[i] *= left
            information[i] = (information[i] + ahead.learnt[i]) * left
            bound[i] *= inverse_left
        t = end
        end = _next_block_end(factor, bound, gamma, min_ridge, rounds, t, ahead)
        if end == t < len(rounds.y):
            # The bound may be far above C_kk by now: compute it again.
            _variances(pivots, triangle, bound)
            end = _next_block_end(factor, bound, gamma, min_ridge, rounds, t, ahead)
    if t > started:
        _covariance_form(pivots, triangle, theta, factor)
    return t


@kernel
def _next_block_end(factor, bound, gamma, min_ridge, rounds, t, ahead):
    """The end of the next safe block, in which no ridge falls below ``min_ridge``."""
    end = block_end(factor, bound, gamma, rounds, t, ahead)
    if end > t and min_ridge > 0:
        left = factor[RETAINED_RIDGE].min() * ahead.remaining[end - t - 1]
        if left < min_ridge:
            return t
    return end


@kernel
def _is_exact(pivots, triangle, bound, information, ahead):
    """``is_well_conditioned``, if need be after computing the bound of C_kk again."""
    if not is_well_conditioned(information, bound, ahead, 0.0):
        _variances(pivots, triangle, bound)
        return is_well_conditioned(information, bound, ahead, 0.0)
    return True


@kernel
def _forget_ridge(factor, discount):
    """Apply forgetting to the retained ridge, as ``restore_ridge`` does."""
    for k in range(factor.shape[1]):
        factor[RETAINED_RIDGE, k] = max(factor[RETAINED_RIDGE, k] * discount, MIN_RIDGE)


@kernel
def _fill_rows(rows, x, y, t, count, y_column):
    """Set each row to (x, y, 0) of its round, y from column ``y_column`` on."""
    n, k = x.shape[1], y.shape[1]
    for s in range(count):
        for i in range(n):
            rows[s, i] = x[t + s, i]
        for i in range(n, rows.shape[1]):
            rows[s, i] = 0.0
        for j in range(k):
            rows[s, y_column + j] = y[t + s, j]


@kernel
def _record_prediction(negative, weight, rounds, r):
    """Write the prediction of round r, given its ``negative``, and its loss."""
    rounds.loss[r], root = 0.0, math.sqrt(weight)
    for j in range(len(negative)):
        rounds.out[r, j] = -negative[j]
        innovation = root * (rounds.y[r, j] + negative[j])
        rounds.loss[r] += 0.5 * innovation * innovation


@kernel(ieee_division=True)
def _information_form(theta, factor):
    """D, and (U, z) of P = Uᵀ D U, z = Uθ; padded by features that are always 0."""
    n, k = theta.shape
    p = whole_lanes(n)
    pivots, triangle = np.ones(p), np.zeros((p, p + whole_lanes(k)))
    for i in range(p):
        triangle[i, i] = 1.0
    invert_unit_triangle(factor, triangle)
    for i in range(n):
        pivots[i] = 1 / factor[i, i]
        for j in range(i, n):
            for target in range(k):
                triangle[i, p + target] += triangle[i, j] * theta[j, target]
    return pivots, triangle


@kernel(ieee_division=True)
def _covariance_form(pivots, triangle, theta, factor):
    """θ and the packed factor of C = P⁻¹, from what ``_information_form`` gave."""
    (n, k), p = theta.shape, len(pivots)
    rows = _upper_inverse(triangle, n)
    theta.fill(0)
    for j in range(n):
        factor[j, j] = 1 / pivots[j]
        for i in range(j):
            factor[j, i] = rows[i, j]
        for i in range(j + 1):
            for target in range(k):
                theta[i, target] += rows[i, j] * triangle[j, p + target]


@kernel
def _information_diagonal(pivots, triangle, out):
    """P_kk = Σ_i D_i U_ik²."""
    out.fill(0)
    for i in range(len(out)):
        for k in range(i, len(out)):
            out[k] += pivots[i] * (triangle[i, k] * triangle[i, k])


@kernel(ieee_division=True)
def _variances(pivots, triangle, out):
    """C_kk = Σ_j (U⁻¹)_kj² / D_j."""
    rows, variances = _upper_inverse(triangle, len(out)), 1 / pivots
    for k in range(len(out)):
        total = broadcast(0.0)
        for j in range(k - k % WIDTH, len(pivots), WIDTH):
            entries = load(rows, (k, j))
            total = fma(entries * entries, load(variances, j), total)
        out[k] = reduce_sum(total)


@kernel
def _upper_inverse(triangle, n):
    """U⁻¹, padded to whole lanes."""
    rows = np.zeros((n, padded_width(n)))
    for j in range(n):
        rows[j, j] = 1.0
    invert_unit_triangle(triangle[:n, :n].T, rows)
    return rows


@kernel
def gauss_elimination(pivots, triangle, rows, weights, minus, gains):
    """Eliminate ``rows`` one after the other, updating the triangle in place.

    Shapes: pivots (p,), the D; triangle (p, p + q), U with its diagonal and z; rows
    (b, p + 2q), x, y and 0, which becomes -x·θ; weights (b,); minus and gains
    (b, WIDTH) to work in. p and q are in whole lanes; rows may be longer.
    """
    p = len(pivots)
    q = triangle.shape[1] - p
    for first in range(0, p, WIDTH):
        _eliminate_pivots(pivots, triangle, rows, weights, minus, gains, first)
        for column in range(first + WIDTH, p, WIDTH):
            _eliminate_columns(triangle, rows, minus, gains, first, column, 0)
        for column in range(p, p + q, WIDTH):
            _eliminate_columns(triangle, rows, minus, gains, first, column, column + q)


@kernel(ieee_division=True)
def _eliminate_pivots(pivots, triangle, rows, weights, minus, gains, first):
    """Set ``minus`` to -a and ``gains`` to g, and update the columns of the pivots."""
    for i in range(WIDTH):
        u, d = load(triangle, (first + i, first)), pivots[first + i]
        for s in range(len(rows)):
            a = rows[s, first + i]
            wa = weights[s] * a
            raised = d + wa * a
            inverse_d = 1 / raised
            # Left of its pivot u is 0 and at it 1: there a row becomes exactly 0.
            x = fma(-a, u, load(rows, (s, first)))
            store(rows, (s, first), x)
            u = fma(wa * inverse_d, x, u)
            minus[s, i], gains[s, i] = -a, wa * inverse_d
            weights[s] *= d * inverse_d
            d = raised
        store(triangle, (first + i, first), u)
        pivots[first + i] = d


@kernel
def _eliminate_columns(triangle, rows, minus, gains, first, column, negative):
    """Eliminate all rows by eight pivots, in eight columns.

    If these are of y, what is subtracted from it is added up from column ``negative``
    on (0 for none): the difference of y and what is left of it would be less exact
    where y is huge. For every row s and pivot i of the eight:
        x ← x - a_si u_i,   u_i ← u_i + g_si x
    """
    u0, u1, u2, u3 = _load_four(triangle, first, column)
    u4, u5, u6, u7 = _load_four(triangle, first + 4, column)
    for s in range(len(rows)):
        if negative:
            total = load(rows, (s, negative))
            total = _subtract_products(total, u0, u1, u2, u3, minus, s, 0)
            total = _subtract_products(total, u4, u5, u6, u7, minus, s, 4)
            store(rows, (s, negative), total)
        x, u0 = _eliminate_entry(load(rows, (s, column)), u0, minus[s, 0], gains[s, 0])
        x, u1 = _eliminate_entry(x, u1, minus[s, 1], gains[s, 1])
        x, u2 = _eliminate_entry(x, u2, minus[s, 2], gains[s, 2])
        x, u3 = _eliminate_entry(x, u3, minus[s, 3], gains[s, 3])
        x, u4 = _eliminate_entry(x, u4, minus[s, 4], gains[s, 4])
        x, u5 = _eliminate_entry(x, u5, minus[s, 5], gains[s, 5])
        x, u6 = _eliminate_entry(x, u6, minus[s, 6], gains[s, 6])
        x, u7 = _eliminate_entry(x, u7, minus[s, 7], gains[s, 7])
        store(rows, (s, column), x)
    _store_four(triangle, first, column, u0, u1, u2, u3)
    _store_four(triangle, first + 4, column, u4, u5, u6, u7)


@kernel
def _eliminate_entry(x, u, minus, gain):
    """x - a u, and u + g times that."""
    x = fma(minus, u, x)
    return x, fma(gain, x, u)


@kernel
def _subtract_products(total, a, b, c, d, minus, s, i):
    """Subtract Σ a u of four pivots from ``total``; ``minus`` holds -a."""
    total = fma(minus[s, i + 1], b, fma(minus[s, i], a, total))
    return fma(minus[s, i + 3], d, fma(minus[s, i + 2], c, total))


@kernel
def _load_four(triangle, i, column):
    a, b = load(triangle, (i, column)), load(triangle, (i + 1, column))
    return a, b, load(triangle, (i + 2, column)), load(triangle, (i + 3, column))


@kernel
def _store_four(triangle, i, column, a, b, c, d):
    store(triangle, (i, column), a)
    store(triangle, (i + 1, column), b)
    store(triangle, (i + 2, column), c)
    store(triangle, (i + 3, column), d)
