"""What the experts see: the round's features and label, seen from an origin.

Every kind but the last value is a ridge regression of y - origin on x - origin. The
origin of the level families is a discounted mean, that of the others a past round.
"""

from numba import njit

from thalweg.kernels.tracker.layout import (
    DISCOUNT,
    HEAVY,
    LAG,
    LANES,
    LIGHT,
    SEASONAL,
    SPANS,
    STEP,
)
from thalweg.kernels.tracker.past import newest, row


@njit(cache=True)
def look(clock, past_x, past_y, mean, x, u, origin):
    """Fill the origins, and the deviations u (z + 1, LANES) but for y's, the last."""
    n = x.size
    season, now = int(clock[LAG]), newest(clock)
    last_y, season_y = past_y[now], past_y[now + season - 1]
    last, then = row(clock, 1), row(clock, season)
    for j in range(n):
        for g in range(SPANS):
            u[j, LIGHT + g] = x[j] - mean[j, g]
            u[j, HEAVY + g] = x[j] - mean[j, g]
            u[j, STEP + g] = x[j] - past_x[last, j]
            u[j, SEASONAL + g] = x[j] - past_x[then, j]
    for g in range(SPANS):
        u[n, LIGHT + g] = last_y - mean[n, g]
        u[n, HEAVY + g] = last_y - mean[n, g]
        u[n, STEP + g] = 0.0
        u[n, SEASONAL + g] = 0.0
        origin[LIGHT + g] = mean[n + 1, g]
        origin[HEAVY + g] = mean[n + 1, g]
        origin[STEP + g] = last_y
        origin[SEASONAL + g] = season_y


@njit(cache=True)
def reveal(weight, mean, y, w, elapsed, u, origin, gain, decay):
    """Complete the deviations u with y, set gain and decay, and move the means.

    With W' = γW the means move by w/(W' + w) of the deviation, and the outer product
    of deviations from the old mean counts W'w/(W' + w): then the moments are exactly
    the discounted second moments about the discounted mean.
    """
    z = len(u) - 1
    for lane in range(LANES):
        u[z, lane] = y - origin[lane]
        decay[lane] = DISCOUNT[lane] if elapsed == 1 else DISCOUNT[lane] ** elapsed
        gain[lane] = w
    for g in range(SPANS):
        before = decay[g] * weight[g]
        weight[g] = before + w
        step = w / weight[g]
        gain[LIGHT + g] = before * step
        gain[HEAVY + g] = before * step
        for j in range(z + 1):
            mean[j, g] += step * u[j, g]
