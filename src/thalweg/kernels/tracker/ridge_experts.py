r"""Ridge regressions with forgetting factors, one in every SIMD lane.

Also known as: exponentially weighted least squares with a forgetting factor, solved
from its normal equations in every round instead of by the RLS recursion.

Every expert but the last value is a ridge regression of y - origin on x - origin. The
origin of the level families is a discounted mean, that of the others a past round: the
last one, or the one a season ago. With ũ, ỹ the deviations of x and y from the origin,

.. math:: S \gets \gamma S + c\, \tilde u \tilde u^T, \quad
          b \gets \gamma b + c\, \tilde u \tilde y

there are four kinds; the first three share S, b and the factors L D Lᵀ of
A = S + ridge (solve.py):

- *shrunk*: θ = A⁻¹b. Where little is known, the prediction is the origin's.
- *anchored*: θ += c A⁻¹ũ (ỹ - θ·ũ). The ridge holds θ where it is instead of shrinking
  it to zero. For the two families about the recent mean.
- *autoregressive*: as the shrunk ones about the recent mean with a light ridge, with
  the last labels as features (autoregressive.py).
- *distributed lag*: the same with the last features as well (distributed_lag.py).

All predict origin + θ·ũ. Of a shrunk one θ itself is not needed:

.. math:: \theta\cdot\tilde u = (D^{-1}L^{-1}b)\cdot w, \quad w = L^{-1}\tilde u, \qquad
          h = \tilde u^T A^{-1} \tilde u = \sum_j w_j^2 / D_j

so that its leverage h comes with the prediction: how far x lies from what is known. The
rules trust an expert by its *confidence* 1/√(1 + h + (h/5)²) (``set_confidences`` in
round.py). Of the levels h has 1/W added to it, W the weight of the mean.
"""

from thalweg.kernels.compiler.jit import inline_function, inner_function
from thalweg.kernels.compiler.simd import WIDTH, fma, load, select_greater, store
from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.seasonality import feature_row, newest_label
from thalweg.kernels.tracker.solve import back_substitute, factorise, finite_or_zero

MIN_SPREAD = 1e-250
"""Lower limit of a spread, a mean square: that of a feature that varies by 1e-125."""
MAX_LEVERAGE = 1e20
"""Upper limit of a leverage, so that the confidence stays above 0."""
UNVARIED_RIDGE = 1e300
"""The ridge of a feature that has not varied: it has no coefficient and no leverage."""


@inner_function
def set_deviations(counters, past_x, past_y, mean, x, u, origin, age):
    """Set the origins, and the deviations u (n + 1, LANES) but for y's, the last row.

    In every lane, with m the mean and l = 1 or the season's length,

        u = x - m_x         origin = m_y       (levels)
        u = x - x_{t-l}     origin = y_{t-l}   (others)

    The last round and the season are as far back as they are when a forecast is asked
    for. Where a round is learnt ``age`` rounds after its forecast, they are that much
    further back.
    """
    n, now = x.size, newest_label(counters)
    last_lag, season_lag = origin_lags(counters, age)
    last_y, season_y = past_y[now + last_lag - 1], past_y[now + season_lag - 1]
    last = feature_row(counters, last_lag)
    then = feature_row(counters, season_lag)
    for lane in range(0, layout.LANES, WIDTH):
        step, seasonal = load(layout.IS_STEP, lane), load(layout.IS_SEASONAL, lane)
        for j in range(n):
            # The mean is zero in the lanes of steps and seasons.
            before = fma(step, past_x[last, j], load(mean, (j, lane)))
            before = fma(seasonal, past_x[then, j], before)
            store(u, (j, lane), x[j] - before)
        before = fma(step, last_y, load(mean, (n, lane)))
        store(origin, lane, fma(seasonal, season_y, before))


@inline_function
def origin_lags(counters, age):
    """How many rounds ago the newest label known then was, and the one of a season ago.

    Where labels are late by d rounds, the season is its first multiple that is known by
    then. Rounds are counted from the newest that is remembered.
    """
    delay, season = int(counters[layout.DELAY]), int(counters[layout.SEASON])
    if delay == 0:
        return 1, season
    known = (delay + season) // season * season - delay
    if age > 0 and age + max(known, 1) <= layout.MAX_SEASON:
        return age + 1, age + known
    return 1, known


