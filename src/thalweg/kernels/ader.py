"""Ader over whole arrays: the inner loop of learners/ader.py."""

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.gradient import (
    descend,
    gradient_round,
    point_gradient_round,
    project_point,
)
from thalweg.kernels.hedge import mean_point, update_log_weights
from thalweg.kernels.losses import phi, slope
from thalweg.kernels.rls_bank.exponential_weights import MAX_LOSS


@kernel(ieee_division=True, nogil=True)
def ader(
    theta, log_weights, points, step_sizes, rate, surrogate,
    formula, domain, data, trace,
):  # fmt: skip
    """Play the rounds, updating the state in place.

    Shapes: theta (n,), log_weights and step_sizes (N,), points (N, n). Formula: whether
    the loss is ½‖θ - y‖², else code and shape parameter of φ. Domain: radius, low,
    high. Data: x (T, n), y (T, k), weight (T,) or empty. Trace, to be filled in: out
    (T, k), loss (T,), played (T, n) or empty, recorded log weights (T, N) or empty.
    """
    out, loss, played, recorded = trace
    weight, (radius, low, high) = data[2], domain
    losses, order = np.empty(len(points)), np.arange(len(points))
    grad, work = np.empty_like(theta), np.empty_like(theta)
    for t in range(len(out)):
        for i in range(theta.size if len(played) else 0):
            played[t, i] = theta[i]
        for i in range(len(points) if len(recorded) else 0):
            recorded[t, i] = log_weights[i]
        w = weight[t] if len(weight) else 1.0
        loss[t] = _set_gradient(formula, theta, data, t, w, out, grad)
        for i in range(len(points)):
            if surrogate:
                cost = _surrogate_round(
                    points[i], theta, grad, step_sizes[i], domain, work
                )
            else:
                cost = _expert_round(
                    points[i], 1 / step_sizes[i], formula, domain, data, t, w, work
                )
            # A loss that is not a number counts as the largest.
            losses[i] = max(cost, -MAX_LOSS) if cost < np.inf else MAX_LOSS
            if w == 0:
                losses[i] = 0
        update_log_weights(log_weights, losses, rate, len(points))
        mean_point(log_weights, points, order, len(points), theta)
        project_point(theta, radius, low, high)  # the weights may not sum to 1


@kernel(ieee_division=True, counts_references=False)
def _set_gradient(formula, theta, data, t, w, out, grad):
    """Predict from θ, set ``grad`` to the gradient of the loss, which is returned."""
    x, y, _ = data
    is_point, code, shape = formula
    if is_point:
        square = 0.0
        for i in range(theta.size):
            out[t, i] = theta[i]
            distance = theta[i] - y[t, i]
            square += distance * distance
            grad[i] = w * distance
        return 0.5 * w * square
    p = theta.dtype.type(0)
    for i in range(theta.size):
        p += x[t, i] * theta[i]
    out[t, 0] = p
    rate = w * slope(code, shape, p, y[t, 0])
    for i in range(theta.size):
        grad[i] = rate * x[t, i]
    return w * phi(code, shape, p, y[t, 0])


@kernel(counts_references=False)
def _surrogate_round(point, theta, grad, step_size, domain, step):
    """A step against ``grad``; returns the surrogate loss ⟨∇, point - θ⟩ before it."""
    radius, low, high = domain
    longest = np.finfo(theta.dtype).max ** 0.5
    cost = 0.0
    for i in range(theta.size):
        cost += (point[i] - theta[i]) * grad[i]
        step[i] = min(max(step_size * grad[i], -longest), longest)
    descend(point, step, radius, low, high)
    return cost


@kernel(ieee_division=True, counts_references=False)
def _expert_round(point, inverse_step_size, formula, domain, data, t, w, step):
    """A step on the round's own loss; returns the loss before the step."""
    x, y, _ = data
    (is_point, code, shape), (radius, low, high) = formula, domain
    if is_point:
        cost = point_gradient_round(
            point, inverse_step_size, radius, low, high, y, t, w, step
        )
        return float(cost)
    _, cost = gradient_round(
        point, inverse_step_size, code, shape, radius, low, high, x, t, y[t, 0], w, step
    )
    return float(cost)
