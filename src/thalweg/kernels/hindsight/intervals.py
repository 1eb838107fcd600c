"""Least squares on every interval of rounds at once: inner loops of regret/adaptive.py.

A round is m rows (x, y) of a least-squares problem. What an interval's rows
determine of the best θ is a triangle: R, upper triangular, and QᵀY beside it, so that
the least loss is ½Σ of the squares that no rotation could move into the triangle. A row
is added by n Givens rotations, which keep all squares: no ridge, and nothing is ever
subtracted.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel

BATCH_SIZE = 128
"""Starts that are computed side by side: their triangles fit the first-level cache."""
MIN_ENTRY = 64 * np.finfo(np.float64).eps
"""A first entry smaller than this part of its column is rounding: the column depends on
the ones before it."""


@kernel
def insert_row(triangle, row, n):
    """Rotate ``row`` into ``triangle``; returns ½ the squares of y that are left over.

    Shapes: triangle (n, n+k), row (n+k,) with n features; both are changed.
    """
    width = row.size
    for i in range(n):
        v = row[i]
        if v == 0:
            continue
        r = triangle[i, i]
        if r == 0 and _is_rounding(triangle, row, i, n):
            row[i] = 0
            continue
        size = math.sqrt(r * r + v * v)
        c, s = r / size, v / size
        triangle[i, i] = size
        for j in range(i + 1, width):
            above, here = triangle[i, j], row[j]
            triangle[i, j] = c * above + s * here
            row[j] = c * here - s * above
    left = 0.0
    for j in range(n, width):
        left += row[j] * row[j]
    return 0.5 * left


@kernel
def _is_rounding(triangle, row, i, n):
    """Whether row[i] is too small, beside its column above, to be a new direction."""
    square = row[i] * row[i]
    for h in range(i):
        square += triangle[h, i] * triangle[h, i]
    return abs(row[i]) <= n * MIN_ENTRY * math.sqrt(square)


@kernel
def scan_prefixes(x, y, loss, out):
    """Regret of each interval that starts with round 0, into ``out``.

    Shapes: x (T, m, n), y (T, m, k), loss (T,), out (T,). Returns the triangle of all.
    """
    n, k = x.shape[2], y.shape[2]
    triangle, row = np.zeros((n, n + k)), np.empty(n + k)
    regret = 0.0
    for t in range(len(loss)):
        regret += loss[t]
        for h in range(x.shape[1]):
            row[:n] = x[t, h]
            row[n:] = y[t, h]
            regret -= insert_row(triangle, row, n)
        out[t] = regret
    return triangle


@kernel
def worst_interval(x, y, loss, before, after):
    """max over a ≤ b of before[a] + regret[a..b] + after[b], with its a and b.

    Shapes: x (T, m, n), y (T, m, k), loss, before, after (T,). O(T²mn(n+k)).
    """
    T, n = len(loss), x.shape[2]
    width = n + y.shape[2]
    best, first, last = -np.inf, 0, 0
    triangle, row = np.empty((n, width, BATCH_SIZE)), np.empty((width, BATCH_SIZE))
    regret, angles = np.empty(BATCH_SIZE), np.empty((2, BATCH_SIZE))
    own_triangle, own_row = np.empty((n, width)), np.empty(width)
    for start in range(0, T, BATCH_SIZE):
        lanes = min(BATCH_SIZE, T - start)
        triangle[:] = 0
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
                if regret[a] + after[t] > best:
                    best, first, last = regret[a] + after[t], start + a, t
    return best, first, last


@kernel
def insert_round(
    triangle, row, regret, x, y, angles, full, started, own_triangle, own_row
):
    """Insert the rows of one round into the triangles of all lanes that have started.

    Shapes: triangle (n, n+k, lanes), row (n+k, lanes), regret (lanes,), x (m, n), y
    (m, k), angles (2, lanes), own_triangle (n, n+k) and own_row (n+k,). The first
    ``full`` lanes have no empty diagonal.
    """
    n = x.shape[1]
    for h in range(x.shape[0]):
        if full > 0:
            _insert_in_lanes(
                triangle, row, regret, x[h], y[h], angles[0], angles[1], full
            )
        for a in range(full, started):
            own_row[:n] = x[h]
            own_row[n:] = y[h]
            own_triangle[:] = triangle[:, :, a]
            regret[a] -= insert_row(own_triangle, own_row, n)
            triangle[:, :, a] = own_triangle


@kernel
def count_full(triangle, full, started):
    """How many of the first lanes have no empty diagonal; at least ``full``."""
    while full < started and _is_full(triangle, full):
        full += 1
    return full


@kernel
def _is_full(triangle, a):
    for i in range(triangle.shape[0]):
        if triangle[i, i, a] == 0:
            return False
    return True


@kernel
def _insert_in_lanes(triangle, row, regret, x, y, cosine, sine, full):
    """``insert_row`` for the first ``full`` lanes, each without an empty diagonal."""
    n, width = x.size, row.shape[0]
    for j in range(width):
        row[j, :full] = x[j] if j < n else y[j - n]
    for i in range(n):
        _set_angles(triangle[i, i], row[i], cosine, sine, full)
        for j in range(i + 1, width):
            _rotate(triangle[i, j], row[j], cosine, sine, full)
    for j in range(n, width):
        for a in range(full):
            regret[a] -= 0.5 * row[j, a] * row[j, a]


# A check for a division by 0, which cannot occur, would prevent vectorised code.
@kernel(ieee_division=True)
def _set_angles(diagonal, here, cosine, sine, full):
    for a in range(full):
        r, v = diagonal[a], here[a]
        size = math.sqrt(r * r + v * v)
        cosine[a] = r / size
        sine[a] = v / size
        diagonal[a] = size


@kernel
def _rotate(above, here, cosine, sine, full):
    for a in range(full):
        u, v = above[a], here[a]
        above[a] = cosine[a] * u + sine[a] * v
        here[a] = cosine[a] * v - sine[a] * u
