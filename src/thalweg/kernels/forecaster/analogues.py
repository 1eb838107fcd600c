r"""Analogues: past origins whose recent course was most like that before today.

Also known as: analogue forecasting (Lorenz 1969), k-nearest-neighbour regression on
delay vectors, method of analogues. With ℓ the level (the mean of a season), e = y - ℓ
and r = t - jS the origins a whole number j of seasons S ago,

.. math:: D_t(j) = \alpha D_{t-1}(j) + (e_t - e_r)^2, \quad
          d(j) = p_j \bigl[(1 - \alpha) D_t(j) + \lambda (\ell_t - \ell_r)^2\bigr],
          \quad \hat y_{t+h} = \ell_t + \sum_j w_j (y_{r+h} - \ell_r), \quad
          w_j \propto (d(j) / \bar d + 0.1)^{-2}

where p is 2 at another phase of the cycle, 1 at the same, and the sum is over the
``NEIGHBOURS`` nearest origins with all following values known. Regressions forecast one
course for all days; analogues recognise a day off, or a day of snow, and forecast what
followed such days.

Without a season (S = 1) the level is the last value and e is 0: nothing can be compared
and there are no analogues. The values are kept as float32, two in each number of the
state, less an offset and in a unit: the level and the scale when the history begins. A
round costs O(J + H) for J seasons of history: each pair of origins t and r was a pair
one round ago, and so was the sum of a season up to r.
"""

import numpy as np

from thalweg.kernels.compiler.jit import inner_function
from thalweg.kernels.forecaster import forecaster_layout as layout
from thalweg.kernels.forecaster.step_features import scale_feature, scale_of

DECAY = 0.9
"""α: about ten rounds count in the comparison of recent courses."""
LEVEL_SHARE = 0.3
"""λ: the weight of a difference of levels."""
OTHER_PHASE = 2.0
"""p: the factor of the distance of an origin at another phase of the cycle."""
DISTANCE_MARGIN = 0.1
"""Added to distances, in units of their mean, so that no origin outweighs the rest."""
MIN_ANALOGUES = 8
"""Minimum number of origins to choose from."""
MAX_HISTORY, MAX_SEASONS_BACK = 16_384, 680
"""Limits of the numbers of values and of seasons that are searched."""
COMPARED_ROUNDS = 20
"""Minimum number of rounds before an origin that are compared: they have 88 % of the
weight."""
MAX_DRIFT, MAX_RATIO = 1e5, 1e20
"""Limit of the distance of the level from the offset, in scales, and of the ratio of
scale and unit: beyond these values would be stored too coarsely, and the history begins
again. They are checked once in each turn of the ring."""


