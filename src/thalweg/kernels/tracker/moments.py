"""Discounted second moments of the deviations, and the spread that scales the ridge."""

from numba import njit

from thalweg.kernels.tracker.layout import LANES, RIDGE, SPANS

LEAST = 1e-250
"""Spreads are squares: of features that vary by less than 1e-125."""


@njit(cache=True)
def learn_moments(moments, u, gain, decay):
    """S ← γS + c uuᵀ in every lane, lower triangle; the last row is u·(y - origin)."""
    z = moments.shape[1]
    for i in range(z + 1):
        for j in range(min(i + 1, z)):
            for lane in range(LANES):
                product = gain[lane] * (u[i, lane] * u[j, lane])
                moments[i, j, lane] = decay[lane] * moments[i, j, lane] + product


@njit(cache=True)
def learn_spread(centre, spread, x, last_y, u, share):
    """Running mean squares that give each ridge its unit; this round counts ``share``.

    About the running mean, the last round and the round a season ago: (3, z).
    """
    for j in range(centre.size):
        value = x[j] if j < x.size else last_y
        before = value - centre[j]
        centre[j] += share * before
        spread[0, j] += share * (before * (value - centre[j]) - spread[0, j])
        for family in range(1, 3):
            step = u[j, (family + 1) * SPANS]
            spread[family, j] += share * (step * step - spread[family, j])


@njit(cache=True)
def set_ridge(spread, ridge):
    """The kept ridge of every coordinate, δ times its spread: (z, LANES).

    A coordinate that never varied has neither moments nor a spread: any positive
    number keeps its zero coefficient zero. So it does where a spread is so small that
    one over it may be beyond float64.
    """
    for j in range(len(ridge)):
        for family in range(LANES // SPANS):
            first = family * SPANS
            kept = RIDGE[first] * spread[max(family - 1, 0), j]
            for g in range(SPANS):
                ridge[j, first + g] = kept if kept > LEAST else 1.0
