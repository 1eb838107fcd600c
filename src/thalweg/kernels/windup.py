"""Covariance windup: what keeps P from vanishing in a direction that nothing excites.

Forgetting multiplies C = P⁻¹ by 1/γ in every round, and only data shrink it again: in a
direction without excitation C grows without bound (covariance windup, estimator
windup), until rounding rules it and the next excitation makes θ jump.

``cap_covariance`` is always on: it acts only where C_kk passes a limit that excited
data never reach. ``restore_ridge`` retains a ridge that forgetting would take away.
Both add w e_k e_kᵀ to P for the coordinates that lack it most: O(n²), and the same
whatever the order of the features. Only where P_0 = 0 and a direction is not learnt yet
the cap limits D_j itself. docs/derivations/ud-factorisation.md says why that
is enough, docs/decisions/recursive-least-squares.md what else was tried.

The limits here are the only ones: rls_bank, rls_blocked and models/health.py import
them.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import inner_function, kernel
from thalweg.kernels.ud_factor import (
    GROWTH,
    INPUT_SCALE,
    NEGLIGIBLE_RIDGE,
    RETAINED_RIDGE,
    clip,
    column_size,
    covariance_diagonal,
    is_unlearnt,
    learn,
    max_coefficient,
    max_learnt_variance,
    max_pivot,
)

CHECK_GROWTH = 1.5
"""``cap_covariance`` checks C each time forgetting has multiplied it by this."""
CAP_REDUCTION = 4.0
"""A direction that has passed its limit is brought back to the limit over this."""
MAX_RAISED = 8
"""Upper limit of the coordinates that ``restore_ridge`` raises in a round."""
GAP_DISCOUNT = 0.5
"""A round that leaves less than γ times this of the past comes after a gap."""
RIDGE_SHARE = 0.1
"""A coordinate counts as unexcited where this part of its information is ridge."""
TIE_TOLERANCE = 1e-9
"""Ridge deficits whose relative difference is smaller count as equal."""
MIN_RIDGE = NEGLIGIBLE_RIDGE
"""Lower limit of a ridge that is not restored: 0 would mean that P_0 was 0."""


@inner_function
def covariance_cap(eps):
    """The limit of C_kk input_scale_k²: ε^(-3/4), ε the rounding unit of the dtype.

    Beyond it what rounding puts into an unexcited direction would no longer be small
    beside what the data put there. In float64 it is 5·10¹¹.
    """
    return eps**-0.75


@inner_function
def max_learnt_ratio(largest, cap):
    """The ratio of C_kk input_scale_k² to the cap above which k was never learnt.

    It applies where P_0 = 0.
    """
    return max_learnt_variance(largest) / cap


@kernel(inline=True)
def cap_covariance(factor, c, unit):
    """Keep C_kk input_scale_k² below ``covariance_cap``.

    θ is left alone. Where several coordinates pass the limit at once, as large features
    do in the first rounds, the pivots D_j are limited. c and unit are (n,) to work in.
    """
    if factor[GROWTH, 0] >= CHECK_GROWTH:
        _check_covariance(factor, c, unit)


@kernel
def _check_covariance(factor, c, unit):
    n = factor.shape[1]
    _bound_pivots(factor)
    if _has_unlearnt(factor):
        _cap_pivots(factor)
        return
    covariance_diagonal(factor, c)
    cap = covariance_cap(np.finfo(factor.dtype).eps)
    learnt_limit = max_learnt_ratio(np.finfo(factor.dtype).max, cap)
    # The two largest C_kk input_scale_k² / cap. The index is n if one is missing: the
    # compiler would take -1 for a type of its own, and compile all callees twice.
    worst, first, second = n, 0.0, 0.0
    for k in range(n):
        scale = factor[INPUT_SCALE, k]
        ratio = c[k] * (scale * scale) / cap
        limit = learnt_limit if factor[RETAINED_RIDGE, k] == 0 else np.inf
        if first < ratio < limit:
            worst, first, second = k, ratio, first
        elif second < ratio < limit:
            second = ratio
    # To scale C as a whole back would let rows just learnt weigh more than their due.
    if second > 1:
        _cap_pivots(factor)
        return
    # One coordinate is raised at a time: check again next round if another one waits.
    factor[GROWTH, 0] = 1.0 if second * CHECK_GROWTH < 1 else CHECK_GROWTH
    if first * CHECK_GROWTH < 1:
        return
    scale = factor[INPUT_SCALE, worst]
    raised = CAP_REDUCTION * scale * scale / cap - 1 / c[worst]
    _add_ridge(factor, worst, raised, unit, c)


@kernel
def _bound_pivots(factor):
    """Limit every finite D_j to ``max_pivot``, which stands for infinity.

    Such a D_j is what is left of P_0 = 0, and need not grow further.
    """
    largest = max_pivot(np.finfo(factor.dtype).max)
    for j in range(factor.shape[1]):
        if largest < factor[j, j] < np.inf:
            factor[j, j] = largest


@kernel
def _has_unlearnt(factor):
    """Whether P_0 = 0 and some direction is not learnt yet."""
    for j in range(factor.shape[1]):
        if is_unlearnt(factor, j):
            return True
    return False


@kernel
def _cap_pivots(factor):
    """Keep D_j max_i(U_ij input_scale_i)² below the cap in the directions learnt.

    While others are not learnt, w e_k e_kᵀ would count as the first row with
    information on these. Here P grows only within the span of the rows. Directions that
    are known do not change.
    """
    limit = covariance_cap(np.finfo(factor.dtype).eps) / CHECK_GROWTH
    for j in range(factor.shape[1]):
        if not is_unlearnt(factor, j):
            size = column_size(factor, j)
            if factor[j, j] * size * size > limit:
                factor[j, j] = max(limit / size / size, np.finfo(factor.dtype).tiny)
    factor[GROWTH, 0] = 1.0


@inner_function
def raised_coordinates(n, gamma):
    """⌈2n(1-γ)⌉: the coordinates that ``restore_ridge`` raises in a round.

    So each has two turns in a memory of 1/(1-γ) rounds; no more than ``MAX_RAISED``.
    """
    return min(max(math.ceil(2 * n * (1 - gamma)), 1), MAX_RAISED)


@inner_function
def is_gap(discount, gamma):
    """Whether a round with this discount comes after a gap."""
    return discount < GAP_DISCOUNT * gamma


@kernel
def restore_ridge(theta, factor, discount, gamma, ridge, leaky, c, unit):
    """Give back to P the ridge it has forgotten most harmfully, w e_k e_kᵀ at a time.

    ``raised_coordinates`` have their turn in a round: O(n²). A memory too short for
    that is made longer, by taking back part of this round's forgetting, ``discount``.
    After a gap that would multiply the row just learnt too, so that all coordinates
    have their turn then: O(n³).
    With ``leaky`` (leaky RLS), θ moves to what minimises the sum with the ridge on θ_k
    itself, as if 0 had been observed. theta is (n, k); c and unit are (n,) to work in.
    """
    n = factor.shape[1]
    covariance_diagonal(factor, c)
    unexcited = 0  # coordinates whose information is ridge, to be raised in turn
    for k in range(n):
        factor[RETAINED_RIDGE, k] = max(factor[RETAINED_RIDGE, k] * discount, MIN_RIDGE)
        unexcited += c[k] * ridge > RIDGE_SHARE
    turns = n if is_gap(discount, gamma) else raised_coordinates(n, gamma)
    limit = theta.dtype.type(max_coefficient(np.finfo(theta.dtype).max))
    # Until its next turn the ridge of an unexcited coordinate falls by a factor of
    # γ^(unexcited/turns), or of 4 where forgetting is taken back. The target is above
    # δ, so that δ is the mean.
    target = ridge * min(gamma ** (-0.5 * unexcited / turns), 2.0)
    for _ in range(turns):
        worst, _ = _weakest_coordinate(factor, target, c)
        if worst < 0:
            return
        raised = target - factor[RETAINED_RIDGE, worst]
        factor[RETAINED_RIDGE, worst] = target
        _add_ridge(factor, worst, raised, unit, c)
        if leaky:
            for j in range(theta.shape[1]):
                step = math.sqrt(raised) * theta[worst, j]
                for i in range(n):
                    theta[i, j] = clip(theta[i, j] - c[i] * step, limit)
    _, deficit = _weakest_coordinate(factor, target, c)
    if deficit > 1:
        back = max(1 / deficit, discount)
        tiny = np.finfo(factor.dtype).tiny
        for j in range(n):
            factor[j, j] = max(factor[j, j] * back, tiny)
            factor[RETAINED_RIDGE, j] /= back


@kernel
def _weakest_coordinate(factor, target, c):
    """The k with the largest ridge deficit (target - r_k) C_kk, or -1; and the deficit.

    The deficit is what forgetting has taken of the ridge, in units of the information
    1/C_kk that is there.
    """
    n = factor.shape[1]
    covariance_diagonal(factor, c)
    largest = 0.0
    for k in range(n):
        deficit = (target - factor[RETAINED_RIDGE, k]) * c[k]
        if largest < deficit < np.inf:
            largest = deficit
    # Of coordinates with equal deficits the first is taken: rounding does not choose.
    for k in range(n):
        deficit = (target - factor[RETAINED_RIDGE, k]) * c[k]
        if largest > 0 and largest * (1 - TIE_TOLERANCE) <= deficit < np.inf:
            return k, largest
    return -1, 0.0


@kernel
def _add_ridge(factor, k, weight, unit, gain):
    """P ← P + w e_k e_kᵀ; the input scale of k stays, since this is no observation."""
    unit.fill(0)
    unit[k] = math.sqrt(weight)
    scale = factor[INPUT_SCALE, k]
    learn(factor, unit, gain)
    factor[INPUT_SCALE, k] = scale
