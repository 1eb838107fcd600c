"""A forecast of y among the features, in the Tracker's definition.

The kernel's twin is kernels/tracker/external_forecast.py, which has the formula.
"""

import math
from typing import Any

import numpy as np

from thalweg.kernels.tracker import tracker_layout as layout
from thalweg.kernels.tracker.external_forecast import DISCOUNT, RATE
from thalweg.types import FloatArray


def pool_forecasts(
    s: Any, x: FloatArray, own: float, low: float, high: float
) -> tuple[float, float]:
    """The forecast of a round, and the clipped external one, or 0."""
    column = int(s.counters[layout.EXTERNAL_FORECAST])
    if column == 0:
        return own, 0.0
    external = min(max(float(x[column - 1]), low), high)
    weights = pool_weights(s.pool.losses, float(s.pool.weight[0]))
    return own + float(weights[1:] @ (pool_members(own, external)[1:] - own)), external


def pool_members(own: float, external: float) -> FloatArray:
    """The pooled forecasts: the own one, the mean of both, the external one."""
    return np.array([own, own + 0.5 * (external - own), external])


def pool_weights(losses: FloatArray, count: float) -> FloatArray:
    """w_j ∝ exp(-η N (L_j - L_min) / L_min), of discounted losses."""
    best = float(losses.min())
    if best > 0:
        shares = np.exp(-RATE * count * ((losses - best) / best))
    else:
        shares = np.where(losses > 0, 0.0, 1.0)
    return np.asarray(shares / math.fsum(shares))


def learn_pool(s: Any, own: float, external: float, y: float, w: float) -> None:
    """L_j ← d L_j + w(y - c_j)², N ← d N + w."""
    if s.counters[layout.EXTERNAL_FORECAST] > 0:
        losses = w * (y - pool_members(own, external)) ** 2
        s.pool.losses[:] = DISCOUNT * s.pool.losses + losses
        s.pool.weight[0] = DISCOUNT * s.pool.weight[0] + w
