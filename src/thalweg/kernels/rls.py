"""Inner loop of learners/rls.py."""

import math

import numpy as np
from numba import njit

from thalweg.kernels.factor import forget, update
from thalweg.kernels.floor import hold, top_up


@njit(cache=True, error_model="numpy", nogil=True)
def rls(theta, factor, gamma, floor, pull, x, y, weight, elapsed, out, loss, played):
    """Play the rounds (x, y), updating ``theta`` and ``factor`` in place.

    Shapes: theta (n, k), factor (n+3, n), x (T, n), y (T, k), weight and elapsed (T,)
    or empty for all ones, out (T, k), loss (T,), played (T, n, k) or empty.
    All of one dtype and C-contiguous; the caller has checked them.
    """
    v = np.empty(len(theta), theta.dtype)
    image = np.empty(len(theta), theta.dtype)
    for t in range(len(y)):
        if len(played):
            played[t] = theta
        root = math.sqrt(weight[t]) if len(weight) else 1.0
        discount = gamma ** elapsed[t] if len(elapsed) else gamma
        loss[t] = step(theta, factor, discount, root, x, y, t, out, t, v, image)
        if floor > 0:
            top_up(theta, factor, discount, gamma, floor, pull, image, v)


@njit(cache=True, error_model="numpy", inline="always")
def step(theta, factor, discount, root, x, y, t, out, row, v, image):
    """Round t of (x, y): its prediction goes to out[row], its loss is returned.

    ``discount`` is γ to the power of the time elapsed, ``root`` the square root of the
    weight; v and image are (n,) to work in. Whole arrays and an index, since a slice
    costs more than all the arithmetic of a small n.
    """
    n, targets = theta.shape
    root = theta.dtype.type(root)
    for i in range(n):
        v[i] = root * x[t, i]
    forget(factor, theta.dtype.type(discount))
    per_alpha = update(factor, v, image)
    loss = theta.dtype.type(0)
    for j in range(targets):
        prediction = theta.dtype.type(0)
        for i in range(n):
            prediction += x[t, i] * theta[i, j]
        out[row, j] = prediction
        error = root * (y[t, j] - prediction)
        loss += theta.dtype.type(0.5) * error * error
        gain = theta.dtype.type(per_alpha * error)
        for i in range(n):
            theta[i, j] += image[i] * gain
    hold(factor, image, v)
    return loss
