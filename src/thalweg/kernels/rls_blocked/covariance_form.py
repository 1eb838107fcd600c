"""Blocks of rounds with a retained ridge, in covariance form.

``restore_ridge`` of windup.py raises the weakest coordinates round after round, and
which these are depends on every C_kk at that moment. So the covariance is there at
every moment, if not in one piece (``LazyCovariance``):

    C_t = scale (C - Σ_s r_s r_sᵀ)

with C as it was when a block began, and one row r_s for each v learnt since. A column
of C_t costs O(n) for every such row, C_kk nothing. At the end of the block all rows
enter C together, which costs a third of what they would one by one. Each step is the
one that ``restore_ridge`` takes. docs/derivations/blocked-rls.md
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.simd import WIDTH, broadcast, load, maximum, reduce_max
from thalweg.kernels.rls_blocked.block_limits import (
    allocate_preview,
    applied_discount,
    block_end,
    is_well_conditioned,
    update_scale_rows,
)
from thalweg.kernels.rls_blocked.triangular import (
    dense_covariance,
    factorise_covariance,
    information_diagonal,
    inner_product,
    multiply_transposed,
    row_products,
    subtract_rows,
    subtract_squares,
    whole_lanes,
)
from thalweg.kernels.ud_factor import RETAINED_RIDGE
from thalweg.kernels.windup import (
    MIN_RIDGE,
    RIDGE_SHARE,
    TIE_TOLERANCE,
    is_gap,
    raised_coordinates,
)

MAX_ROWS = 32
"""Upper limit of the rows that a block learns."""
MAX_RESTORED_ROUNDS = 64
"""Upper limit of the rounds in which ``restore_ridge`` takes forgetting back: each of
them multiplies the rounding that is there already."""
CHOICE_MARGIN = TIE_TOLERANCE / 2
"""A comparison closer than this, relative to its sides, may fall out differently."""


class LazyCovariance(NamedTuple):
    """A covariance, and the rows that are still to enter it.

    w is n in whole lanes, an odd number of them; what is beyond n is 0.
    """

    covariance: Any  # (w, w) C
    variance: Any  # (w,) C_kk now, but for ``scale``
    rows: Any  # (MAX_ROWS, w) r_s
    coefficients: Any  # (MAX_ROWS,) to work in


@kernel
def lazy_covariance(factor):
    """The covariance of a packed factor, and no rows."""
    covariance = dense_covariance(factor)
    width = len(covariance)
    rows, coefficients = np.zeros((MAX_ROWS, width)), np.empty(MAX_ROWS)
    lazy = LazyCovariance(covariance, np.empty(width), rows, coefficients)
    merge_rows(lazy, 0, 1.0)
    return lazy


@kernel
def initial_gains(lazy, x, start, end):
    """C x of every round from start to end, a row each, before a block begins.

    These are gains but for their normalisation and for the rows of the block.
    """
    across = np.zeros((len(lazy.covariance), whole_lanes(end - start)))
    for t in range(start, end):
        for i in range(x.shape[1]):
            across[i, t - start] = x[t, i]
    gains = np.empty((across.shape[1], len(lazy.covariance)))
    multiply_transposed(across, lazy.covariance, gains)
    return gains


@kernel
def subtract_row_gains(lazy, count, v, gain):
    """Turn Cv into (C - Σ_s r_s r_sᵀ) v, in place."""
    row_products(lazy.rows, count, v, lazy.coefficients)
    subtract_rows(lazy.rows, count, lazy.coefficients, gain)


@kernel
def covariance_column(lazy, count, k, gain):
    """(C - Σ_s r_s r_sᵀ) e_k into ``gain``."""
    covariance, rows, coefficients = lazy.covariance, lazy.rows, lazy.coefficients
    for i in range(len(gain)):
        gain[i] = covariance[k, i]
    for s in range(count):
        coefficients[s] = rows[s, k]
    subtract_rows(rows, count, coefficients, gain)


@kernel(ieee_division=True)
def append_row(lazy, count, gain, leverage, weight):
    """P ← P + w vvᵀ, given the unnormalised ``gain`` of v and leverage = v·gain.

    w includes ``scale``. The row goes to place ``count``. Returned is a, with which
    a gain = w C_t v for the C_t after it.
    """
    normalisation = weight / (1 + weight * leverage)
    root, rows, variance = math.sqrt(normalisation), lazy.rows, lazy.variance
    for i in range(len(gain)):
        r = root * gain[i]
        rows[count, i] = r
        variance[i] -= r * r
    return normalisation


@kernel
def merge_rows(lazy, count, scale):
    """C ← scale (C - Σ_s r_s r_sᵀ), and no rows."""
    subtract_squares(lazy.covariance, lazy.rows, count, scale)
    for k in range(len(lazy.variance)):
        lazy.variance[k] = lazy.covariance[k, k]


class RidgeSettings(NamedTuple):
    """The settings of ``restore_ridge``."""

    size: Any  # δ
    leaky: Any
    gamma: Any
    turns: Any  # how many coordinates it raises in a round


class BlockState(NamedTuple):
    """The state of a block without its covariance; w as in ``LazyCovariance``."""

    targets: Any  # (k, w) θ by target
    information: Any  # (n,) P_kk
    ridge: Any  # (w,) how much of P_kk is ridge
    v: Any  # (w,) a round's features
    restored_rounds: Any  # (1,) those in which forgetting was taken back


@kernel
def max_target_ratio(n, gamma):
    """The largest target of ``restore_ridge`` over δ: all coordinates are unexcited."""
    turns = raised_coordinates(n, gamma)
    return 2.0 if gamma <= 0.5 ** (2 * turns / n) else gamma ** (-0.5 * n / turns)


@kernel(ieee_division=True, nogil=True)
def play_covariance_blocks(theta, factor, gamma, floor, leaky, rounds, t):
    """Play blocks from round t on while they are safe.

    Returned are where they end and whether they equal single rounds. If not, a choice
    of ``restore_ridge`` was too close for certainty, or forgetting was taken back too
    often: θ, factor and results are then invalid.
    """
    n, started = len(theta), t
    ridge = RidgeSettings(floor, leaky, gamma, raised_coordinates(n, gamma))
    ahead = allocate_preview(n, MAX_ROWS // (1 + ridge.turns))
    lazy = lazy_covariance(factor)
    state = _block_state(theta, factor, lazy)
    while True:
        end = block_end(factor, lazy.variance, gamma, rounds, t, ahead)
        if end == t or not _is_exact(lazy, state, ahead, floor, end - t):
            break
        if not _play_block(lazy, state, ridge, ahead, rounds, t, end):
            return end, False
        update_scale_rows(factor, ahead, end - t)
        t = end
    if t > started:
        for i in range(n):
            factor[RETAINED_RIDGE, i] = state.ridge[i]
            for j in range(theta.shape[1]):
                theta[i, j] = state.targets[j, i]
        factorise_covariance(lazy.covariance, factor)
    return t, True


@kernel
def _block_state(theta, factor, lazy):
    (n, k), width = theta.shape, len(lazy.variance)
    information, targets, ridge = np.empty(n), np.zeros((k, width)), np.zeros(width)
    information_diagonal(factor, information)
    for i in range(n):
        ridge[i] = factor[RETAINED_RIDGE, i]
        for j in range(k):
            targets[j, i] = theta[i, j]
    return BlockState(
        targets, information, ridge, np.zeros(width), np.zeros(1, np.int64)
    )


@kernel(ieee_division=True)
def _is_exact(lazy, state, ahead, floor, size):
    """``is_well_conditioned``; no ridge is raised by more than twice δ in a round."""
    ridge = 2 * floor * (size + 1) / ahead.remaining[size - 1]
    return is_well_conditioned(state.information, lazy.variance, ahead, ridge)


@kernel(ieee_division=True)
def _play_block(lazy, state, ridge, ahead, rounds, t, end):
    """Play the rounds t to end: learn each, restore the ridge, then merge all rows.

    Returns whether every choice was certain.
    """
    gains, scale, count = initial_gains(lazy, rounds.x, t, end), 1.0, 0
    x, v, information = rounds.x, state.v, state.information
    for r in range(t, end):
        discount, weight = ahead.discount[r - t], ahead.weight[r - t]
        remaining = applied_discount(discount)
        scale /= remaining
        for i in range(len(information)):
            v[i] = x[r, i]
            information[i] = information[i] * remaining + weight * v[i] * v[i]
        gain = gains[r - t]
        subtract_row_gains(lazy, count, v, gain)
        leverage = inner_product(v, gain)
        a = append_row(lazy, count, gain, leverage, scale * weight)
        rounds.loss[r] = _learn_round(state, gain, a, weight, rounds, r)
        scale, count = _restore_ridge(
            lazy, state, ridge, discount, scale, count + 1, gain
        )
        if count < 0:
            return False
    merge_rows(lazy, count, scale)
    return state.restored_rounds[0] <= MAX_RESTORED_ROUNDS


@kernel
def _learn_round(state, gain, a, weight, rounds, r):
    """Predict round r and learn from its innovation; returns the loss."""
    loss, root, targets, out = 0.0, math.sqrt(weight), state.targets, rounds.out
    for j in range(len(targets)):
        out[r, j] = inner_product(state.v, targets[j])
        innovation = rounds.y[r, j] - out[r, j]
        for i in range(len(gain)):
            targets[j, i] += gain[i] * (a * innovation)
        loss += 0.5 * (root * innovation) * (root * innovation)
    return loss


@kernel(ieee_division=True)
def _restore_ridge(lazy, state, ridge, discount, scale, count, gain):
    """``restore_ridge`` of windup.py, step by step; returns the new scale and count.

    The count is -1 where rounding might have decided a choice, and after a gap.
    """
    if is_gap(discount, ridge.gamma):
        return scale, -1
    information, retained, variance = state.information, state.ridge, lazy.variance
    n, unexcited, uncertain = len(information), 0, 0
    for k in range(n):
        left = retained[k] * discount
        retained[k] = left if left > MIN_RIDGE else MIN_RIDGE
        share = scale * variance[k] * ridge.size
        unexcited += share > RIDGE_SHARE
        uncertain += abs(share - RIDGE_SHARE) < CHOICE_MARGIN * RIDGE_SHARE
    if uncertain and ridge.gamma < 1:  # with γ = 1 the target is δ, whatever the number
        return scale, -1
    target = ridge.size * min(ridge.gamma ** (-0.5 * unexcited / ridge.turns), 2.0)
    for _ in range(ridge.turns):
        worst, deficit = _weakest_coordinate(variance, retained, target, scale)
        if worst < 0:
            return scale, count
        own = _ridge_deficit(variance[worst], retained[worst], target, scale)
        if own < deficit * (1 - TIE_TOLERANCE + CHOICE_MARGIN):
            return scale, -1
        raised = target - retained[worst]
        retained[worst] = target
        information[worst] += raised
        covariance_column(lazy, count, worst, gain)
        a = append_row(lazy, count, gain, gain[worst], scale * raised)
        count += 1
        if ridge.leaky:
            _shrink(state.targets, gain, a, worst)
    _, deficit = _weakest_coordinate(variance, retained, target, scale)
    if deficit > 1:
        back = max(1 / deficit, discount)
        state.restored_rounds[0] += 1
        scale *= back
        for k in range(n):
            retained[k] /= back
            information[k] /= back
    return scale, count


@kernel
def _shrink(targets, gain, a, k):
    """Move θ to the minimum of the sum with the ridge on θ_k, an observation of 0."""
    for j in range(len(targets)):
        step = a * targets[j, k]
        for i in range(len(gain)):
            targets[j, i] -= gain[i] * step


@kernel
def _weakest_coordinate(variance, retained, target, scale):
    """The first k with the largest ridge deficit, or -1; and the deficit.

    Deficits that are equal but for ``TIE_TOLERANCE`` and ``CHOICE_MARGIN`` are equal.
    """
    highest = broadcast(0.0)
    for k in range(0, len(retained), WIDTH):
        deficits = _ridge_deficit(load(variance, k), load(retained, k), target, scale)
        highest = maximum(highest, deficits)
    top = reduce_max(highest)
    if top > 0:
        for k in range(len(retained)):
            deficit = _ridge_deficit(variance[k], retained[k], target, scale)
            if deficit >= top * (1 - TIE_TOLERANCE - CHOICE_MARGIN):
                return k, top
    return -1, 0.0


@kernel
def _ridge_deficit(variance, retained, target, scale):
    """(target - r_k) C_kk, of a number or of a vector."""
    return (target - retained) * (scale * variance)
