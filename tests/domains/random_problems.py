"""Random projection problems, from easy to ill-conditioned, for tests of domains."""

import numpy as np


def information(rng, n, condition=1e8):
    """A positive definite P: diagonal, a multiple of I or full; at scales 1e∓12 too."""
    exponents = rng.uniform(-0.5, 0.5, n)
    exponents[0], exponents[-1] = -0.5, 0.5
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    kind = rng.integers(4)
    if kind == 0:
        basis = np.eye(n)
    if kind == 1:
        exponents[:] = 0.0
    P = (basis * condition**exponents) @ basis.T
    return 0.5 * (P + P.T) * 10.0 ** rng.choice([-12, 0, 0, 12])


def point(rng, n, farthest=1e6):
    """A y of norm 1 up to ``farthest``, with ties or whole numbers at times."""
    y = rng.standard_normal(n)
    kind = rng.integers(4)
    if kind == 0:
        y[:] = y[0]
    if kind == 1:
        y = np.ceil(2 * y) - 0.5
    return y / np.linalg.norm(y) * farthest ** rng.choice([0.0, rng.random()])


def box(rng, n):
    """(low, high) around or beside the origin; some coordinates fixed or unbounded."""
    low = rng.uniform(-1, 0.2, n)
    high = low + rng.uniform(0, 1, n)
    fixed = rng.random(n) < rng.choice([0, 0.1, 0.9])
    high[fixed] = low[fixed]
    low[(rng.random(n) < 0.1) & ~fixed] = -np.inf
    high[(rng.random(n) < 0.1) & ~fixed] = np.inf
    return low, high


def inequalities(rng, n):
    """(A, b) that the origin meets: general, with ties, near twins, a cone, flat."""
    m = int(rng.integers(1, 3 * n + 2))
    A, b = rng.standard_normal((m, n)), rng.uniform(0, 1, m)
    kind = rng.integers(6)
    if kind == 0:
        A, b = np.sign(A), np.ones(m)
    if kind == 1:
        A, b = np.vstack([A, A + 1e-9 * rng.standard_normal(A.shape)]), np.tile(b, 2)
    if kind == 2:
        b = np.zeros(m)
    if kind == 3:
        A, b = np.vstack([A, A[:1], -A[:1]]), np.append(b, [0.0, 0.0])
    return A, b
