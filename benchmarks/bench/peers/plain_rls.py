"""The reference for timings of RLS kernels: textbook RLS in covariance form.

It is as fast as plain code gets: a full symmetric update with hoisted reciprocals,
compiled by numba, without any safeguard. It diverges on real streams (covariance
windup, loss of symmetry). The robust kernels are timed as multiples of it.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def plain_rls(theta, cov, gamma, x, y, out):
    """Play the rounds (x, y), updating ``theta`` and ``cov`` in place.

    Shapes: theta (n,), cov (n, n), x (T, n), y (T,), out (T,).
    """
    n = theta.size
    cov_x = np.empty(n)
    inverse_gamma = 1 / gamma
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
        inverse_scale = 1 / scale
        step = (y[t] - prediction) * inverse_scale
        for i in range(n):
            theta[i] += cov_x[i] * step
            row = cov_x[i] * inverse_scale
            for j in range(n):
                cov[i, j] = (cov[i, j] - cov_x[j] * row) * inverse_gamma
