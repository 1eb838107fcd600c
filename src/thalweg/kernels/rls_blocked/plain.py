"""Blocks without a ridge to keep: P itself in factors, and θ as a column beside them.

P = Uᵀ D U and z = Uθ. The rows of a block pass through U with y beside them
(eliminate.py). Forgetting is left to the weights: within a block a row weighs w over
what is left by then of the information at the start, which stays as it is.
"""

import math

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.rls_blocked.eliminate import eliminate
from thalweg.kernels.rls_blocked.safe import block_end, look_ahead, note
from thalweg.kernels.rls_blocked.triangles import inverse, lanes, padded
from thalweg.kernels.simd import WIDTH
from thalweg.kernels.ud_factor import diagonal
from thalweg.kernels.windup import TINY

LONGEST = 32
"""Rounds in a block. More are no faster, and at n = 128 would leave the cache."""


@kernel(ieee_division=True, nogil=True)
def play(theta, factor, gamma, spare, rounds, t):
    """Play blocks from round t on for as long as they are safe; where they end.

    ``spare`` is 0 without a kept ridge, else the ridge with which ``top_up`` leaves a
    coordinate alone: blocks are then safe where all coordinates have more.
    """
    n, k = theta.shape
    bound, ahead = np.empty(n), look_ahead(n, LONGEST)
    diagonal(factor, bound)
    end = _end(factor, bound, gamma, spare, rounds, t, ahead)
    if end == t:
        return t
    pivots, held = _information(theta, factor)
    said = held.shape[1]
    rows, weights = np.zeros((LONGEST, padded(said + lanes(k)))), np.empty(LONGEST)
    minus, gains = np.empty((LONGEST, WIDTH)), np.empty((LONGEST, WIDTH))
    while end > t:
        count = end - t
        _fill(rows, rounds.x, rounds.y, t, count, len(pivots))
        for s in range(count):
            weights[s] = ahead.weight[s] / ahead.left[s]
        eliminate(pivots, held, rows[:count], weights, minus, gains)
        for s in range(count):
            _reveal(rows[s, said : said + k], ahead.weight[s], rounds, t + s)
            if spare > 0:
                _forget_ridge(factor, ahead.discount[s])
        note(factor, ahead, count)
        for i in range(n):
            pivots[i] *= ahead.left[count - 1]
            bound[i] /= ahead.left[count - 1]
        t = end
        end = _end(factor, bound, gamma, spare, rounds, t, ahead)
        if end == t < len(rounds.y):
            # By now the bound may be far above C_kk.
            _variances(pivots, held, bound)
            end = _end(factor, bound, gamma, spare, rounds, t, ahead)
    _covariance(pivots, held, theta, factor)
    return t


@kernel
def _end(factor, bound, gamma, spare, rounds, t, ahead):
    """The end of the next safe block, in which no ridge falls below ``spare``."""
    n = factor.shape[1]
    end = block_end(factor, bound, gamma, rounds, t, ahead)
    if end > t and spare > 0 and factor[n + 1].min() * ahead.left[end - t - 1] < spare:
        return t
    return end


@kernel
def _forget_ridge(factor, discount):
    n = factor.shape[1]
    for k in range(n):
        factor[n + 1, k] = max(factor[n + 1, k] * discount, TINY)


@kernel
def _fill(rows, x, y, t, count, aside):
    """(x, y, 0) of every round, y from the column ``aside`` on."""
    n, k = x.shape[1], y.shape[1]
    for s in range(count):
        for i in range(n):
            rows[s, i] = x[t + s, i]
        for i in range(n, rows.shape[1]):
            rows[s, i] = 0.0
        for j in range(k):
            rows[s, aside + j] = y[t + s, j]


@kernel
def _reveal(said, weight, rounds, r):
    """The prediction of round r, of which ``said`` is the negative, and its loss."""
    rounds.loss[r], root = 0.0, math.sqrt(weight)
    for j in range(len(said)):
        rounds.out[r, j] = -said[j]
        error = root * (rounds.y[r, j] + said[j])
        rounds.loss[r] += 0.5 * error * error


@kernel(ieee_division=True)
def _information(theta, factor):
    """D, and (U, z) of P = Uᵀ D U, z = Uθ; padded by features that are always 0."""
    n, k = theta.shape
    p = lanes(n)
    pivots, held = np.ones(p), np.zeros((p, p + lanes(k)))
    for i in range(p):
        held[i, i] = 1.0
    inverse(factor, held)
    for i in range(n):
        pivots[i] = 1 / factor[i, i]
        for j in range(i, n):
            for target in range(k):
                held[i, p + target] += held[i, j] * theta[j, target]
    return pivots, held


@kernel(ieee_division=True)
def _covariance(pivots, held, theta, factor):
    """θ and the packed factor of C = P⁻¹, from what ``_information`` gave."""
    (n, k), p = theta.shape, len(pivots)
    rows = _inverse(held, n)
    theta.fill(0)
    for j in range(n):
        factor[j, j] = 1 / pivots[j]
        for i in range(j):
            factor[j, i] = rows[i, j]
        for i in range(j + 1):
            for target in range(k):
                theta[i, target] += rows[i, j] * held[j, p + target]


@kernel(ieee_division=True)
def _variances(pivots, held, out):
    """C_kk = Σ_j (U⁻¹)_kj² / D_j."""
    rows = _inverse(held, len(out))
    for k in range(len(out)):
        out[k] = 0
        for j in range(k, len(out)):
            out[k] += rows[k, j] * rows[k, j] / pivots[j]


@kernel
def _inverse(held, n):
    packed, rows = np.zeros((n, n)), np.zeros((n, padded(n)))
    for j in range(n):
        rows[j, j] = 1.0
        for i in range(j):
            packed[j, i] = held[i, j]
    inverse(packed, rows)
    return rows
