"""Discounted second moments of the deviations, and the spread that scales the ridge."""

from thalweg.kernels.jit import inner_function
from thalweg.kernels.simd import WIDTH, above, fused, load, store
from thalweg.kernels.tracker.layout import LANES, MEMORY_COUNT, RIDGE_BY_ORIGIN

LEAST = 1e-250
"""Spreads are squares: of features that vary by less than 1e-125."""


@inner_function
def update_moments(moments, u, outer_weight, decay):
    """S ← γS + c uuᵀ in every lane, lower triangle; row z is u·(y - origin), then u."""
    z = moments.shape[1]
    for lane in range(0, LANES, WIDTH):
        counts, fades = load(outer_weight, lane), load(decay, lane)
        for i in range(z + 1):
            u_i = load(u, (i, lane))
            for j in range(min(i + 1, z)):
                # u_i u_j first: it is the same for u_j u_i, and c is at most w.
                product = counts * (u_i * load(u, (j, lane)))
                faded = fused(fades, load(moments, (i, j, lane)), product)
                store(moments, (i, j, lane), faded)
        for j in range(z):
            store(moments, (z + 1, j, lane), load(u, (j, lane)))


@inner_function
def update_spread(overall_mean, spread, x, last_y, u, share):
    """Running mean squares that give each ridge its unit; this round counts ``share``.

    About the running mean, the last round and the round a season ago: (3, z).
    """
    for j in range(overall_mean.size):
        value = x[j] if j < x.size else last_y
        before = value - overall_mean[j]
        overall_mean[j] += share * before
        spread[0, j] += share * (before * (value - overall_mean[j]) - spread[0, j])
        for family in range(1, 3):
            step = u[j, (family + 1) * MEMORY_COUNT]
            spread[family, j] += share * (step * step - spread[family, j])


@inner_function
def set_ridge(spread, ridge):
    """The kept ridge of every coordinate, δ times its spread: (z, LANES).

    A coordinate that never varied has neither moments nor a spread: any positive
    number keeps its zero coefficient zero. So it does where a spread is so small that
    one over it may be beyond float64.
    """
    for lane in range(0, LANES, WIDTH):
        for j in range(len(ridge)):
            kept = load(RIDGE_BY_ORIGIN, (0, lane)) * spread[0, j]
            kept = fused(load(RIDGE_BY_ORIGIN, (1, lane)), spread[1, j], kept)
            kept = fused(load(RIDGE_BY_ORIGIN, (2, lane)), spread[2, j], kept)
            store(ridge, (j, lane), above(kept, LEAST, kept, 1.0))