@inline_function
def past_lag(counters, age, i):
    """How many rounds ago the newest label known then, or one i rounds older, was.

    Before the first round that is remembered, that one stands for all.
    """
    last_lag, _ = origin_lags(counters, age)
    remembered = min(int(counters[layout.PASSED_ROUNDS]), layout.MAX_SEASON)
    return max(min(last_lag + i, remembered), 1)


@inner_function
def predict_shrunk(lower, u, origin, weight, projection, leverage, predictions):
    """Set the predictions of all lanes, and what the other kinds build on.

    In every lane w = L⁻¹u, prediction = origin + Σ_j v_j w_j with v = D⁻¹L⁻¹b, and
    leverage = Σ_j w_j²/D_j + 1/W; no 1/W where the origin is no mean.
    """
    n = projection.shape[0]
    for lane in range(0, layout.LANES, WIDTH):
        total = load(weight, lane) * load(layout.IS_LEVEL, lane)
        h = select_greater(total, 0.0, 1.0 / total, 0.0)
        expected, j = load(origin, lane), 0
        while j + 1 < n:  # two rows at a time share the loads of w
            first, second = load(u, (j, lane)), load(u, (j + 1, lane))
            for k in range(j):
                known = -1.0 * load(projection, (k, lane))
                first = fma(load(lower, (j, k, lane)), known, first)
                second = fma(load(lower, (j + 1, k, lane)), known, second)
            second = fma(load(lower, (j + 1, j, lane)), -1.0 * first, second)
            store(projection, (j, lane), first)
            store(projection, (j + 1, lane), second)
            h = fma(first * load(lower, (j, j, lane)), first, h)
            h = fma(second * load(lower, (j + 1, j + 1, lane)), second, h)
            expected = fma(load(lower, (n, j, lane)), first, expected)
            expected = fma(load(lower, (n, j + 1, lane)), second, expected)
            j += 2
        if j < n:
            w = load(u, (j, lane))
            for k in range(j):
                known = -1.0 * load(projection, (k, lane))
                w = fma(load(lower, (j, k, lane)), known, w)
            store(projection, (j, lane), w)
            h = fma(w * load(lower, (j, j, lane)), w, h)
            expected = fma(load(lower, (n, j, lane)), w, expected)
        store(leverage, lane, finite_leverage(h))
        store(predictions, lane, expected)


@inline_function
def finite_leverage(h):
    """The leverage, or ``MAX_LEVERAGE`` where it is more, infinite or not a number."""
    return select_greater(MAX_LEVERAGE, h, h, MAX_LEVERAGE)


@inner_function
def predict_experts(theta, u, origin, predictions, first):
    """Set the predictions of all lanes of θ (k, lanes), from index ``first`` on.

    In every lane, predictions[first + lane] = origin + Σ_j θ_j u_j.
    """
    for lane in range(0, theta.shape[1], WIDTH):
        expected = load(origin, lane)
        for j in range(len(theta)):
            expected = fma(load(theta, (j, lane)), load(u, (j, lane)), expected)
        store(predictions, first + lane, expected)


@inline_function
def set_factors(experts, workspace):
    """Factor the moments, from which ``predict_shrunk`` predicts."""
    set_ridges(experts.spread, workspace.ridge)
    factorise(experts.moments, workspace.ridge, workspace.lower, workspace.work)


@inline_function
def learn_experts(experts, x, y, w, elapsed, share, workspace):
    """Update means, moments and spreads. The factors are then those of before.

    ``share`` is the part of this round in the weight of all rounds so far.
    """
    u, origin = workspace.deviations, workspace.origin
    outer_weight, decay = workspace.outer_weight, workspace.decay
    set_decay(layout.DISCOUNT, elapsed, decay)
    update_means(experts.weight, experts.mean, y, w, u, origin, outer_weight, decay)
    update_spread(experts.overall_mean, experts.spread, x, u, share)
    update_moments(experts.moments, u, outer_weight, decay)


@inner_function
def set_decay(discount, elapsed, decay):
    """Set γ^elapsed in every lane."""
    for lane in range(0, decay.size, WIDTH):
        store(decay, lane, load(discount, lane))
    if elapsed != 1:
        for lane in range(decay.size):
            decay[lane] = discount[lane] ** elapsed


