"""Online Newton steps for losses of a linear prediction: see learners/newton.py."""

import math

import numpy as np

from thalweg.kernels.ball_projection import project_on_ball, projection_workspace
from thalweg.kernels.compiler.jit import kernel
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
    """Play from round ``t`` on, until the rounds end or a step leaves the domain in a
    way that kernels/ball_projection.py cannot mend.

    The domain is {‖θ‖ ≤ radius, low ≤ θ ≤ high}. Returns the number of rounds played:
    after the last of them ``theta`` is where its step led, perhaps outside.
    Shapes: theta, low, high (n,), factor (n+3, n), x (T, n), y (T,), weight and
    elapsed (T,) or empty for all ones, out (T,), loss (T,), played (T, n) or empty.
    """
    v = np.empty(theta.size, theta.dtype)
    gain = np.empty(theta.size, theta.dtype)
    work = projection_workspace(theta)
    while t < len(y):
        if len(played):
            played[t] = theta
        w = weight[t] if len(weight) else 1.0
        discount = gamma ** elapsed[t] if len(elapsed) else gamma
        out[t], loss[t], inside = newton_round(
            theta, factor, discount, newton_step, full, code, shape, radius, low, high,
            x, t, y[t], w, v, gain,
        )  # fmt: skip
        t += 1
        if not (inside or project_on_ball(theta, factor, radius, low, high, work)):
            break
    return t


@kernel(ieee_division=True, inline=True)
def newton_round(
    theta, factor, discount, newton_step, full, code, shape, radius, low, high,
    x, t, y, w, v, gain,
):  # fmt: skip
    """One round, of the row x[t], the label y and the weight w.

    Returns the prediction, its loss, and whether the step ended in the domain.
    ``discount`` is γ to the power of the time elapsed; v and gain are (n,) to work in.
    """
    n = theta.size
    p = theta.dtype.type(0)
    for i in range(n):
        p += x[t, i] * theta[i]
    loss = w * phi(code, shape, p, y)
    rate = w * slope(code, shape, p, y)
    if not full:
        rate = _bounded_rate(rate, x, t)
    # Both increments are c²xxᵀ, and ∇_t = rate·x, so P_t⁻¹∇_t = (rate / c) P_t⁻¹cx.
    c = math.sqrt(w * curvature(code, shape, p, y)) if full else rate
    for i in range(n):
        v[i] = c * x[t, i]
    forget(factor, theta.dtype.type(discount))
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
    return p, loss, inside and not square > radius * radius


@kernel
def _bounded_rate(rate, x, t):
    """The rate at which no entry of rate·x exceeds the largest legal gradient."""
    size = 0.0
    for i in range(x.shape[1]):
        size = max(size, abs(x[t, i]))
    limit = np.finfo(x.dtype).max ** MAX_GRADIENT_EXPONENT
    return rate if abs(rate) * size <= limit else math.copysign(limit / size, rate)