def dimensions(horizon: int, season: int) -> dict[str, int]:
    """The number of origins to compare, the newest one and those whole seasons before,
    and the numbers that the history takes.

    Both are 0 where a season is too long, or without a season: the level is then the
    last value, and nothing is left to compare.
    """
    count = min(MAX_SEASONS_BACK, (MAX_HISTORY - 1) // season)
    is_enough = count - first_analogue(season, horizon) >= MIN_ANALOGUES
    if season == 1 or not is_enough:
        return {"analogues": 0, "history": 0}
    return {"analogues": count, "history": (count * season + 2) // 2}  # pairs of values


@inner_function
def learn_history(s, t, y, level):
    """Add the value y of round t, and compare its course with all before."""
    if s.history.size == 0:
        return
    history, counters = s.history.view(np.float32), s.counters
    season, size = s.profile.shape[1], 2 * s.history.size
    if _is_time_to_begin(counters, t, level, size):
        counters[layout.HISTORY_START], counters[layout.HISTORY_OFFSET] = t, level
        counters[layout.HISTORY_UNIT] = scale_of(counters)
        s.season_sums[:], s.distances[:] = 0.0, 0.0
    if counters[layout.HISTORY_UNIT] == 0:
        return
    value = (y - counters[layout.HISTORY_OFFSET]) / counters[layout.HISTORY_UNIT]
    value = min(max(value, -layout.MAX_HISTORY_VALUE), layout.MAX_HISTORY_VALUE)
    at, start, newest = t % size, int(counters[layout.HISTORY_START]), 0.0
    history[at] = value
    next_sum = t % season  # every season-th sum is computed from its values
    for j in range(s.distances.size):
        known = t - j * season - start + 1  # values up to the origin j seasons ago
        if known < 1:
            break
        season_ago = at - season if at >= season else at - season + size
        if j == next_sum:
            next_sum += season
            s.season_sums[j] = _sum_of_season(history, at, min(season, known))
        else:
            s.season_sums[j] += float(history[at])
            if known > season:
                s.season_sums[j] -= float(history[season_ago])
        if known >= season:
            anomaly = float(history[at]) - s.season_sums[j] / season  # e
            if j == 0:
                newest = anomaly
            difference = newest - anomaly
            s.distances[j] = DECAY * s.distances[j] + difference * difference
        at = season_ago


@inner_function
def _is_time_to_begin(counters, t, level, size):
    """Whether the history begins with round t, for the first time or again."""
    unit, scale = counters[layout.HISTORY_UNIT], scale_of(counters)
    if unit == 0:
        return counters[layout.DEVIATION] > 0
    if (t - int(counters[layout.HISTORY_START])) % size != 0:
        return False
    drift = abs(level - counters[layout.HISTORY_OFFSET])
    is_other = scale / MAX_RATIO > unit or scale < unit / MAX_RATIO
    return is_other or drift > MAX_DRIFT * scale


@inner_function
def _sum_of_season(history, at, count):
    """The sum of ``count`` values up to the one at ``at``, computed from them once in a
    season, so that rounding errors do not accumulate."""
    total = 0.0
    for i in range(at, at - count, -1):
        total += float(history[i if i >= 0 else i + history.size])
    return total


@inner_function
def first_analogue(season, horizon):
    """The least number of seasons back with all following values known."""
    return (horizon + season - 1) // season


@inner_function
def _has_analogues(s, t):
    """Whether the origin at round t has enough analogues."""
    season, horizon = s.profile.shape[1], s.forecasts.shape[1]
    if s.history.size == 0 or s.counters[layout.HISTORY_UNIT] == 0:
        return False
    rounds = (first_analogue(season, horizon) + MIN_ANALOGUES) * season
    return t + 1 >= int(s.counters[layout.HISTORY_START]) + rounds + COMPARED_ROUNDS


@inner_function
def begin_analogues(s, w, t, scale):
    """Set ``w.analogues`` to the forecasts of all steps after round t, less the level
    and in units of the scale; returns whether there are enough analogues."""
    if not _has_analogues(s, t):
        return False
    history, size = s.history.view(np.float32), 2 * s.history.size
    season, horizon = s.profile.shape[1], w.analogues.size
    count = _find_nearest(s, w, t)
    _set_neighbour_weights(w, count)
    w.analogues[:] = 0.0
    for k in range(count):
        j = int(w.neighbours[k])
        level, weight = s.season_sums[j] / season, w.neighbour_weights[k]
        at = (t - j * season) % size
        for h in range(horizon):
            at = at + 1 if at + 1 < size else 0
            w.analogues[h] += weight * (float(history[at]) - level)
    for h in range(horizon):
        difference = w.analogues[h] * s.counters[layout.HISTORY_UNIT]
        w.analogues[h] = scale_feature(difference, scale)
    return True


@inner_function
def forecast_analogues(s, w, j, t, h, level, scale, candidates):
    """The forecast of step h."""
    return w.analogues[h - 1]


@inner_function
def _find_nearest(s, w, t):
    """Set the nearest origins, as seasons back, and their distances; returns how many.

    Both are in order of distance; of equal ones the newer is first.
    """
    season, cycle = s.profile.shape[1], s.cycle_profile.shape[1]
    start, count = int(s.counters[layout.HISTORY_START]), 0
    nearest, distances = w.neighbours, w.neighbour_weights
    first = first_analogue(season, w.analogues.size)
    last = (t - start - season + 1 - COMPARED_ROUNDS) // season
    phase = first * season % cycle
    for j in range(first, min(last + 1, s.distances.size)):
        step = (s.season_sums[0] - s.season_sums[j]) / season
        distance = (1 - DECAY) * s.distances[j] + LEVEL_SHARE * step * step
        if phase != 0:
            distance *= OTHER_PHASE
        phase = phase + season if phase + season < cycle else phase + season - cycle
        if count == layout.NEIGHBOURS and distance >= distances[count - 1]:
            continue
        count = min(count + 1, layout.NEIGHBOURS)
        k = count - 1
        while k > 0 and distances[k - 1] > distance:
            nearest[k], distances[k] = nearest[k - 1], distances[k - 1]
            k -= 1
        nearest[k], distances[k] = j, distance
    return count


@inner_function
def _set_neighbour_weights(w, count):
    """Set weights from distances, in place."""
    weights, mean, total = w.neighbour_weights, 0.0, 0.0
    for k in range(count):
        mean += weights[k] / count
    for k in range(count):
        distance = weights[k] / mean if mean > 0 else 0.0
        weights[k] = 1 / (distance + DISTANCE_MARGIN) ** 2
        total += weights[k]
    for k in range(count):
        weights[k] /= total
