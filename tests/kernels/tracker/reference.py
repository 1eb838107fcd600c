"""Independent references for the Tracker: every expert refitted from all rows so far.

Nothing is recursive that need not be, and no constant is imported, so that these
fail where the definition (learners/tracker/definition.py) and the kernels share an
error. A few dozen rounds take seconds.
"""

import numpy as np

MEMORIES = np.array([np.inf, 2, 4, 8, 16, 32, 64, 256, 1024, 4096])
DISCOUNTS = np.where(np.isinf(MEMORIES), 1.0, 1 - 1 / MEMORIES)
WIDE_MEMORIES = np.array([np.inf, 1024, 256, 64, 16])
FIRST_ROUNDS = np.where(np.isinf(MEMORIES), 1.0, MEMORIES / 2)
WIDE_FIRST_ROUNDS = np.where(np.isinf(WIDE_MEMORIES), 1.0, WIDE_MEMORIES / 2)
ACTIVE_FROM = np.concatenate([np.tile(FIRST_ROUNDS, 7), WIDE_FIRST_ROUNDS, [1.0]])
UNVARIED_RIDGE = 1e300


def adashare(weights, delta, cumulative_gap, losses, loss, t, prior):
    """One round of AdaShare over experts that are all active; ``prior`` sums to one.

    In logarithms, as after a shock e^{-ℓ/Δ} may be beyond float64.
    """
    zeta, log_v, gap = 1 - 1 / (t + 1), np.log(weights), loss - losses.min()
    if delta > 0:
        log_v = log_v - losses / delta
        log_sum = np.logaddexp.reduce(log_v)
        gap, log_v = loss + delta * log_sum, log_v - log_sum
    cumulative_gap = max(0.0, zeta * cumulative_gap + gap)
    new_delta = max(zeta * delta, cumulative_gap)
    if 0 < delta < new_delta:
        power, log_prior = delta / new_delta, np.log(prior)
        log_v = log_prior + power * (log_v - log_prior)
    v = np.exp(log_v - log_v.max())
    return zeta * v / v.sum() + (1 - zeta) * prior, new_delta, cumulative_gap


def boa(weights, squares, largest, rate, regrets, t):
    """One round of BOA over experts that are all active."""
    zeta, k = 1 - 1 / (t + 1), len(weights)
    squares = zeta * squares + regrets**2
    largest = np.maximum(zeta * largest, np.abs(regrets))
    new = np.minimum(0.5 / largest, np.sqrt(np.log(k + 1) / squares))
    power = np.where(rate > 0, np.minimum(1, new / np.where(rate > 0, rate, 1)), 1)
    v = (weights * k) ** power * np.exp(new * regrets - (new * regrets) ** 2)
    return zeta * v / v.sum() + (1 - zeta) / k, squares, largest, new


def softmax(losses, count, confidence):
    """The weights of one softmax rule."""
    v = np.exp(-0.1 * max(count, 1) * (losses - losses.min()) / losses.min())
    return trusted_shares(v, confidence)


def cauchy(charged, squares, weights, confidence):
    """The weights of the rule of Cauchy weights after t rounds.

    ``charged`` (t, K) is what experts were charged, ``squares`` (t,) the rule's own
    squared errors, ``weights`` (t,) those of the rounds.
    """
    scales = cauchy_scales(squares)[:-1, None]
    known = scales > 0
    logs = np.where(known, np.log1p(charged / np.where(known, scales, 1.0)), 0.0)
    fading = 0.95 ** np.arange(len(squares))[::-1]
    losses = (fading * weights) @ logs
    return trusted_shares(np.exp(-(losses - losses.min())), confidence)


def cauchy_scales(squares):
    """s² before every round and after the last; a square counts up to 16 s²."""
    scales = [0.0]
    for t, square in enumerate(squares, 1):
        before = scales[-1]
        capped = min(square, 16 * before) if before > 0 else square
        count = min((0.97 ** np.arange(t)).sum(), 32)
        scales.append(before + (capped - before) / count)
    return np.array(scales)


def trusted_shares(v, confidence):
    """Of all weight 1/1000 is shared; then experts are trusted by confidence."""
    shared = (0.999 * v / v.sum() + 0.001 / len(v)) * confidence
    return shared / shared.sum()


def charged(q, mean, y, confidence):
    """What experts are charged: as far as they are not trusted, the mean's loss."""
    return confidence * (y - q) ** 2 + (1 - confidence) * (y - mean) ** 2


