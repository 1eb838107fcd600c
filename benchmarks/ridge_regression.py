"""Ridge regression with forgetting, solved in every round: slow, and exact.

It is a baseline of accuracy: RLS with a retained ridge approximates it.
"""

import numpy as np

from thalweg.kernels.compiler.jit import kernel


@kernel
def discounted_ridge(x, y, gamma, delta):
    """Predictions x·A⁻¹b, A_t = γA_{t-1} + xxᵀ + (1-γ)δI and b_t = γb_{t-1} + xy.

    A is solved by its Cholesky factors. Shapes: x (T, n), y (T,), out (T,).
    """
    rounds, n = x.shape
    a, b, theta = delta * np.eye(n), np.zeros(n), np.zeros(n)
    lower, out = np.zeros((n, n)), np.empty(rounds)
    for t in range(rounds):
        out[t] = 0.0
        for i in range(n):
            out[t] += x[t, i] * theta[i]
        for i in range(n):
            b[i] = gamma * b[i] + x[t, i] * y[t]
            for j in range(i + 1):
                a[i, j] = gamma * a[i, j] + x[t, i] * x[t, j]
            a[i, i] += (1 - gamma) * delta
            theta[i] = b[i]
            for j in range(i + 1):
                rest = a[i, j]
                for k in range(j):
                    rest -= lower[i, k] * lower[j, k]
                lower[i, j] = np.sqrt(rest) if i == j else rest / lower[j, j]
                theta[i] -= lower[i, j] * theta[j] if j < i else 0.0
            theta[i] /= lower[i, i]
        for i in range(n - 1, -1, -1):
            theta[i] /= lower[i, i]
            for j in range(i):
                theta[j] -= lower[i, j] * theta[i]
    return out
