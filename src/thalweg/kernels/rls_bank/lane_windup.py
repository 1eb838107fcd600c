"""Covariance windup in SIMD lanes: windup.py for eight experts side by side.

With the same bits as ``cap_covariance`` there; see lane_update.py.
"""

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.simd import (
    broadcast,
    load,
    maximum,
    select_greater,
    sqrt,
    store,
)
from thalweg.kernels.rls_bank.lane_update import (
    EPS,
    LARGEST_FLOAT,
    MAX_PIVOT,
    TINY,
    any_at_least,
    column_size,
    is_unlearnt,
    update,
)
from thalweg.kernels.windup import (
    CAP_REDUCTION,
    CHECK_GROWTH,
    covariance_cap,
    max_learnt_ratio,
)

CAP = covariance_cap(EPS)
MAX_LEARNT_RATIO = max_learnt_ratio(LARGEST_FLOAT, CAP)
MAX_SAFE_VARIANCE = (1 - 1e-9) * CAP / CHECK_GROWTH
"""Where C_kk input_scale_k² is below this, ``cap_covariance`` does nothing."""


@kernel(inline=True)
def needs_cap(buffer, at, n):
    """Whether ``cap_covariance`` may have to act in a lane; resets lanes that are safe.

    In each lane: growth ← growth · round_growth; from CHECK_GROWTH on, growth ← 1 if
    every C_kk is safe.
    """
    growth = load(buffer, (at.growth, 0)) * load(buffer, (at.round_growth, 0))
    if any_at_least(CHECK_GROWTH, growth):
        reset = select_greater(_is_safe(buffer, at, n), 0.0, 1.0, growth)
        growth = select_greater(CHECK_GROWTH, growth, growth, reset)
    store(buffer, (at.growth, 0), growth)
    return any_at_least(CHECK_GROWTH, growth)


@kernel(inline=True)
def _is_safe(buffer, at, n):
    """1 in lanes where all C_kk input_scale_k² are below ``MAX_SAFE_VARIANCE``, else 0.

    C_kk = D_k + Σ_{j>k} U_kj² D_j.
    """
    safe = broadcast(1.0)
    for i in range(n):
        c, row = load(buffer, (at.d + i, 0)), at.upper + i * (i + 3) // 2
        for j in range(i + 1, n):
            u = load(buffer, (row, 0))
            c = c + u * u * load(buffer, (at.d + j, 0))
            row += j
        scale = load(buffer, (at.input_scale + i, 0))
        safe = select_greater(MAX_SAFE_VARIANCE, c * (scale * scale), safe, 0.0)
        safe = select_greater(MAX_PIVOT, c, safe, 0.0)
    return safe


@kernel(ieee_division=True)
def cap_covariance(buffer, at, n):
    """``cap_covariance`` of kernels/windup.py in the lanes that need a check.

    With the two largest ratios r, s of C_kk input_scale_k² to the cap, for the
    coordinate k of r: P ← P + w e_k e_kᵀ with w = CAP_REDUCTION input_scale_k²/cap -
    1/C_kk. Where s passes 1, and where P_0 = 0 and not all is learnt, the pivots are
    capped instead.
    In each lane it is another coordinate that is raised; in lanes that need no check v
    is 0, which changes nothing.
    """
    growth = load(buffer, (at.growth, 0))
    needs_check = select_greater(CHECK_GROWTH, growth, 0.0, 1.0)
    _bound_pivots(buffer, at, n, needs_check)
    unlearnt = select_greater(needs_check, 0.0, _any_unlearnt(buffer, at, n), 0.0)
    worst, first, second, c, scale = _two_largest(buffer, at, n)
    by_pivot = select_greater(second, 1.0, needs_check, unlearnt)
    _cap_pivots(buffer, at, n, by_pivot)
    growth = select_greater(by_pivot, 0.0, 1.0, growth)
    needs_check = select_greater(by_pivot, 0.0, 0.0, needs_check)
    checked = select_greater(1.0, second * CHECK_GROWTH, 1.0, CHECK_GROWTH)
    store(buffer, (at.growth, 0), select_greater(needs_check, 0.0, checked, growth))
    needs_ridge = select_greater(1.0, first * CHECK_GROWTH, 0.0, needs_check)
    raised = CAP_REDUCTION * scale * scale / CAP - 1.0 / c
    unit = select_greater(needs_ridge, 0.0, sqrt(raised), 0.0)
    for k in range(n):
        v = select_greater(k + 0.5, worst, unit, 0.0)  # 0 unless worst = k
        v = select_greater(worst, k - 0.5, v, 0.0)
        store(buffer, (at.v + k, 0), v)
    store(buffer, (at.round_growth, 0), 1.0)
    update(buffer, at, n)


@kernel(inline=True)
def _bound_pivots(buffer, at, n, needs_check):
    """D_j ← min(D_j, MAX_PIVOT) where it is finite, in the lanes that need a check."""
    for j in range(n):
        d = load(buffer, (at.d + j, 0))
        bounded = select_greater(d, LARGEST_FLOAT, d, MAX_PIVOT)  # infinity stays
        bounded = select_greater(d, MAX_PIVOT, bounded, d)
        store(buffer, (at.d + j, 0), select_greater(needs_check, 0.0, bounded, d))


@kernel(inline=True)
def _any_unlearnt(buffer, at, n):
    """1 in lanes where nothing was learnt about some direction yet, else 0."""
    unlearnt = broadcast(0.0)
    for j in range(n):
        d = load(buffer, (at.d + j, 0))
        unlearnt = maximum(is_unlearnt(buffer, at, j, d), unlearnt)
    return unlearnt


@kernel(inline=True)
def _cap_pivots(buffer, at, n, by_pivot):
    """As in windup.py: limit the D_j of learnt directions, in the lanes that are 1."""
    row, limit = at.upper, CAP / CHECK_GROWTH
    for j in range(n):
        size, d = column_size(buffer, at, row, j), load(buffer, (at.d + j, 0))
        row += j
        capped = maximum(limit / size / size, TINY)
        capped = select_greater(d * size * size, limit, capped, d)
        capped = select_greater(is_unlearnt(buffer, at, j, d), 0.0, d, capped)
        store(buffer, (at.d + j, 0), select_greater(by_pivot, 0.0, capped, d))


@kernel(inline=True)
def _two_largest(buffer, at, n):
    """k of the largest C_kk scale_k²/cap, this ratio, the next; its C_kk and scale."""
    worst, first, second = broadcast(-1.0), broadcast(0.0), broadcast(0.0)
    worst_c, worst_scale = broadcast(1.0), broadcast(1.0)
    for k in range(n):
        c, row = load(buffer, (at.d + k, 0)), at.upper + k * (k + 3) // 2
        for j in range(k + 1, n):
            u, d = load(buffer, (row, 0)), load(buffer, (at.d + j, 0))
            c = c + select_greater(d, LARGEST_FLOAT, 0.0, u * u * d)
            row += j
        scale = load(buffer, (at.input_scale + k, 0))
        ratio = c * (scale * scale) / CAP
        ridge = load(buffer, (at.ridge + k, 0))
        limit = select_greater(ridge, 0.0, np.inf, MAX_LEARNT_RATIO)
        ratio = select_greater(limit, ratio, ratio, 0.0)
        second = select_greater(ratio, first, first, maximum(ratio, second))
        worst = select_greater(ratio, first, float(k), worst)
        worst_c = select_greater(ratio, first, c, worst_c)
        worst_scale = select_greater(ratio, first, scale, worst_scale)
        first = maximum(ratio, first)
    return worst, first, second, worst_c, worst_scale
