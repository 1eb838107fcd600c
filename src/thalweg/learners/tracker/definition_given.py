"""A forecast of y among the features, in the Tracker's definition.

The kernel's twin is kernels/tracker/given_forecast.py, which has the formula.
"""

import math
from typing import Any

import numpy as np

from thalweg.kernels.tracker.given_forecast import DISCOUNT, RATE
from thalweg.kernels.tracker.tracker_layout import GIVEN_FORECAST
from thalweg.types import FloatArray


def pool_forecasts(
    s: Any, x: FloatArray, own: float, low: float, high: float
) -> tuple[float, float]:
    """The forecast of a round, and the given one as it was clipped; 0 without one."""
    column = int(s.counters[GIVEN_FORECAST])
    if column == 0:
        return own, 0.0
    given = min(max(float(x[column - 1]), low), high)
    weights = pool_weights(s.pool.losses, float(s.pool.weight[0]))
    return own + float(weights[1:] @ (pool_members(own, given)[1:] - own)), given


def pool_members(own: float, given: float) -> FloatArray:
    """What is pooled: the own forecast, the mean of both, the given one."""
    return np.array([own, own + 0.5 * (given - own), given])


def pool_weights(losses: FloatArray, count: float) -> FloatArray:
    """w_j ∝ exp(-η N (L_j - L_min) / L_min), of discounted losses."""
    best = float(losses.min())
    if best > 0:
        shares = np.exp(-RATE * count * ((losses - best) / best))
    else:
        shares = np.where(losses > 0, 0.0, 1.0)
    return np.asarray(shares / math.fsum(shares))


def learn_pool(s: Any, own: float, given: float, y: float, w: float) -> None:
    """L_j ← d L_j + w(y - c_j)², N ← d N + w."""
    if s.counters[GIVEN_FORECAST] > 0:
        losses = w * (y - pool_members(own, given)) ** 2
        s.pool.losses[:] = DISCOUNT * s.pool.losses + losses
        s.pool.weight[0] = DISCOUNT * s.pool.weight[0] + w
