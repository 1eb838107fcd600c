"""What the experts see: the round's features and label, seen from an origin.

Every kind but the last value is a ridge regression of y - origin on x - origin. The
origin of the level families is a discounted mean, that of the others a past round.
"""

from numba import njit

from thalweg.kernels.lanes import WIDTH, above, fused, load, store
from thalweg.kernels.tracker.layout import (
    DISCOUNT,
    IS_LEVEL,
    IS_SEASONAL,
    IS_STEP,
    LAG,
    LANES,
)
from thalweg.kernels.tracker.past import newest, row


@njit(cache=True)
def look(clock, past_x, past_y, mean, x, u, origin):
    """Fill the origins, and the deviations u (z + 1, LANES) but for y's, the last."""
    n = x.size
    season, now = int(clock[LAG]), newest(clock)
    last_y, season_y = past_y[now], past_y[now + season - 1]
    last, then = row(clock, 1), row(clock, season)
    for lane in range(0, LANES, WIDTH):
        step, seasonal = load(IS_STEP, lane), load(IS_SEASONAL, lane)
        for j in range(n):
            # A mean is zero in the lanes of steps and seasons.
            before = fused(step, past_x[last, j], load(mean, (j, lane)))
            before = fused(seasonal, past_x[then, j], before)
            store(u, (j, lane), x[j] - before)
        level = load(IS_LEVEL, lane)
        store(u, (n, lane), level * (last_y - load(mean, (n, lane))))
        before = fused(step, last_y, load(mean, (n + 1, lane)))
        store(origin, lane, fused(seasonal, season_y, before))


@njit(cache=True)
def reveal(weight, mean, y, w, elapsed, u, origin, gain, decay):
    """Complete the deviations u with y, set gain and decay, and move the means.

    With W' = γW the means move by w/(W' + w) of the deviation, and the outer product
    of deviations from the old mean counts W'w/(W' + w): then the moments are exactly
    the discounted second moments about the discounted mean.
    """
    z = len(u) - 1
    for lane in range(LANES):
        decay[lane] = DISCOUNT[lane] if elapsed == 1 else DISCOUNT[lane] ** elapsed
    for lane in range(0, LANES, WIDTH):
        store(u, (z, lane), y - load(origin, lane))
        before = load(decay, lane) * load(weight, lane)
        now = before + w
        level = load(IS_LEVEL, lane)
        step = level * w / now
        store(weight, lane, now)
        store(gain, lane, above(level, 0.5, before * step, w))
        for j in range(z + 1):
            moved = fused(step, load(u, (j, lane)), load(mean, (j, lane)))
            store(mean, (j, lane), moved)
