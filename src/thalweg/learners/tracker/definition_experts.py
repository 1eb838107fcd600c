r"""The Tracker's experts: 70 ridge regressions and the last label.

Every regression is one of y - origin on x - origin. Lanes, the last axis of most
arrays, are 4 families × 10 memories:

    level, light ridge    about the discounted mean of the lane's memory
    level, heavy ridge    the same
    step                  about the last round: the change since then
    season                about the round a season ago

z counts the features and the last label, a feature of the autoregressive experts only.
All four families are there with a ridge that shrinks θ towards zero (``shrunk``), the
levels also with one that anchors θ where it is (``anchored``), the light level also
with the last label as a feature (``autoregressive``).
"""

from typing import Any

import numpy as np

from thalweg.kernels.tracker.ridge_experts import MIN_SPREAD
from thalweg.kernels.tracker.round import RANGE_MARGIN, STEP_MARGIN
from thalweg.kernels.tracker.seasonality import SEARCH_INTERVAL, SEASON_DISCOUNT
from thalweg.kernels.tracker.solve import MAX_FLOAT, MIN_RELATIVE_PIVOT
from thalweg.kernels.tracker.tracker_layout import (
    ANCHORED,
    AUTOREGRESSIVE,
    DELAY,
    DIFFERENCE_COUNT,
    DISCOUNT,
    ELAPSED,
    HIGHEST_LABEL,
    LANES,
    LAST_VALUE,
    LEVEL_LANES,
    LOWEST_LABEL,
    MAX_LABEL_STEP,
    MAX_SEASON,
    MEMORY_COUNT,
    PADDED_EXPERTS,
    PASSED_ROUNDS,
    RIDGE_BY_ORIGIN,
    ROUNDS,
    SEASON,
    SEASON_LANE,
    SHRUNK,
    STEP_LANE,
    STEP_LIMIT,
    TOTAL_WEIGHT,
)
from thalweg.types import FloatArray

LEVEL = slice(0, LEVEL_LANES)
STEP = slice(STEP_LANE, SEASON_LANE)
SEASONAL = slice(SEASON_LANE, LANES)
LIGHT = slice(0, MEMORY_COUNT)
"""The lanes of each family; the first of the two level families."""


def deviations(
    s: Any, x: FloatArray, rounds_late: int
) -> tuple[FloatArray, FloatArray]:
    """(x, last label) minus its origin in every lane, (z, LANES); and y's origin.

    The origin is the discounted mean of the lane for levels, the last round for steps,
    the round a season ago for seasons. Only levels see the last label.
    """
    mean, n = s.experts.mean, len(x)
    last, season = origin_lags(s.counters, rounds_late)
    labels, features = past_labels(s), past_features(s)
    last_y = labels[last - 1]
    u, origin = np.zeros((n + 1, LANES)), np.empty(LANES)
    u[:, LEVEL] = np.append(x, last_y)[:, None] - mean[:-1, LEVEL]
    u[:n, STEP] = (x - features[last - 1])[:, None]
    u[:n, SEASONAL] = (x - features[season - 1])[:, None]
    origin[LEVEL], origin[STEP] = mean[-1, LEVEL], last_y
    origin[SEASONAL] = labels[season - 1]
    return u, origin


def origin_lags(counters: FloatArray, rounds_late: int) -> tuple[int, int]:
    """How many rounds back the newest known label lies, and the one a season ago.

    Where labels are late by d rounds, the season is the first multiple of itself that
    is known by then. A round learnt ``rounds_late`` rounds late looks as far back as it
    did when its forecast was asked for, if that is still remembered.
    """
    delay, season = int(counters[DELAY]), int(counters[SEASON])
    if delay == 0:
        return 1, season
    known = (delay + season) // season * season - delay
    if rounds_late > 0 and rounds_late + max(known, 1) <= MAX_SEASON:
        return rounds_late + 1, rounds_late + known
    return 1, known


