"""The yardstick for RLS kernels: textbook covariance RLS, as fast as plain code gets.

Full symmetric update, reciprocals hoisted, numba, no safeguards of any kind: it blows
up on real streams. Robust kernels are timed as multiples of this one.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def plain_rls(theta, cov, gamma, x, y, out):
    """Shapes: theta (n,), cov (n, n), x (T, n), y (T,), out (T,)."""
    n = theta.size
    cov_x = np.empty(n)
    per_gamma = 1 / gamma
    for t in range(len(y)):
        cov_x[:] = 0.0
        for j in range(n):
            xj = x[t, j]
            for i in range(n):
                cov_x[i] += cov[j, i] * xj
        prediction, scale = 0.0, gamma
        for i in range(n):
            prediction += x[t, i] * theta[i]
            scale += x[t, i] * cov_x[i]
        out[t] = prediction
        per_scale = 1 / scale
        gain = (y[t] - prediction) * per_scale
        for i in range(n):
            theta[i] += cov_x[i] * gain
            row = cov_x[i] * per_scale
            for j in range(n):
                cov[i, j] = (cov[i, j] - cov_x[j] * row) * per_gamma
