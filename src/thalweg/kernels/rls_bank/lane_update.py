"""UD factors in SIMD lanes: ud_factor.py for eight experts side by side.

Each lane goes through the same operations in the same order, products and sums rounded
separately, so that it ends with the same bits as ``forget`` and ``bierman_update``.
Only the order in which rows are visited is another: a row's dot product is taken just
before the row changes, while it is in the cache.

No function here or in lane_windup.py that is called in every round may call one that is
not inlined, nor touch an array for the last time within an ``if``: the compiler would
then count references to its arrays, at several times the price of the arithmetic.

``buffer`` is the (rows, 8) array of one group and ``at`` its ``LaneRows``.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.simd import (
    absolute,
    any_greater,
    broadcast,
    load,
    maximum,
    minimum,
    select_greater,
    store,
)
from thalweg.kernels.ud_factor import (
    NEGLIGIBLE_RIDGE,
    NOISE_CHECK_LIMIT,
    SCALE_DECAY,
    max_coefficient,
    max_learnt_variance,
    max_pivot,
    max_remainder,
    min_forgetting_factor,
    min_new_share,
)

# The limits of ud_factor.py, for float64.
EPS, TINY = np.finfo(np.float64).eps, np.finfo(np.float64).tiny
LARGEST_FLOAT = np.finfo(np.float64).max
MIN_GAMMA = min_forgetting_factor(EPS)
MAX_PIVOT = max_pivot(LARGEST_FLOAT)
MAX_COEFFICIENT = max_coefficient(LARGEST_FLOAT)
MAX_LEARNT_VARIANCE = max_learnt_variance(LARGEST_FLOAT)
MAX_LEARNT = math.nextafter(MAX_LEARNT_VARIANCE, math.inf)
"""The smallest D_j input_scale_j² of a direction about which nothing was learnt."""
NOISE_CHECK = math.nextafter(NOISE_CHECK_LIMIT, math.inf)
"""The smallest number above NOISE_CHECK_LIMIT."""


@kernel(inline=True)
def update(buffer, at, n):
    """P ← P/round_growth + vvᵀ; the Kalman gain P⁻¹v is ``gain``/α. Returns 1/α.

    As ``bierman_update`` of kernels/ud_factor.py: with f = Uᵀv, for every j
        α ← α + D_j f_j²,   D_j ← D_j α_before/α,   U_ij ← U_ij - (f_j/α_before) g_i,
        g_i ← g_i + D_j f_j U_ij  for i < j,   g_j = D_j f_j
    Columns j to j + 3 are taken together, which loads v and the gain once for four.
    """
    row = at.upper
    alpha = inverse_alpha = broadcast(1.0)
    for j in range(0, n - 3, 4):
        _four_dots(buffer, at, row, j)
        this = row
        for i in range(j, j + 4):
            alpha, inverse_alpha = _pivot(buffer, at, this, i, n, alpha, inverse_alpha)
            this += i
        _four_sweeps(buffer, at, row, j)
        row = this
    for j in range(n - n % 4, n):
        _dot(buffer, at, row, j)
        alpha, inverse_alpha = _pivot(buffer, at, row, j, n, alpha, inverse_alpha)
        _sweep(buffer, at, row, j)
        row += j
    if any_greater(alpha, MAX_LEARNT_VARIANCE):
        _drop_remainders(buffer, at, n, alpha)
    return inverse_alpha


@kernel(inline=True)
def _drop_remainders(buffer, at, n, alpha):
    """As in ud_factor.py, in lanes where a direction was learnt for the first time."""
    row = at.upper
    for j in range(n):
        limit = max_remainder(EPS) * column_size(buffer, at, row, j)
        unlearnt = is_unlearnt(buffer, at, j, load(buffer, (at.d + j, 0)))
        limit = select_greater(unlearnt, 0.0, limit, -1.0)
        limit = select_greater(alpha, MAX_LEARNT_VARIANCE, limit, -1.0)
        for i in range(j):
            u = load(buffer, (row + i, 0))
            share = absolute(u) * load(buffer, (at.input_scale + i, 0))
            store(buffer, (row + i, 0), select_greater(share, limit, u, 0.0))
        row += j


@kernel(inline=True)
def column_size(buffer, at, row, j):
    """max_i |U_ij| input_scale_i; column j of U begins at ``row``."""
    size = load(buffer, (at.input_scale + j, 0))
    for i in range(j):
        scale = load(buffer, (at.input_scale + i, 0))
        size = maximum(absolute(load(buffer, (row + i, 0))) * scale, size)
    return size


@kernel(inline=True)
def update_input_scale(buffer, at, n):
    """scale_j ← max(|v_j|, 0.75 scale_j) for every coordinate with v_j ≠ 0."""
    for j in range(n):
        new = absolute(load(buffer, (at.v + j, 0)))
        old = load(buffer, (at.input_scale + j, 0))
        scale = select_greater(new, 0.0, maximum(new, old * SCALE_DECAY), old)
        store(buffer, (at.input_scale + j, 0), scale)


@kernel(inline=True)
def _dot(buffer, at, row, j):
    """(Uᵀv)_j = v_j + Σ_i U_ij v_i into ``gain``; column j of U begins at ``row``."""
    f = load(buffer, (at.v + j, 0))
    for i in range(j):
        f = f + load(buffer, (row + i, 0)) * load(buffer, (at.v + i, 0))
    store(buffer, (at.gain + j, 0), f)


@kernel(inline=True)
def _four_dots(buffer, at, row, j):
    """``_dot`` for j to j + 3: additions to a single sum wait for each other."""
    p, q, r, s = row, row + j, row + 2 * j + 1, row + 3 * j + 3
    v_0, v_1 = load(buffer, (at.v + j, 0)), load(buffer, (at.v + j + 1, 0))
    v_2, v_3 = load(buffer, (at.v + j + 2, 0)), load(buffer, (at.v + j + 3, 0))
    a, b, c, d = v_0, v_1, v_2, v_3
    for i in range(j):
        v = load(buffer, (at.v + i, 0))
        a = a + load(buffer, (p + i, 0)) * v
        b = b + load(buffer, (q + i, 0)) * v
        c = c + load(buffer, (r + i, 0)) * v
        d = d + load(buffer, (s + i, 0)) * v
    b = b + load(buffer, (q + j, 0)) * v_0
    c = c + load(buffer, (r + j, 0)) * v_0
    c = c + load(buffer, (r + j + 1, 0)) * v_1
    d = d + load(buffer, (s + j, 0)) * v_0
    d = d + load(buffer, (s + j + 1, 0)) * v_1
    d = d + load(buffer, (s + j + 2, 0)) * v_2
    store(buffer, (at.gain + j, 0), a)
    store(buffer, (at.gain + j + 1, 0), b)
    store(buffer, (at.gain + j + 2, 0), c)
    store(buffer, (at.gain + j + 3, 0), d)


@kernel(inline=True)
def _pivot(buffer, at, row, j, n, alpha, inverse_alpha):
    """Forget and update D_j; gain_j becomes g = D_j (Uᵀv)_j."""
    before = load(buffer, (at.d + j, 0)) * load(buffer, (at.round_growth, 0))
    d, f = before, load(buffer, (at.gain + j, 0))
    g = d * f
    if any_at_least(NOISE_CHECK, g * f):
        d, f = _bounded_pivot(buffer, at, row, j, n, d, f)
        g = d * f
    store(buffer, (at.gain + j, 0), g)
    store(buffer, (at.ratio + j, 0), -1.0 * f * inverse_alpha)
    left = alpha
    alpha = alpha + g * f
    inverse_alpha = 1.0 / alpha
    after = maximum(d * (left * inverse_alpha), TINY)
    store(buffer, (at.d + j, 0), select_greater(absolute(f), 0.0, after, before))
    return alpha, inverse_alpha


@kernel(inline=True)
def any_at_least(limit, x):
    """Whether any lane is at least ``limit``, or NaN."""
    return any_greater(select_greater(limit, x, 0.0, 1.0), 0.0)


@kernel(inline=True)
def _bounded_pivot(buffer, at, row, j, n, d, f):
    """(d, f) as in kernels/ud_factor.py, in lanes that pass the noise check."""
    checked = d * f * f
    f = _finite_dot(buffer, at, row, j)
    v, square = load(buffer, (at.v + j, 0)), d * f * f
    noise = select_greater(NOISE_CHECK, square, 0.0, _rounding(buffer, at, row, j, n))
    span = _span_limit(buffer, at, row, j, n)
    noise = maximum(
        noise, select_greater(is_unlearnt(buffer, at, j, d), 0.0, span, 0.0)
    )
    first = minimum(LARGEST_FLOAT**0.5 / v / v, MAX_PIVOT)
    pivot = select_greater(d, LARGEST_FLOAT, first, d)
    pivot = select_greater(pivot * f * f, MAX_PIVOT, MAX_PIVOT / f / f, pivot)
    pivot = select_greater(absolute(f), noise, pivot, 0.0)
    signal = select_greater(absolute(f), noise, f, 0.0)
    pivot = select_greater(NOISE_CHECK, checked, d, pivot)
    return pivot, select_greater(NOISE_CHECK, checked, f, signal)


@kernel(inline=True)
def _finite_dot(buffer, at, row, j):
    """``_dot`` without the entries of U that have overflowed, which become 0."""
    f = load(buffer, (at.v + j, 0))
    for i in range(j):
        u = load(buffer, (row + i, 0))
        u = select_greater(np.inf, absolute(u), u, 0.0)
        store(buffer, (row + i, 0), u)
        f = f + u * load(buffer, (at.v + i, 0))
    return select_greater(np.inf, absolute(f), f, 0.0)


@kernel(inline=True)
def clip(value, limit):
    """``clip`` of kernels/ud_factor.py, lane by lane."""
    return maximum(minimum(value, limit), -limit)


@kernel(inline=True)
def _rounding(buffer, at, row, j, n):
    """What rounding may put into (Uᵀv)_j: 4nε Σ|U_ij v_i|."""
    total = absolute(load(buffer, (at.v + j, 0)))
    for i in range(j):
        product = load(buffer, (row + i, 0)) * load(buffer, (at.v + i, 0))
        total = total + absolute(product)
    return 4 * n * EPS * total


@kernel(inline=True)
def is_unlearnt(buffer, at, j, d):
    """1 in lanes where nothing was learnt about direction j yet, else 0."""
    scale = load(buffer, (at.input_scale + j, 0))
    is_large = select_greater(MAX_LEARNT, d * scale * scale, 0.0, 1.0)
    ridge = load(buffer, (at.ridge + j, 0))
    return select_greater(ridge, NEGLIGIBLE_RIDGE, 0.0, is_large)


@kernel(inline=True)
def _span_limit(buffer, at, row, j, n):
    """Up to which |(Uᵀv)_j| v counts as lying in the span of earlier rows."""
    share = absolute(load(buffer, (at.v + j, 0)))
    share = share / load(buffer, (at.input_scale + j, 0))
    for i in range(j):
        scale = load(buffer, (at.input_scale + i, 0))
        excited = absolute(load(buffer, (at.v + i, 0))) / scale
        share = select_greater(scale, 0.0, maximum(excited, share), share)
    return min_new_share(n, EPS) * (column_size(buffer, at, row, j) * share)


@kernel(inline=True)
def _sweep(buffer, at, row, j):
    """U_ij ← U_ij + ratio_j g_i and g_i ← g_i + g_j U_ij, for i < j."""
    g, ratio = load(buffer, (at.gain + j, 0)), load(buffer, (at.ratio + j, 0))
    for i in range(j):
        gain_i = load(buffer, (at.gain + i, 0))
        gain_i = _update_entry(buffer, row + i, gain_i, g, ratio)
        store(buffer, (at.gain + i, 0), gain_i)


@kernel(inline=True)
def _four_sweeps(buffer, at, row, j):
    """``_sweep`` for j to j + 3 together, which loads and stores the gain once."""
    p, q, r, s = row, row + j, row + 2 * j + 1, row + 3 * j + 3
    a, ratio_a = load(buffer, (at.gain + j, 0)), load(buffer, (at.ratio + j, 0))
    b, ratio_b = load(buffer, (at.gain + j + 1, 0)), load(buffer, (at.ratio + j + 1, 0))
    c, ratio_c = load(buffer, (at.gain + j + 2, 0)), load(buffer, (at.ratio + j + 2, 0))
    d, ratio_d = load(buffer, (at.gain + j + 3, 0)), load(buffer, (at.ratio + j + 3, 0))
    for i in range(j):
        gain_i = load(buffer, (at.gain + i, 0))
        gain_i = _update_entry(buffer, p + i, gain_i, a, ratio_a)
        gain_i = _update_entry(buffer, q + i, gain_i, b, ratio_b)
        gain_i = _update_entry(buffer, r + i, gain_i, c, ratio_c)
        gain_i = _update_entry(buffer, s + i, gain_i, d, ratio_d)
        store(buffer, (at.gain + i, 0), gain_i)
    a = _update_entry(buffer, q + j, a, b, ratio_b)
    a = _update_entry(buffer, r + j, a, c, ratio_c)
    b = _update_entry(buffer, r + j + 1, b, c, ratio_c)
    store(buffer, (at.gain + j, 0), _update_entry(buffer, s + j, a, d, ratio_d))
    store(buffer, (at.gain + j + 1, 0), _update_entry(buffer, s + j + 1, b, d, ratio_d))
    store(buffer, (at.gain + j + 2, 0), _update_entry(buffer, s + j + 2, c, d, ratio_d))


@kernel(inline=True)
def _update_entry(buffer, row, gain_i, g, ratio):
    """Update one entry u of U; returns gain_i with what u adds to it."""
    u = load(buffer, (row, 0))
    store(buffer, (row, 0), u + ratio * gain_i)
    return gain_i + g * u
