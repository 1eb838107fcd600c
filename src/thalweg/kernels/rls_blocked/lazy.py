"""A covariance, and the rows that are still to enter it.

C_t = scale (C - Σ_s r_s r_sᵀ): C as it was when a block began, and one r_s for each row
learnt since. A column of C_t costs O(n) for every such row, C_kk nothing. At the end of
the block all rows enter C together, which costs a third of what they would one by one.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.rls_blocked import triangles
from thalweg.kernels.rls_blocked.accumulate import (
    along,
    multiply,
    subtract,
    subtract_squares,
)

MOST_ROWS = 32
"""No block learns more."""


class Lazy(NamedTuple):
    """w is n in whole lanes, an odd number of them; what is beyond n is 0."""

    covariance: Any  # (w, w) C
    variance: Any  # (w,) C_kk now, but for ``scale``
    rows: Any  # (MOST_ROWS, w) r_s
    shares: Any  # (MOST_ROWS,) to work in


@kernel
def begin(factor):
    """The covariance of a packed factor, and no rows."""
    covariance = triangles.dense(factor)
    width = len(covariance)
    rows, shares = np.zeros((MOST_ROWS, width)), np.empty(MOST_ROWS)
    lazy = Lazy(covariance, np.empty(width), rows, shares)
    settle(lazy, 0, 1.0)
    return lazy


@kernel
def images(lazy, x, start, end):
    """C x of every round from start to end, a row each, before a block begins."""
    across = np.zeros((len(lazy.covariance), triangles.lanes(end - start)))
    for t in range(start, end):
        for i in range(x.shape[1]):
            across[i, t - start] = x[t, i]
    found = np.empty((across.shape[1], len(lazy.covariance)))
    multiply(across, lazy.covariance, found)
    return found


@kernel
def lessen(lazy, count, v, image):
    """From Cv to (C - Σ_s r_s r_sᵀ) v, in place."""
    along(lazy.rows, count, v, lazy.shares)
    subtract(lazy.rows, count, lazy.shares, image)


@kernel
def column(lazy, count, k, image):
    """(C - Σ_s r_s r_sᵀ) e_k into ``image``."""
    covariance, rows, shares = lazy.covariance, lazy.rows, lazy.shares
    for i in range(len(image)):
        image[i] = covariance[k, i]
    for s in range(count):
        shares[s] = rows[s, k]
    subtract(rows, count, shares, image)


@kernel(ieee_division=True)
def learn(lazy, count, image, leverage, weight):
    """P ← P + w vvᵀ, given ``image`` of v and leverage = v·image; w includes ``scale``.

    The row goes to place ``count``. Returned is g, with which g image = w C_t v for
    the C_t after it.
    """
    gain = weight / (1 + weight * leverage)
    root, rows, variance = math.sqrt(gain), lazy.rows, lazy.variance
    for i in range(len(image)):
        r = root * image[i]
        rows[count, i] = r
        variance[i] -= r * r
    return gain


@kernel
def settle(lazy, count, scale):
    """All rows into C."""
    subtract_squares(lazy.covariance, lazy.rows, count, scale)
    for k in range(len(lazy.variance)):
        lazy.variance[k] = lazy.covariance[k, k]