def predict_experts(experts: Any, u: FloatArray, origin: FloatArray) -> FloatArray:
    """p = origin + θ·u for every regression, and the last label, (PADDED_EXPERTS,)."""
    n = len(u) - 1
    q = np.full(PADDED_EXPERTS, origin[STEP_LANE])  # the last label
    q[SHRUNK:ANCHORED] = origin + (experts.shrunk * u[:n]).sum(axis=0)
    theta = experts.anchored[:, LEVEL]
    q[ANCHORED:AUTOREGRESSIVE] = origin[LEVEL] + (theta * u[:n, LEVEL]).sum(axis=0)
    theta = experts.autoregressive[:, LIGHT]
    q[AUTOREGRESSIVE:LAST_VALUE] = origin[LIGHT] + (theta * u[:, LIGHT]).sum(axis=0)
    return q


def clip_predictions(counters: FloatArray, q: FloatArray) -> FloatArray:
    """Predictions within [low - R/2, high + R/2], R = high - low of all labels.

    And, where steps are limited, within y_{t-1} ± 2 max_s |y_s - y_{s-1}|. A prediction
    beyond float64 has not even a direction: it becomes the last label.
    """
    last_y, label_range = (
        q[LAST_VALUE],
        counters[HIGHEST_LABEL] - counters[LOWEST_LABEL],
    )
    low = counters[LOWEST_LABEL] - RANGE_MARGIN * label_range
    high = counters[HIGHEST_LABEL] + RANGE_MARGIN * label_range
    if counters[STEP_LIMIT] > 0:
        step = STEP_MARGIN * counters[MAX_LABEL_STEP]
        low, high = max(low, last_y - step), min(high, last_y + step)
    return np.clip(np.where(abs(q) < MAX_FLOAT, q, last_y), low, high)


def update_label_range(counters: FloatArray, y: float, last_y: float) -> None:
    """Let clipping know of a label and, but in the first round, of the step to it."""
    if counters[ROUNDS] == 0:
        counters[LOWEST_LABEL] = counters[HIGHEST_LABEL] = y
        return
    counters[LOWEST_LABEL] = min(counters[LOWEST_LABEL], y)
    counters[HIGHEST_LABEL] = max(counters[HIGHEST_LABEL], y)
    counters[MAX_LABEL_STEP] = max(counters[MAX_LABEL_STEP], abs(y - last_y))


def learn_experts(
    s: Any, x: FloatArray, y: float, w: float, u: FloatArray, origin: FloatArray
) -> None:
    """Means, moments, spreads, and from them the coefficients of every regression."""
    experts, counters = s.experts, s.counters
    seen = np.vstack([u, y - origin])  # deviations of (x, last label, y)
    outer_weight = update_means(experts, seen, w, DISCOUNT ** counters[ELAPSED])
    update_moments(experts.moments, seen, outer_weight, DISCOUNT ** counters[ELAPSED])
    z_now = np.append(x, origin[STEP_LANE])
    update_spread(experts, z_now, u, share=w / counters[TOTAL_WEIGHT])
    learn_coefficients(experts, seen, outer_weight)


def update_means(
    experts: Any, seen: FloatArray, w: float, decay: FloatArray
) -> FloatArray:
    """W' = γW, m ← m + w/(W' + w) ũ, W ← W' + w; returns the weight of ũũᵀ.

    The outer product of deviations from the old mean counts W'w/(W' + w): then moments
    are exactly those about the discounted mean. Where the origin is a past round there
    is no mean to move, and it counts w.
    """
    before = decay * experts.weight
    experts.weight[:] = before + w
    new_share = w / experts.weight
    experts.mean[:, LEVEL] += new_share[LEVEL] * seen[:, LEVEL]
    outer_weight = np.full(LANES, w)
    outer_weight[LEVEL] = (before * new_share)[LEVEL]
    return outer_weight


def update_moments(
    moments: FloatArray, seen: FloatArray, outer_weight: FloatArray, decay: FloatArray
) -> None:
    """S ← γS + c ũũᵀ, lower triangle; row z is b ← γb + c ũỹ, the last row is ũ."""
    z = len(seen) - 1
    for i in range(z + 1):
        columns = min(i + 1, z)
        outer = outer_weight * (seen[i] * seen[:columns])
        moments[i, :columns] = decay * moments[i, :columns] + outer
    moments[z + 1] = seen[:z]


