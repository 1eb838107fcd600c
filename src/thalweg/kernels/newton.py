"""Online Newton steps for losses of a linear prediction: see learners/newton.py."""

import math

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.losses import curvature, phi, slope
from thalweg.kernels.ud_factor import forget, learn, solve
from thalweg.kernels.windup import cap_covariance

MAX_GRADIENT_EXPONENT = 0.25
"""Gradients are clipped at the largest number to this power: P holds their squares."""


@kernel(ieee_division=True, nogil=True)
def newton(
    theta, factor, gamma, newton_step, full, code, shape, radius, low, high,
    x, y, weight, elapsed, out, loss, played, t,
):  # fmt: skip
    """Play from round ``t`` on, until a step leaves the domain or the rounds end.

    The domain is {‖θ‖ ≤ radius, low ≤ θ ≤ high}. Returns the number of rounds played:
    after the last of them ``theta`` is where its step led, perhaps outside.
    Shapes: theta, low, high (n,), factor (n+3, n), x (T, n), y (T,), weight and
    elapsed (T,) or empty for all ones, out (T,), loss (T,), played (T, n) or empty.
    """
    n = theta.size
    v = np.empty(n, theta.dtype)
    gain = np.empty(n, theta.dtype)
    while t < len(y):
        if len(played):
            played[t] = theta
        w = weight[t] if len(weight) else 1.0
        p = theta.dtype.type(0)
        for i in range(n):
            p += x[t, i] * theta[i]
        out[t] = p
        loss[t] = w * phi(code, shape, p, y[t])
        rate = w * slope(code, shape, p, y[t])
        if not full:
            rate = _bounded_rate(rate, x, t)
        # Both increments are c²xxᵀ, and ∇_t = rate·x, so P_t⁻¹∇_t = (rate / c) P_t⁻¹cx.
        c = math.sqrt(w * curvature(code, shape, p, y[t])) if full else rate
        for i in range(n):
            v[i] = c * x[t, i]
        forget(factor, theta.dtype.type(gamma ** elapsed[t] if len(elapsed) else gamma))
        learn(factor, v, gain)
        if c == 0 and rate != 0:
            solve(factor, x[t], gain)
        length = newton_step * (rate / c if c != 0 else rate)
        square = 0.0
        inside = True
        for i in range(n):
            theta[i] -= length * gain[i]
            square += theta[i] * theta[i]
            inside &= low[i] <= theta[i] <= high[i]
        cap_covariance(factor, gain, v)
        t += 1
        if not inside or square > radius * radius:
            break
    return t


@kernel
def _bounded_rate(rate, x, t):
    """The rate at which no entry of rate·x exceeds the largest legal gradient."""
    size = 0.0
    for i in range(x.shape[1]):
        size = max(size, abs(x[t, i]))
    limit = np.finfo(x.dtype).max ** MAX_GRADIENT_EXPONENT
    return rate if abs(rate) * size <= limit else math.copysign(limit / size, rate)
