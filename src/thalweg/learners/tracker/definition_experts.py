r"""The Tracker's experts: 75 ridge regressions and the last label.

Every regression is one of y - origin on x - origin. Lanes, the last axis of most
arrays, are 4 families × 10 memories:

    level, light ridge    about the discounted mean of the lane's memory
    level, heavy ridge    the same
    step                  about the last round: the change since then
    season                about the round a season ago

All four families are there with a ridge that shrinks θ towards zero (shrunk), the
levels also with one that anchors θ where it is (``anchored``), the light level also
with the last three labels as features (autoregressive). Five more lanes, of memories
of their own, are levels with the last features and labels as well (distributed lag);
three behind them are copies of the fifth.

With A = S + ridge = L D Lᵀ and w = L⁻¹ũ, a shrunk prediction is origin + v·w,
v = D⁻¹L⁻¹b, and its leverage ũᵀA⁻¹ũ = Σ w_j²/D_j: kernels/tracker/ridge_experts.py.
"""

from typing import Any, NamedTuple

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.autoregressive import LAG_RIDGE
from thalweg.kernels.tracker.distributed_lag import (
    COORDINATES_PER_INTERVAL,
    FIRST_ROUNDS,
    SOLVE_INTERVAL,
)
from thalweg.kernels.tracker.ridge_experts import (
    MAX_LEVERAGE,
    MIN_SPREAD,
    UNVARIED_RIDGE,
)
from thalweg.kernels.tracker.round import (
    DOUBT,
    LANE_OF_MEMORY,
)
from thalweg.learners.tracker.definition_season import past_features, past_labels
from thalweg.learners.tracker.definition_solve import (
    back_substitute,
    factorise,
    finite_or_zero,
    forward,
)
from thalweg.types import FloatArray

LEVEL = slice(0, layout.LEVEL_LANES)
STEP = slice(layout.STEP_LANE, layout.SEASON_LANE)
SEASONAL = slice(layout.SEASON_LANE, layout.LANES)
LIGHT = slice(0, layout.MEMORY_COUNT)
"""The lanes of each family; the first of the two level families."""


class Deviations(NamedTuple):
    """The features of a round as deviations from each lane's origin or mean."""

    x: FloatArray  # (n, LANES)
    origin: FloatArray  # (LANES,) y's
    labels: FloatArray  # (LAGS,) the past labels themselves, newest first
    lags: FloatArray  # (LAGS, MEMORY_COUNT) minus their means
    wide: FloatArray  # (2n + 2, 8) x, the last x, two past labels
    wide_origin: FloatArray  # (8,) y's


class Factors(NamedTuple):
    """L and D of S + ridge = L D Lᵀ in every lane, and v = D⁻¹L⁻¹b."""

    lower: FloatArray  # (n, n, lanes)
    pivots: FloatArray  # (n, lanes)
    right: FloatArray  # (n, lanes) v


def deviations(s: Any, x: FloatArray, rounds_late: int) -> Deviations:
    """All that experts see of a round: x, past labels and features, from their origins.

    In the kernels: ``set_deviations``, ``set_lag_deviations`` and
    ``set_distributed_deviations``. The origin of x is the discounted mean of the lane
    for levels, the last round for steps, the round a season ago for seasons.
    """
    mean, n = s.experts.mean, len(x)
    last, season = origin_lags(s.counters, rounds_late)
    labels, features = past_labels(s), past_features(s)
    u, origin = np.empty((n, layout.LANES)), np.empty(layout.LANES)
    u[:, LEVEL] = x[:, None] - mean[:-1, LEVEL]
    u[:, STEP] = (x - features[last - 1])[:, None]
    u[:, SEASONAL] = (x - features[season - 1])[:, None]
    origin[LEVEL], origin[STEP] = mean[-1, LEVEL], labels[last - 1]
    origin[SEASONAL] = labels[season - 1]
    lags = [past_lag(s.counters, rounds_late, i) for i in range(layout.LAGS)]
    known = labels[np.array(lags) - 1]
    wide = np.concatenate([x, features[lags[0] - 1], known[: layout.PAST_LABELS]])
    wide_mean = s.distributed_lag.mean
    return Deviations(
        u, origin, known, known[:, None] - s.lags.mean[:, LIGHT],
        wide[:, None] - wide_mean[:-1], wide_mean[-1].copy(),
    )  # fmt: skip