def update_spread(experts: Any, z: FloatArray, u: FloatArray, share: float) -> None:
    """Running mean squares that give the ridges their unit; a round counts ``share``.

    About the overall mean, the last round and the round a season ago.
    """
    mean, spread = experts.overall_mean, experts.spread
    before = z - mean
    mean += share * before
    squares = [before * (z - mean), u[:, STEP_LANE] ** 2, u[:, SEASON_LANE] ** 2]
    spread += share * (np.array(squares) - spread)


def learn_coefficients(
    experts: Any, seen: FloatArray, outer_weight: FloatArray
) -> None:
    r"""The coefficients of every regression, from A = S + ridge.

    In the kernels: ``solve_shrunk``, ``step_anchored`` and ``solve_autoregressive``.

    .. math:: \theta = A_n^{-1} b \text{ (shrunk)}, \quad
              \theta \mathrel{+}= c A_n^{-1} \tilde x (\tilde y - \theta\cdot\tilde x)
              \text{ (anchored)}, \quad \theta = A_z^{-1} b \text{ (autoregressive)}

    A_n is the part of A that belongs to the features, A_z all of it. Where a ridge
    shrinks, little data means θ = 0: the origin. Where it anchors, θ stays.
    """
    z = len(seen) - 1
    lower, pivots = factorise(experts.moments[:z], ridges(experts.spread))
    b, n = experts.moments[z], z - 1
    experts.shrunk[:] = solve(lower, pivots, b[:n])
    experts.autoregressive[:, LIGHT] = solve(lower, pivots, b)[:, LIGHT]
    theta, x, y = experts.anchored[:, LEVEL], seen[:n, LEVEL], seen[z, LEVEL]
    error = y - (theta * x).sum(axis=0)
    gain = solve(lower, pivots, seen[:n])[:, LEVEL]
    moved = theta + outer_weight[LEVEL] * error * gain
    # θ, or θ·x̃, may be beyond float64: such a θ is no use, and begins again from zero.
    theta[:] = finite_or_zero(moved)


def ridges(spread: FloatArray) -> FloatArray:
    """The ridge of every coordinate, δ times its spread about the lane's origin.

    A coordinate that never varied has neither moments nor spread, and any positive
    number keeps its coefficient zero; so it is where one over a spread may overflow.
    """
    ridge = spread.T @ RIDGE_BY_ORIGIN
    return np.asarray(np.where(ridge > MIN_SPREAD, ridge, 1.0))


def factorise(moments: FloatArray, ridge: FloatArray) -> tuple[FloatArray, FloatArray]:
    """L and D of S + ridge = L D Lᵀ, in every lane: L (z, z, LANES), D (z, LANES).

    A pivot below 1e-14 of its diagonal entry is rounding only, and is set to that.
    """
    z = len(ridge)
    lower, pivots = np.zeros_like(moments), np.empty_like(ridge)
    for j in range(z):
        diagonal = moments[j, j] + ridge[j]
        scaled = lower[j, :j] * pivots[:j]  # L² alone may be beyond float64
        known = (lower[j, :j] * scaled).sum(axis=0)
        pivots[j] = np.maximum(diagonal - known, MIN_RELATIVE_PIVOT * diagonal)
        for i in range(j + 1, z):
            known = (lower[i, :j] * scaled).sum(axis=0)
            lower[i, j] = (moments[i, j] - known) / pivots[j]
    return lower, pivots


def solve(lower: FloatArray, pivots: FloatArray, right: FloatArray) -> FloatArray:
    """(L D Lᵀ)⁻¹ right, for the coordinates that ``right`` has; 0 beyond float64.

    In the kernels ``factorise`` takes the first step, ``back_substitute`` the second.
    """
    size, out = len(right), right.copy()
    for j in range(size):
        out[j] -= (lower[j, :j] * out[:j]).sum(axis=0)
    out /= pivots[:size]
    for j in reversed(range(size)):
        out[j] -= (lower[j + 1 : size, j] * out[j + 1 :]).sum(axis=0)
        out[j] = finite_or_zero(out[j])
    return out


