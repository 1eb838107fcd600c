"""Online gradient descent over whole arrays: inner loops of learners/gradient.py."""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.losses import phi, slope


@kernel(nogil=True)
def gradient(
    theta, discounted_count, gamma, before, now, code, shape, radius, low, high,
    x, y, weight, elapsed, out, loss, played,
):  # fmt: skip
    """Play the rounds (x, y), updating ``theta`` in place; returns the new S_t.

    The step size is 1 / (before·γS_{t-1} + now·w_t). The domain is
    {‖θ‖ ≤ radius, low ≤ θ ≤ high}; only one of the two constraints may be active.
    ``discounted_count`` is S_{t-1}, the discounted number of rounds so far.
    Shapes: theta, low, high (n,), x (T, n), y (T,), weight and elapsed (T,) or empty
    for all ones, out (T,), loss (T,), played (T, n) or empty.
    """
    step = np.empty_like(theta)
    for t in range(len(y)):
        if len(played):
            played[t] = theta
        w = weight[t] if len(weight) else 1.0
        discounted_count *= gamma ** elapsed[t] if len(elapsed) else gamma
        out[t], loss[t] = gradient_round(
            theta, before * discounted_count + now * w, code, shape, radius, low, high,
            x, t, y[t], w, step,
        )  # fmt: skip
        discounted_count += w
    return discounted_count


@kernel(inline=True)
def gradient_round(
    theta, inverse_step_size, code, shape, radius, low, high, x, t, y, w, step
):  # fmt: skip
    """One round, of the row x[t], the label y and the weight w.

    Returns the prediction and its loss; step is (n,) to work in.
    """
    p = theta.dtype.type(0)
    for i in range(theta.size):
        p += x[t, i] * theta[i]
    if w > 0:
        longest = np.finfo(theta.dtype).max ** 0.5
        length = w * slope(code, shape, p, y) / inverse_step_size
        # An infinite length would make NaN of a feature that is 0.
        length = min(max(length, -longest), longest)
        for i in range(theta.size):
            step[i] = length * x[t, i]
        descend(theta, step, radius, low, high)
    return p, w * phi(code, shape, p, y)


@kernel(nogil=True)
def point_gradient(
    theta, discounted_count, gamma, before, now, radius, low, high,
    y, weight, elapsed, out, loss, played,
):  # fmt: skip
    """``gradient`` for the loss ½‖θ - y‖²: y and out are (T, n), and θ is predicted."""
    step = np.empty_like(theta)
    for t in range(len(y)):
        if len(played):
            played[t] = theta
        w = weight[t] if len(weight) else 1.0
        discounted_count *= gamma ** elapsed[t] if len(elapsed) else gamma
        out[t] = theta
        loss[t] = point_gradient_round(
            theta, before * discounted_count + now * w, radius, low, high, y, t, w, step
        )
        discounted_count += w
    return discounted_count


@kernel(inline=True)
def point_gradient_round(theta, inverse_step_size, radius, low, high, y, t, w, step):
    """``gradient_round`` for the loss ½‖θ - y[t]‖², which is returned."""
    square = 0.0
    for i in range(theta.size):
        step[i] = theta[i] - y[t, i]
        square += step[i] * step[i]
    if w > 0:
        step *= theta.dtype.type(w / inverse_step_size)
        descend(theta, step, radius, low, high)
    return 0.5 * w * square


@kernel
def descend(theta, step, radius, low, high):
    """θ ← the nearest point of the domain to θ - step."""
    for i in range(theta.size):
        theta[i] -= step[i]
    project_point(theta, radius, low, high)


@kernel
def project_point(theta, radius, low, high):
    """θ ← the nearest point of the domain."""
    square, size = 0.0, 0.0
    for i in range(theta.size):
        size = max(size, abs(theta[i]))
    longest = np.finfo(theta.dtype).max ** 0.4  # n of its squares are finite
    if radius < np.inf and size > longest:  # the nearest point depends on the direction
        theta *= theta.dtype.type(longest / size)
    for i in range(theta.size):
        theta[i] = min(max(theta[i], low[i]), high[i])
        square += theta[i] * theta[i]
    if square > radius * radius:
        theta *= theta.dtype.type(radius / math.sqrt(square))
