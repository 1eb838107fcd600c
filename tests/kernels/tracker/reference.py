"""Independent references for the Tracker: every expert refitted from all rows so far.

Nothing is recursive that need not be, and no constant is imported, so that these
fail where the definition (learners/tracker/definition.py) and the kernels share an
error. A few dozen rounds take seconds.
"""

import numpy as np

MEMORIES = np.array([np.inf, 2, 4, 8, 16, 32, 64, 256, 1024, 4096])
DISCOUNTS = np.where(np.isinf(MEMORIES), 1.0, 1 - 1 / MEMORIES)
ACTIVE_FROM = np.append(
    np.tile(np.where(np.isinf(MEMORIES), 1.0, MEMORIES / 2), 7), 1.0
)


def adashare(weights, delta, cumulative_gap, losses, loss, t):
    """One round of AdaShare over experts that are all active."""
    zeta, v, gap = 1 - 1 / (t + 1), weights, loss - losses.min()
    if delta > 0:
        v = weights * np.exp(-losses / delta)
        gap, v = loss + delta * np.log(v.sum()), v / v.sum()
    cumulative_gap = max(0.0, zeta * cumulative_gap + gap)
    new_delta = max(zeta * delta, cumulative_gap)
    if 0 < delta < new_delta:
        v = v ** (delta / new_delta) / (v ** (delta / new_delta)).sum()
    return zeta * v + (1 - zeta) / len(v), new_delta, cumulative_gap


def boa(weights, squares, largest, rate, regrets, t):
    """One round of BOA over experts that are all active."""
    zeta, k = 1 - 1 / (t + 1), len(weights)
    squares = zeta * squares + regrets**2
    largest = np.maximum(zeta * largest, np.abs(regrets))
    new = np.minimum(0.5 / largest, np.sqrt(np.log(k + 1) / squares))
    power = np.where(rate > 0, np.minimum(1, new / np.where(rate > 0, rate, 1)), 1)
    v = (weights * k) ** power * np.exp(new * regrets - (new * regrets) ** 2)
    return zeta * v / v.sum() + (1 - zeta) / k, squares, largest, new


def softmax(losses, count):
    """The weights of one softmax rule."""
    v = np.exp(-0.1 * max(count, 1) * (losses - losses.min()) / losses.min())
    return 0.999 * v / v.sum() + 0.001 / len(v)


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


def ridge_fit(u, v, discount, ridge, spread):
    """(Σ γ^age u uᵀ + δ·spread)⁻¹ Σ γ^age u v; a coordinate without spread gets 1."""
    weights = discount ** np.arange(len(u))[::-1]
    ridges = np.where(spread > 0, ridge * spread, 1.0)
    return np.linalg.solve((u.T * weights) @ u + np.diag(ridges), (u.T * weights) @ v)


def level_fit(z, y, discount, ridge):
    """The discounted means of z and y, and the ridge fit about them."""
    weights = discount ** np.arange(len(y))[::-1]
    m, m_y = weights @ z / weights.sum(), weights @ y / weights.sum()
    return m, m_y, ridge_fit(z - m, y - m_y, discount, ridge, z.var(axis=0))


def experts(x, y, x_now, seasons, anchored):
    """Unclipped predictions of the 71 experts at ``x_now`` after the rounds (x, y).

    ``seasons[r]`` is the season that round r went by, the last that of now;
    ``anchored`` (2, 10, n) the anchored coefficients.
    """
    predictions, t = np.empty((7, 10)), len(y)
    z, n = np.column_stack([x[1:], y[:-1]]), x.shape[1]
    u, d = np.diff(x, axis=0), np.diff(y)
    back = np.arange(1, t) - seasons[1:t]
    v, e = x[1:] - x[back], y[1:] - y[back]
    then = t - seasons[t]
    for g, gamma in enumerate(DISCOUNTS):
        for i, ridge in enumerate((0.01, 1.0)):
            m, m_y, theta = level_fit(z[:, :n], y[1:], gamma, ridge)
            predictions[i, g] = m_y + theta @ (x_now - m)
            predictions[4 + i, g] = m_y + anchored[i, g] @ (x_now - m)
        m, m_y, theta = level_fit(z, y[1:], gamma, 0.01)
        predictions[6, g] = m_y + theta @ (np.append(x_now, y[-1]) - m)
        theta = ridge_fit(u, d, gamma, 0.01, (u**2).mean(axis=0))
        predictions[2, g] = y[-1] + theta @ (x_now - x[-1])
        theta = ridge_fit(v, e, gamma, 1.0, (v**2).mean(axis=0))
        predictions[3, g] = y[then] + theta @ (x_now - x[then])
    return np.append(predictions.ravel(), y[-1])


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
        moments = ((z - mean).T * weights) @ (z - mean)
        new, label = z[-1] - m, y[-1] - m_y
        for i, ridge in enumerate((0.01, 1.0)):
            ridges = np.where(z.var(axis=0) > 0, ridge * z.var(axis=0), 1.0)
            gain = np.linalg.solve(moments + np.diag(ridges), new[:n])
            gain *= before / (before + 1)
            anchored[i, g] += gain * (label - anchored[i, g] @ new)