def finite_or_zero(values: FloatArray) -> FloatArray:
    """The values; 0 where they are infinite or not a number."""
    return np.where(abs(values) < MAX_FLOAT, values, 0.0)


# Past rounds: features in a ring; labels newest first, so that y_{t-l} is at l - 1.


def past_labels(s: Any) -> FloatArray:
    """The labels y_{t-1}, y_{t-2}, …, (MAX_SEASON,)."""
    newest = -int(s.counters[PASSED_ROUNDS]) % MAX_SEASON
    return np.asarray(s.past_y[newest : newest + MAX_SEASON])


def past_features(s: Any) -> FloatArray:
    """The features x_{t-1}, x_{t-2}, …, (MAX_SEASON, n)."""
    lags = np.arange(1, MAX_SEASON + 1)
    rows = (int(s.counters[PASSED_ROUNDS]) - lags) % MAX_SEASON
    return np.asarray(s.past_x[rows])


def push_round(s: Any, x: FloatArray, y: float) -> None:
    """Remember a round that has passed. Labels are stored twice, for one slice."""
    s.past_x[int(s.counters[PASSED_ROUNDS]) % MAX_SEASON] = x
    s.counters[PASSED_ROUNDS] += 1
    newest = -int(s.counters[PASSED_ROUNDS]) % MAX_SEASON
    s.past_y[[newest, newest + MAX_SEASON]] = y


# The season.


def update_season(s: Any, y: float) -> None:
    r"""Learn from the label y_t, and set the season of the next round.

    .. math:: d_l \gets d_l + \lambda\text{-discounted } (y_t - y_{t-l})^2, \qquad
              \text{season} = \arg\min_l \; l\, d_l / \sum_{m\le l} d_m

    if that is below one, else 1: the normalised difference of the YIN pitch detector,
    with d_l a discounted mean. De Cheveigné & Kawahara (2002), J. Acoust. Soc. Am.
    111(4), section II.C. Two seasons must have been seen; after the first 512 rounds
    the search is made every 8th.
    """
    t = int(s.counters[PASSED_ROUNDS])
    lags, differences = min(t, MAX_SEASON), s.season_differences
    steps = y - past_labels(s)[:lags]
    differences[:lags] = SEASON_DISCOUNT * differences[:lags] + steps**2
    if t <= MAX_SEASON or t % SEARCH_INTERVAL == 0:
        s.counters[SEASON] = search_season(s, min(t // 2, MAX_SEASON))


def search_season(s: Any, longest: int) -> int:
    """The lag up to ``longest`` with the least normalised difference; else 1."""
    newest = -int(s.counters[PASSED_ROUNDS]) % MAX_SEASON
    inverse_counts = s.inverse_counts[newest : newest + longest]
    d, lags = s.season_differences[:longest] * inverse_counts, np.arange(1, longest + 1)
    total = np.cumsum(d)
    ratio = np.where(total > 0, lags * d / np.where(total > 0, total, 1.0), 1.0)
    return int(lags[ratio.argmin()]) if longest and ratio.min() < 1 else 1


def push_inverse_count(s: Any, learnt: bool) -> None:
    """Note by how much the sum of lag 1 is to be divided in the coming round.

    The number of terms of lag l depends on t - l alone, so that divisors move down by
    one lag a round, as labels do. A round that was not learnt from added no term.
    """
    counters = s.counters
    if learnt:
        counters[DIFFERENCE_COUNT] = SEASON_DISCOUNT * counters[DIFFERENCE_COUNT] + 1
    newest = -int(counters[PASSED_ROUNDS]) % MAX_SEASON
    s.inverse_counts[[newest, newest + MAX_SEASON]] = 1 / counters[DIFFERENCE_COUNT]


def reset_season(s: Any) -> None:
    """Begin again. All lags then have as many terms, and their ratios need no divisor.

    A full count stands for it, which later counts come to as well.
    """
    s.counters[SEASON], s.counters[DIFFERENCE_COUNT] = 1, 1 / (1 - SEASON_DISCOUNT)
    s.season_differences[:] = 0.0
    s.inverse_counts[:] = 1 - SEASON_DISCOUNT
