"""What the experts see: the round's features and label, seen from an origin.

Every kind but the last value is a ridge regression of y - origin on x - origin. The
origin of the level families is a discounted mean, that of the others a past round.
"""

from thalweg.kernels.jit import inline_function, inner_function
from thalweg.kernels.simd import WIDTH, above, fused, load, store
from thalweg.kernels.tracker.layout import (
    DELAY,
    DISCOUNT,
    IS_LEVEL,
    IS_SEASONAL,
    IS_STEP,
    LANES,
    MAX_SEASON,
    SEASON,
)
from thalweg.kernels.tracker.past import newest, row


@inner_function
def set_deviations(counters, past_x, past_y, mean, x, u, origin, late):
    """Fill the origins, and the deviations u (z + 1, LANES) but for y's, the last.

    The last round and the season are as far back as they are when a forecast is asked
    for: by the delay more where the round is learnt, ``late`` rounds after that.
    """
    n, now = x.size, newest(counters)
    since, season = _back(counters, late)
    last_y, season_y = past_y[now + since - 1], past_y[now + season - 1]
    last, then = row(counters, since), row(counters, season)
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


@inline_function
def _back(counters, late):
    """How many rounds ago the newest label known then was, and the one of a season ago.

    Where labels are late by d rounds, the season is the first multiple of itself that
    is known by then. Rounds are counted from the newest in memory.
    """
    delay, season = int(counters[DELAY]), int(counters[SEASON])
    if delay == 0:
        return 1, season
    known = (delay + season) // season * season - delay
    if late > 0 and late + max(known, 1) <= MAX_SEASON:
        return late + 1, late + known
    return 1, known


@inner_function
def update_means(weight, mean, y, w, elapsed, u, origin, outer_weight, decay):
    """Complete the deviations u with y, set gain and decay, and move the means.

    With W' = γW the means move by w/(W' + w) of the deviation, and the outer product
    of deviations from the old mean counts W'w/(W' + w): then the moments are exactly
    the discounted second moments about the discounted mean.
    """
    z = len(u) - 1
    for lane in range(0, LANES, WIDTH):
        store(decay, lane, load(DISCOUNT, lane))
    if elapsed != 1:
        for lane in range(LANES):
            decay[lane] = DISCOUNT[lane] ** elapsed
    for lane in range(0, LANES, WIDTH):
        store(u, (z, lane), y - load(origin, lane))
        before = load(decay, lane) * load(weight, lane)
        now = before + w
        level = load(IS_LEVEL, lane)
        step = level * w / now
        store(weight, lane, now)
        store(outer_weight, lane, above(level, 0.5, before * step, w))
        for j in range(z + 1):
            moved = fused(step, load(u, (j, lane)), load(mean, (j, lane)))
            store(mean, (j, lane), moved)