def season(y):
    """The season after the labels y: the lowest normalised difference, if below 1."""
    t = len(y)
    lags = np.arange(1, (t - 1) // 2 + 1)
    d = np.array([_discounted_mean((y[lag:] - y[:-lag]) ** 2) for lag in lags])
    if not d.any():
        return 1
    total = np.cumsum(d)
    ratio = np.where(total > 0, d * lags / np.where(total > 0, total, 1), 1.0)
    return int(lags[ratio.argmin()]) if ratio.min() < 1 else 1


def _discounted_mean(values):
    weights = 0.9995 ** np.arange(len(values))[::-1]
    return weights @ values / weights.sum()


def variance(z):
    """The variance of every column; 0, not rounding, where it is constant."""
    return np.where(np.ptp(z, axis=0) > 0, z.var(axis=0), 0.0)


def system(u, discount, ridge, spread):
    """Σ γ^age u uᵀ + δ·spread; a coordinate without spread has a huge ridge."""
    weights = discount ** np.arange(len(u))[::-1]
    ridges = np.where(spread > 0, ridge * spread, UNVARIED_RIDGE)
    return (u.T * weights) @ u + np.diag(ridges)


def ridge_fit(u, v, discount, ridge, spread):
    """(Σ γ^age u uᵀ + δ·spread)⁻¹ Σ γ^age u v."""
    weights = discount ** np.arange(len(u))[::-1]
    return np.linalg.solve(system(u, discount, ridge, spread), (u.T * weights) @ v)


def leverage(u, now, discount, ridge, spread):
    """uᵀ(Σ γ^age u uᵀ + δ·spread)⁻¹u at ``now``."""
    return now @ np.linalg.solve(system(u, discount, ridge, spread), now)


def level_means(z, y, discount):
    """The discounted means of z and y, and the weight that they are means of."""
    weights = discount ** np.arange(len(y))[::-1]
    return weights @ z / weights.sum(), weights @ y / weights.sum(), weights.sum()


def level_fit(z, y, discount, ridge, spread=None):
    """The discounted means of z and y, and the ridge fit about them."""
    m, m_y, _ = level_means(z, y, discount)
    spread = variance(z) if spread is None else spread
    return m, m_y, ridge_fit(z - m, y - m_y, discount, ridge, spread)


def level_leverage(z, now, discount, ridge):
    """The leverage of ``now`` about the mean of z, and one over the mean's weight."""
    if len(z) == 0:
        return 0.0
    m, _, weight = level_means(z, np.zeros(len(z)), discount)
    return leverage(z - m, now - m, discount, ridge, variance(z)) + 1 / weight


def past_labels(y, t, count):
    """The last ``count`` labels before round t, newest first; the first stands for
    those before it.
    """
    return y[np.maximum(t - 1 - np.arange(count), 0)]


def experts(x, y, x_now, seasons, anchored):
    """Unclipped predictions and leverages of the 76 experts at ``x_now``.

    They have learnt the rounds (x, y). ``seasons[r]`` is the season that round r went
    by, the last that of now; ``anchored`` (2, 10, n) the anchored coefficients.
    """
    predictions, leverages, t = np.empty((7, 10)), np.empty((7, 10)), len(y)
    z, now = x[1:], x_now
    lags = np.array([past_labels(y, r, 3) for r in range(1, t + 1)])
    both, both_now = np.hstack([z, lags[:-1]]), np.append(x_now, lags[-1])
    u, d = x[1:] - x[:-1], np.diff(y)
    back = np.arange(1, t) - seasons[1:t]
    v, e = x[1:] - x[back], y[1:] - y[back]
    then = t - seasons[t]
    for g, gamma in enumerate(DISCOUNTS):
        for i, ridge in enumerate((0.01, 1.0)):
            m, m_y, theta = level_fit(z, y[1:], gamma, ridge)
            predictions[i, g] = m_y + theta @ (now - m)
            predictions[4 + i, g] = m_y + anchored[i, g] @ (now - m)
            leverages[i, g] = level_leverage(z, now, gamma, ridge)
            leverages[4 + i, g] = leverages[i, g]
        m, m_y, theta = level_fit(both, y[1:], gamma, 0.01)
        predictions[6, g] = m_y + theta @ (both_now - m)
        leverages[6, g] = level_leverage(both, both_now, gamma, 0.01)
        for family, step, change, origin, ridge in (
            (2, u, d, t - 1, 0.01), (3, v, e, then, 1.0),
        ):  # fmt: skip
            spread, here = (step**2).mean(axis=0), now - x[origin]
            theta = ridge_fit(step, change, gamma, ridge, spread)
            predictions[family, g] = y[origin] + theta @ here
            leverages[family, g] = leverage(step, here, gamma, ridge, spread)
    wide = distributed_lag(x, y, x_now)
    wide_leverages = [
        leverages[6, list(MEMORIES).index(memory)]
        + level_leverage(x[1:-1], x[-1], 1 - 1 / memory, 0.01)
        for memory in WIDE_MEMORIES
    ]
    return (
        np.concatenate([predictions.ravel(), wide, y[-1:]]),
        np.concatenate([leverages.ravel(), wide_leverages, [0.0]]),
    )


def distributed_lag(x, y, x_now):
    """Predictions of the experts on (x, the last x, two past labels).

    They are solved in rounds 1 to 15, then every fourth, if there are less than 32
    coordinates.
    """
    t, n = len(y), x.shape[1]
    labels = np.array([past_labels(y, r, 2) for r in range(1, t + 1)])
    rows = np.hstack([x[1:], x[:-1], labels[:-1]])
    now = [x_now, x[-1], labels[-1]]
    solved = t - 1 if t - 1 < 16 else (t - 1) // 4 * 4
    then = rows[:solved]
    spread = np.append(np.tile(variance(then[:, :n]), 2), variance(then[:, 2 * n :]))
    predictions = []
    for memory in WIDE_MEMORIES:
        gamma = 1 - 1 / memory
        theta = level_fit(then, y[1 : solved + 1], gamma, 0.01, spread)[2]
        m, m_y, _ = level_means(rows, y[1:], gamma)
        predictions.append(m_y + theta @ (np.concatenate(now) - m))
    return np.array(predictions)


def clip_limits(y, shrunk):
    """The limits of predictions after the labels y; ``shrunk`` (40,) may move them."""
    label_range, step = np.ptp(y), abs(np.diff(y)).max()
    low = max(y.min() - label_range / 2, y[-1] - 2 * step)
    high = min(y.max() + label_range / 2, y[-1] + 2 * step)
    if abs(y[-1] - y[-2]) <= step / 2:
        ordered = np.sort(shrunk)
        if (shrunk < low).sum() >= 30:
            low = max(ordered[29], y.min() - 2 * label_range)
        if (shrunk > high).sum() >= 30:
            high = min(ordered[10], y.max() + 2 * label_range)
    return low, high


def limits_after_jumps(y, forecasts, delay=0):
    """The limits after each label but the first, from the labels up to it, (T - 1, 2).

    Rounds are looked at from jump to jump; which of them are limited follows from where
    the label jumped, and when it came back.
    """
    steps, errors = abs(np.diff(y)), abs(y - forecasts)[1:]
    y, forecasts = y[1:], forecasts[1:]
    limits = np.full((len(steps), 2), [-np.inf, np.inf])

    roots = [0.0]  # means of √|step|, by the number of steps before
    for i, step in enumerate(steps):
        roots.append(roots[-1] + (np.sqrt(step) - roots[-1]) / min(i + 1, 256))
    usual = np.square(roots)
    t = 0
    while t < len(steps):
        if t < 32 or min(steps[t], 2 * errors[t]) <= 16 * usual[t]:
            t += 1
            continue
        jump, origin, size = t, forecasts[t], errors[t]
        near = abs(y[jump + 1 : jump + 5] - origin) < size / 10
        returned = jump + 1 + near.argmax() if near.any() else len(steps)
        for here in range(jump, min(jump + 4, returned, len(steps))):
            seen = np.append(y[jump : here + 1], origin)
            margin = max(size, 4 * (1 + delay) * usual[here + 1])
            limits[here] = seen.min() - margin, seen.max() + margin
        t = jump + 5
        if near.any():
            for here in range(returned, min(returned + 4, len(steps))):
                seen = np.append(y[returned : here + 1], origin)
                margin = max(size / 10, 4 * (1 + delay) * usual[here + 1])
                limits[here] = seen.min() - margin, seen.max() + margin
            t = returned + 5
    return limits


def step_anchored(anchored, x, y):
    """The anchored coefficients after the last round of (x, y), in place."""
    z, n = x[1:], x.shape[1]
    for g, gamma in enumerate(DISCOUNTS):
        weights = gamma ** np.arange(len(z))[::-1]
        before = weights[:-1].sum()
        if before == 0:
            continue
        m, m_y = weights[:-1] @ z[:-1] / before, weights[:-1] @ y[1:-1] / before
        mean = weights @ z / weights.sum()
        new, label = z[-1] - m, y[-1] - m_y
        for i, ridge in enumerate((0.01, 1.0)):
            moments = system(z - mean, gamma, ridge, variance(z))
            gain = np.linalg.solve(moments, new[:n])
            gain *= before / (before + 1)
            anchored[i, g] += gain * (label - anchored[i, g] @ new)
