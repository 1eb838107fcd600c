"""The worst interval against the best point of a domain: inner loops of adaptive.py.

Without a domain the triangles of kernels/hindsight/intervals.py give the regret of all
intervals; within one, each takes a solver (constrained_least_squares.py). It is called
only where the regret may be larger than the worst so far: that without the domain is an
upper bound, and so is that of the same interval less its last round, plus the regret
of the last round alone, since the least loss of a whole is at least that of its parts.
"""

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.hindsight.constrained_least_squares import (
    distance_to_domain,
    least_loss_in_domain,
)
from thalweg.kernels.hindsight.intervals import (
    BATCH_SIZE,
    count_full,
    insert_round,
    insert_row,
)


@kernel
def worst_interval_in_domain(x, y, loss, before, after, radius, low, high, best):
    """max over a ≤ b of before[a] + regret[a..b] + after[b], where it exceeds ``best``.

    Returns (upper, lower, a, b): all regrets are at most the larger of upper and
    ``best``, that of a..b is at least lower. Where none exceeds ``best``, both bounds
    are -inf. Shapes: x (T, m, n), y (T, m, 1) or, for a loss ½‖θ - y‖², x (T, 1, 1)
    and y (T, 1, n); loss, before, after (T,), low, high (n,).
    """
    T, n = len(loss), x.shape[2]
    width = n + y.shape[2]
    found, attained, first, last = -np.inf, -np.inf, 0, 0
    triangle, row = np.empty((n, width, BATCH_SIZE)), np.empty((width, BATCH_SIZE))
    regret, bound, mu = np.empty((3, BATCH_SIZE))
    angles, guess = np.empty((2, BATCH_SIZE)), np.empty((low.size, BATCH_SIZE))
    own_triangle, own_row = np.empty((n, width)), np.empty(width)
    theta, work = np.empty(low.size), np.empty((n + 4, n + 1))
    least = _least_losses(x, y, radius, low, high)
    for start in range(0, T, BATCH_SIZE):
        lanes = min(BATCH_SIZE, T - start)
        triangle[:], bound[:], guess[:], mu[:] = 0, np.inf, 0, 0
        regret[:lanes] = before[start : start + lanes]
        full = 0
        for t in range(start, T):
            started = min(lanes, t - start + 1)
            full = count_full(triangle, full, started)
            for a in range(started):
                regret[a] += loss[t]
            insert_round(
                triangle, row, regret, x[t], y[t], angles, full, started,
                own_triangle, own_row,
            )  # fmt: skip
            for a in range(started):
                bound[a] = min(bound[a] + (loss[t] - least[t]), regret[a])
                if bound[a] + after[t] <= best:
                    continue
                own_triangle[:], theta[:] = triangle[:, :, a], guess[:, a]
                upper, lower, mu[a] = _least_loss(
                    own_triangle, radius, low, high, theta, mu[a], work
                )
                guess[:, a] = theta
                bound[a] = regret[a] - lower
                if bound[a] + after[t] > best:
                    best = found = bound[a] + after[t]
                    attained = regret[a] - upper + after[t]
                    first, last = start + a, t
    return found, attained, first, last


@kernel
def worst_prefix_in_domain(x, y, loss, radius, low, high):
    """max over b of regret[0..b], as (upper, lower, b); shapes as above."""
    n = x.shape[2]
    width = n + y.shape[2]
    triangle, row = np.zeros((n, width)), np.empty(width)
    theta, work, mu = np.zeros(low.size), np.empty((n + 4, n + 1)), 0.0
    least = _least_losses(x, y, radius, low, high)
    found, attained, last = -np.inf, -np.inf, 0
    regret, bound = 0.0, np.inf
    for t in range(len(loss)):
        regret += loss[t]
        for h in range(x.shape[1]):
            row[:n] = x[t, h]
            row[n:] = y[t, h]
            regret -= insert_row(triangle, row, n)
        bound = min(bound + (loss[t] - least[t]), regret)
        if bound <= found:
            continue
        upper, lower, mu = _least_loss(triangle, radius, low, high, theta, mu, work)
        bound = regret - lower
        if bound > found:
            found, attained, last = bound, regret - upper, t
    return found, attained, last


@kernel
def _least_losses(x, y, radius, low, high):
    """A lower bound on the least loss of each round by itself, shape (T,)."""
    T, m, n = x.shape
    width = n + y.shape[2]
    triangle, row = np.empty((n, width)), np.empty(width)
    theta, work = np.empty(low.size), np.empty((n + 4, n + 1))
    out = np.empty(T)
    for t in range(T):
        triangle[:], theta[:] = 0, 0
        out[t] = 0.0
        for h in range(m):
            row[:n] = x[t, h]
            row[n:] = y[t, h]
            out[t] += insert_row(triangle, row, n)
        out[t] += _least_loss(triangle, radius, low, high, theta, 0.0, work)[1]
    return out


@kernel
def _least_loss(triangle, radius, low, high, theta, mu, work):
    """``least_loss_in_domain``, or its short form where θ has one feature, 1."""
    if triangle.shape[1] > triangle.shape[0] + 1:
        distance = distance_to_domain(triangle, radius, low, high)
        return distance, distance, mu
    return least_loss_in_domain(triangle, radius, low, high, theta, mu, work)