def origin_lags(counters: FloatArray, rounds_late: int) -> tuple[int, int]:
    """The ages in rounds of the newest known label, and of the one a season ago.

    Where labels are late by d rounds, the season is the first multiple of itself that
    is known by then. A round learnt ``rounds_late`` rounds late has the same lags as
    its forecast had, if those rounds are still stored.
    """
    delay, season = int(counters[layout.DELAY]), int(counters[layout.SEASON])
    if delay == 0:
        return 1, season
    known = (delay + season) // season * season - delay
    if rounds_late > 0 and rounds_late + max(known, 1) <= layout.MAX_SEASON:
        return rounds_late + 1, rounds_late + known
    return 1, known


def past_lag(counters: FloatArray, rounds_late: int, i: int) -> int:
    """The age in rounds of the newest known label, or of one i rounds older.

    Before the first stored round, its own age is returned.
    """
    last, _ = origin_lags(counters, rounds_late)
    remembered = min(int(counters[layout.PASSED_ROUNDS]), layout.MAX_SEASON)
    return max(min(last + i, remembered), 1)


def predict_experts(s: Any, u: Deviations) -> tuple[FloatArray, FloatArray]:
    """The predictions of all experts, not clipped, and their leverages.

    In the kernels: ``predict_shrunk``, ``predict_experts``, ``predict_autoregressive``
    and ``set_confidences``. Both are (PADDED_EXPERTS,).
    """
    experts, lags, wide = s.experts, s.lags, s.distributed_lag
    q = np.full(layout.PADDED_EXPERTS, u.origin[layout.STEP_LANE])  # the last label
    h = np.zeros(layout.PADDED_EXPERTS)
    factors = feature_factors(experts)
    q[layout.SHRUNK : layout.ANCHORED], leverage = predict_shrunk(
        factors, u.x, u.origin
    )
    has_mean = (layout.IS_LEVEL > 0) & (experts.weight > 0)
    leverage += np.where(has_mean, 1 / np.where(has_mean, experts.weight, 1.0), 0.0)
    leverage = finite_leverage(leverage)
    theta = experts.anchored[:, LEVEL]
    q[layout.ANCHORED : layout.AUTOREGRESSIVE] = u.origin[LEVEL] + (
        theta * u.x[:, LEVEL]
    ).sum(axis=0)
    both = np.vstack([u.x[:, LIGHT], u.lags])
    known = lag_factors(experts, lags)
    q[layout.AUTOREGRESSIVE : layout.DISTRIBUTED_LAG], lag_leverage = predict_shrunk(
        known, both, u.origin[LIGHT]
    )
    weight = experts.weight[LIGHT]
    lag_leverage += np.where(weight > 0, 1 / np.where(weight > 0, weight, 1.0), 0.0)
    lag_leverage = finite_leverage(lag_leverage)
    predicted = u.wide_origin + (wide.theta * u.wide).sum(axis=0)
    q[layout.DISTRIBUTED_LAG : layout.LAST_VALUE] = predicted[
        : layout.DISTRIBUTED_COUNT
    ]
    h[layout.SHRUNK : layout.ANCHORED] = leverage
    h[layout.ANCHORED : layout.AUTOREGRESSIVE] = leverage[LEVEL]
    h[layout.AUTOREGRESSIVE : layout.DISTRIBUTED_LAG] = lag_leverage
    lanes = LANE_OF_MEMORY
    h[layout.DISTRIBUTED_LAG : layout.LAST_VALUE] = (
        lag_leverage[lanes] + wide.last_leverage[lanes]
    )
    return q, h


def finite_leverage(h: FloatArray) -> FloatArray:
    """The leverages, or their limit where they are more, infinite or not a number."""
    return np.where(h < MAX_LEVERAGE, h, MAX_LEVERAGE)


def confidences(h: FloatArray) -> FloatArray:
    """1/√(1 + h + (h/5)²): see ``set_confidences`` in the kernels."""
    return np.asarray(1 / np.sqrt(1 + h + DOUBT * h**2))