@inner_function
def update_means(weight, mean, y, w, u, origin, outer_weight, decay):
    """Complete the deviations u with y, set ``outer_weight``, move means.

    In every lane, with W' = γ^elapsed W,

        u_y = y - origin,  W ← W' + w,  c = W'w / W,  m ← m + (w / W) u   (levels)
        u_y = y - origin,  W ← W' + w,  c = w,        m stays 0           (others)

    so that the moments Σ c u uᵀ, with u the deviation from the old mean, are exactly
    the discounted second moments about the discounted mean.
    """
    n = len(u) - 1
    for lane in range(0, layout.LANES, WIDTH):
        store(u, (n, lane), y - load(origin, lane))
        before = load(decay, lane) * load(weight, lane)
        now = before + w
        level = load(layout.IS_LEVEL, lane)
        step = level * w / now
        store(weight, lane, now)
        store(outer_weight, lane, select_greater(level, 0.5, before * step, w))
        for j in range(n + 1):
            moved = fma(step, load(u, (j, lane)), load(mean, (j, lane)))
            store(mean, (j, lane), moved)


@inner_function
def update_moments(moments, u, outer_weight, decay):
    """Discount the second moments, and add those of this round.

    In every lane S_ij ← γ S_ij + c (u_i u_j) for j ≤ i < n, the lower triangle; row n
    is the same with u_y in place of u_i, and row n + 1, where there is one, is u.
    """
    rows, n, lanes = moments.shape
    for lane in range(0, lanes, WIDTH):
        c, gamma = load(outer_weight, lane), load(decay, lane)
        for i in range(n + 1):
            u_i = load(u, (i, lane))
            for j in range(min(i + 1, n)):
                # u_i u_j comes first, as it equals u_j u_i exactly; c is at most w.
                product = c * (u_i * load(u, (j, lane)))
                updated = fma(gamma, load(moments, (i, j, lane)), product)
                store(moments, (i, j, lane), updated)
        if rows > n + 1:
            for j in range(n):
                store(moments, (n + 1, j, lane), load(u, (j, lane)))


@inner_function
def update_spread(overall_mean, spread, x, u, share):
    """Update the mean squares that give each ridge its unit; a round counts ``share``.

    They are about the overall mean, the last round and the round a season ago: (3, n).
    """
    for j in range(overall_mean.size):
        update_variance(overall_mean, spread[0], j, x[j], share)
        for family in range(1, 3):
            step = u[j, (family + 1) * layout.MEMORY_COUNT]
            spread[family, j] += share * (step * step - spread[family, j])


@inline_function
def update_variance(mean, variance, j, value, share):
    """Update the mean and the variance of coordinate j, with Welford's recursion."""
    before = value - mean[j]
    mean[j] += share * before
    variance[j] += share * (before * (value - mean[j]) - variance[j])


@inner_function
def set_ridges(spread, ridge):
    """Set the ridge of every coordinate, δ times its spread: (n, LANES).

    In every lane ridge_j = Σ_o δ_o spread_oj over the three origins o, two of whose δ
    are 0; or ``UNVARIED_RIDGE`` where that is almost 0. A coordinate that never
    varied has neither moments nor a spread: any positive number keeps its coefficient
    zero, and a huge one its leverage. So it is where a spread is so small that one over
    it may be beyond float64.
    """
    for lane in range(0, layout.LANES, WIDTH):
        for j in range(len(ridge)):
            delta = load(layout.RIDGE_BY_ORIGIN, (0, lane)) * spread[0, j]
            delta = fma(load(layout.RIDGE_BY_ORIGIN, (1, lane)), spread[1, j], delta)
            delta = fma(load(layout.RIDGE_BY_ORIGIN, (2, lane)), spread[2, j], delta)
            ridge_j = select_greater(delta, MIN_SPREAD, delta, UNVARIED_RIDGE)
            store(ridge, (j, lane), ridge_j)


@inner_function
def step_anchored(theta, u, outer_weight, lower, gain):
    """Move θ (n, lanes) one step along this round's gain (n, LANES), unnormalised.

    In every lane gain = (S + ridge)⁻¹ u, e = u_y - θ·u, the innovation or a priori
    error, and θ ← θ + (c e) gain; or 0 where that is infinite, as it is where e is.
    """
    n, lanes = theta.shape
    back_substitute(lower, n + 1, n, lanes, gain)
    for lane in range(0, lanes, WIDTH):
        error = load(u, (n, lane))
        for j in range(n):
            negative = -1.0 * load(theta, (j, lane))
            error = fma(negative, load(u, (j, lane)), error)
        step = load(outer_weight, lane) * error
        # An infinite θ, or θ·u, is useless: it starts again from zero.
        for j in range(n):
            moved = fma(step, load(gain, (j, lane)), load(theta, (j, lane)))
            store(theta, (j, lane), finite_or_zero(moved))
