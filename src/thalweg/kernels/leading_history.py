"""Follow the leading history over whole arrays: the inner loop of learners/flh.py.

The copies that are alive have their states in slots. ``order`` lists the slots of the
living first, the oldest at the front, then the free ones; ``active_from`` and
``log_weights`` follow the same order. A copy plays its rounds by the functions of
kernels/newton.py and kernels/gradient.py that play one round.
"""

import math

import numpy as np

from thalweg.kernels.ball_projection import project_on_ball, projection_workspace
from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.gradient import gradient_round, point_gradient_round
from thalweg.kernels.hedge import mean_point, normalise, update_log_weights
from thalweg.kernels.losses import phi
from thalweg.kernels.newton import newton_round

NEWTON, GRADIENT, POINT_GRADIENT = 0, 1, 2
"""The kinds of experts: learners/newton.py, learners/gradient.py, and the latter for
the loss ½‖θ - y‖²."""


@kernel(ieee_division=True, nogil=True)
def follow_history(expert, formula, domain, rate, slots, living, start, data, trace, t):
    """Play from round ``t`` on, until the rounds end or a copy leaves the domain in a
    way that kernels/ball_projection.py cannot mend.

    Returns the number of rounds played; the copies of ``outside`` are then where their
    last step led. With S slots, K of them in use:
        expert    kind, and three settings: γ, 1/η, full or γ, before, now
        formula   code and shape parameter of the loss; domain: radius, low, high
        slots     theta (S, n), factor (S, n+3, n), discounted_count (S,), outside (S,)
        living    order, active_from, log_weights (S,), and K in an array (1,)
        start     theta (n,) and factor (n+3, n) of a copy that starts
        data      x (T, n), y (T, k), weight and elapsed (T,) or empty for all ones
        trace     to be filled: out (T, k), loss (T,), played (T, n) or empty
    Arrays of a kind that is not played are empty.
    """
    order, active_from, log_weights, count = living
    thetas, outside = slots[0], slots[3]
    weight = data[2]
    losses, mean = np.empty(order.size), np.empty_like(start[0])
    work = np.empty_like(mean), np.empty_like(mean), projection_workspace(mean)
    any_outside = False
    while t < len(data[1]) and not any_outside:
        mean_point(log_weights, thetas, order, count[0], mean)
        _fill_trace(expert[0], formula, mean, data, trace, t)
        for i in range(count[0]):
            slot = order[i]
            losses[i], inside = _play_slot(
                expert, formula, domain, slots, slot, data, t, work
            )
            outside[slot] = not inside
            if len(weight) and weight[t] == 0:  # also where the loss overflows
                losses[i] = 0
        update_log_weights(log_weights, losses, rate, count[0])
        _start_copy(slots, living, start)
        for i in range(count[0]):
            any_outside |= outside[order[i]]
        t += 1
    return t


@kernel(counts_references=False)
def _fill_trace(kind, formula, mean, data, trace, t):
    """Prediction and loss of the mixture, which plays ``mean``."""
    x, y, weight, _ = data
    out, loss, played = trace
    w = weight[t] if len(weight) else 1.0
    for i in range(mean.size if len(played) else 0):
        played[t, i] = mean[i]
    if kind == POINT_GRADIENT:
        square = 0.0
        for i in range(mean.size):
            out[t, i] = mean[i]
            square += (mean[i] - y[t, i]) * (mean[i] - y[t, i])
        loss[t] = 0.5 * w * square
    else:
        p = mean.dtype.type(0)
        for i in range(mean.size):
            p += x[t, i] * mean[i]
        out[t, 0] = p
        loss[t] = w * phi(formula[0], formula[1], p, y[t, 0])


@kernel(ieee_division=True, counts_references=False)
def _play_slot(expert, formula, domain, slots, slot, data, t, work):
    """Let the copy of one slot play a round; returns its loss, and if it is inside."""
    kind, gamma, first, second = expert
    thetas, factors, counts, _ = slots
    x, y, weight, elapsed = data
    (code, shape), (radius, low, high), (v, gain, matrices) = formula, domain, work
    theta = thetas[slot]
    w = weight[t] if len(weight) else 1.0
    discount = gamma ** elapsed[t] if len(elapsed) else gamma
    if kind == NEWTON:
        _, loss, inside = newton_round(
            theta, factors[slot], discount, first, second != 0, code, shape,
            radius, low, high, x, t, y[t, 0], w, v, gain,
        )  # fmt: skip
        inside = inside or project_on_ball(
            theta, factors[slot], radius, low, high, matrices
        )
        return float(loss), inside
    past = counts[slot] * discount
    counts[slot] = past + w
    if kind == GRADIENT:
        _, loss = gradient_round(
            theta, first * past + second * w, code, shape, radius, low, high,
            x, t, y[t, 0], w, v,
        )  # fmt: skip
        return float(loss), True
    loss = point_gradient_round(
        theta, first * past + second * w, radius, low, high, y, t, w, v
    )
    return float(loss), True


@kernel(counts_references=False)
def _start_copy(slots, living, start):
    """End the copies whose time is over, and start one that takes 1/(t+1) of weight."""
    order, active_from, log_weights, count = living
    thetas, factors, counts, outside = slots
    t = active_from[count[0] - 1]
    share, survivors = math.log1p(-1 / (t + 1)), 0
    for i in range(count[0]):
        if t + 1 - active_from[i] <= lifetime(active_from[i]):
            order[survivors], order[i] = order[i], order[survivors]
            active_from[survivors] = active_from[i]
            log_weights[survivors] = log_weights[i] + share
            survivors += 1
    slot = order[survivors]
    active_from[survivors], log_weights[survivors] = t + 1, -math.log(t + 1)
    outside[slot] = False
    for i in range(thetas.shape[1]):
        thetas[slot, i] = start[0][i]
    for i in range(factors.shape[1]):
        for j in range(factors.shape[2]):
            factors[slot, i, j] = start[1][i, j]
    counts[slot] = 0
    count[0] = survivors + 1
    normalise(log_weights, count[0])


@kernel(inline=True)
def lifetime(active_from):
    """After how many rounds a copy has played its last: 4·2^k if it starts in r2^k.

    r is odd: s & -s is the lowest set bit of s.
    """
    return 4 * (active_from & -active_from)