def predict_shrunk(
    factors: Factors, u: FloatArray, origin: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """origin + v·w and Σ w_j²/D_j with w = L⁻¹u, in every lane."""
    w = u.copy()
    for j in range(len(w)):
        w[j] -= (factors.lower[j, :j] * w[:j]).sum(axis=0)
    prediction = origin + (factors.right * w).sum(axis=0)
    return prediction, (w * (1 / factors.pivots) * w).sum(axis=0)


def feature_factors(experts: Any) -> Factors:
    """The factors of the shrunk experts."""
    n = experts.moments.shape[1]
    lower, pivots = factorise(experts.moments[:n], ridges(experts.spread))
    return Factors(lower, pivots, forward(lower, pivots, experts.moments[n]))


def lag_factors(experts: Any, lags: Any) -> Factors:
    """The factors of the autoregressive experts: of x and the past labels."""
    n = experts.moments.shape[1]
    z, rows = n + layout.LAGS, np.arange(n, n + layout.LAGS)
    moments = np.zeros((z, z, layout.MEMORY_COUNT))
    b = np.zeros((z, layout.MEMORY_COUNT))
    moments[:n, :n] = experts.moments[:n, :, LIGHT]
    moments[rows] = lags.moments[: layout.LAGS, :, LIGHT]
    b[:n], b[n:] = experts.moments[n, :, LIGHT], lags.moments[layout.LAGS, n:, LIGHT]
    ridge = np.empty((z, layout.MEMORY_COUNT))
    ridge[:n] = ridges(experts.spread)[:, LIGHT]
    ridge[n:] = light_ridges(lags.spread)[:, None]
    lower, pivots = factorise(moments, ridge)
    return Factors(lower, pivots, forward(lower, pivots, b))


def learn_experts(s: Any, x: FloatArray, y: float, w: float, u: Deviations) -> None:
    """Means, moments, spreads, and from them the coefficients that are remembered.

    In the kernels: ``learn_all_experts``.
    """
    experts, counters = s.experts, s.counters
    elapsed, share = counters[layout.ELAPSED], w / counters[layout.TOTAL_WEIGHT]
    _, leverage = predict_experts(s, u)
    s.distributed_lag.last_leverage[LIGHT] = leverage[
        layout.SHRUNK : layout.SHRUNK + layout.MEMORY_COUNT
    ]
    seen = np.vstack([u.x, y - u.origin])  # deviations of (x, y)
    decay = layout.DISCOUNT**elapsed
    outer_weight = update_means(experts, seen, w, decay)
    update_moments(experts.moments, seen, outer_weight, decay)
    update_spread(experts, x, u.x, share)
    learn_lags(s, seen, w, outer_weight, decay, u, share)
    step_anchored(experts, seen, outer_weight)
    learn_distributed_lag(s, y, w, layout.DISTRIBUTED_DISCOUNT**elapsed, u)


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
    outer_weight = np.full(layout.LANES, w)
    outer_weight[LEVEL] = (before * new_share)[LEVEL]
    return outer_weight


def update_moments(
    moments: FloatArray, seen: FloatArray, outer_weight: FloatArray, decay: FloatArray
) -> None:
    """S ← γS + c ũũᵀ, lower triangle; row n is b ← γb + c ũỹ. A row behind is ũ."""
    n = len(seen) - 1
    for i in range(n + 1):
        columns = min(i + 1, n)
        outer = outer_weight * (seen[i] * seen[:columns])
        moments[i, :columns] = decay * moments[i, :columns] + outer
    if len(moments) > n + 1:
        moments[n + 1] = seen[:n]


def update_spread(experts: Any, x: FloatArray, u: FloatArray, share: float) -> None:
    """Running mean squares that give the ridges their unit; a round counts ``share``.

    About the overall mean, the last round and the round a season ago.
    """
    update_variance(experts.overall_mean, experts.spread[0], x, share)
    squares = [u[:, layout.STEP_LANE] ** 2, u[:, layout.SEASON_LANE] ** 2]
    experts.spread[1:] += share * (np.array(squares) - experts.spread[1:])


def update_variance(
    mean: FloatArray, variance: FloatArray, values: FloatArray, share: float
) -> None:
    """Welford's recursion for means and variances, of weight ``share``."""
    before = values - mean
    mean += share * before
    variance += share * (before * (values - mean) - variance)


def learn_lags(
    s: Any, seen: FloatArray, w: float, outer_weight: FloatArray, decay: FloatArray,
    u: Deviations, share: float,
) -> None:  # fmt: skip
    """Means, moments and spreads of the past labels; ``seen`` are those of (x, y)."""
    lags, n = s.lags, len(seen) - 1
    update_variance(lags.overall_mean, lags.spread, u.labels, share)
    lags.mean[:, LIGHT] += w / s.experts.weight[LIGHT] * u.lags
    both = np.vstack([seen[:n, LIGHT], u.lags])
    rows = [*u.lags, seen[n, LIGHT]]
    for i, row in enumerate(rows):
        columns = slice(0, n + i + 1) if i < layout.LAGS else slice(n, n + layout.LAGS)
        outer = outer_weight[LIGHT] * (row * both[columns])
        moments = lags.moments[i, columns, LIGHT]
        lags.moments[i, columns, LIGHT] = decay[LIGHT] * moments + outer


def step_anchored(experts: Any, seen: FloatArray, outer_weight: FloatArray) -> None:
    """θ ← θ + c A⁻¹ũ (ỹ - θ·ũ): where little is known θ stays as it is."""
    n, factors = len(seen) - 1, feature_factors(experts)
    theta, x, y = experts.anchored[:, LEVEL], seen[:n, LEVEL], seen[n, LEVEL]
    error = y - (theta * x).sum(axis=0)
    half = forward(factors.lower, factors.pivots, seen[:n])
    gain = back_substitute(factors.lower, half)[:, LEVEL]
    moved = theta + outer_weight[LEVEL] * error * gain
    # θ, or θ·x̃, may be beyond float64: such a θ is no use, and begins again from zero.
    theta[:] = finite_or_zero(moved)


def learn_distributed_lag(
    s: Any, y: float, w: float, decay: FloatArray, u: Deviations
) -> None:
    """Means and moments, as above; the coefficients every few rounds only."""
    wide, size = s.distributed_lag, len(u.wide)
    before = decay * wide.weight
    wide.weight[:] = before + w
    step = w / wide.weight
    seen = np.vstack([u.wide, y - u.wide_origin])
    wide.mean[:] += step * seen
    update_moments(wide.moments, seen, before * step, decay)
    if is_solution_due(s.counters[layout.ROUNDS], size):
        ridge = distributed_ridges(s.experts.spread, s.lags.spread)
        ridge = np.tile(ridge[:, None], (1, wide.theta.shape[1]))
        lower, pivots = factorise(wide.moments[:size], ridge)
        half = forward(lower, pivots, wide.moments[size])
        wide.theta[:] = back_substitute(lower, half)


def is_solution_due(rounds: float, size: int) -> bool:
    """Whether to solve in this round: in all of the first, then at an interval."""
    interval = SOLVE_INTERVAL * (1 + size // COORDINATES_PER_INTERVAL)
    return rounds < FIRST_ROUNDS or rounds % interval == 0


def distributed_ridges(spread: FloatArray, lag_spread: FloatArray) -> FloatArray:
    """The ridge of every coordinate: x, the last x, two past labels."""
    units = np.concatenate([spread[0], spread[0], lag_spread[: layout.PAST_LABELS]])
    return light_ridges(units)


def ridges(spread: FloatArray) -> FloatArray:
    """The ridge of every feature, δ times its spread about the lane's origin.

    A feature that never varied has neither moments nor spread: any positive number
    keeps its coefficient zero, and a huge one its leverage; so it is where one over a
    spread may overflow.
    """
    ridge = spread.T @ layout.RIDGE_BY_ORIGIN
    return np.asarray(np.where(ridge > MIN_SPREAD, ridge, UNVARIED_RIDGE))


def light_ridges(spread: FloatArray) -> FloatArray:
    """The same with the light ridge, for coordinates about their mean."""
    ridge = LAG_RIDGE * spread
    return np.asarray(np.where(ridge > MIN_SPREAD, ridge, UNVARIED_RIDGE))
