"""Ridge regression whose ridge holds θ where it is instead of pulling it to zero.

θ += c (S + ridge)⁻¹ x̃ (ỹ - θ·x̃), for the two families about the recent mean.
It predicts as ``pulled`` does.
"""

import math

from numba import njit

from thalweg.kernels.tracker.solve import back


@njit(cache=True)
def learn(theta, u, gain, lower, solved):
    """One step along this round's gain; shapes theta (n, LEVELS), solved (z, LANES)."""
    n, lanes = theta.shape
    back(lower, n + 2, n, lanes, solved)
    for lane in range(lanes):
        error = u[n + 1, lane]
        for j in range(n):
            error -= theta[j, lane] * u[j, lane]
        for j in range(n):
            theta[j, lane] += gain[lane] * error * solved[j, lane]
        if not math.isfinite(error):  # θ·x̃ is beyond float64: such a θ is no use
            theta[:, lane] = 0.0
