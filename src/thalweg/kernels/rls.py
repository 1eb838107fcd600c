"""Inner loop of learners/rls.py."""

import math

import numpy as np
from numba import njit

from thalweg.kernels.factor import forget, learn
from thalweg.kernels.floor import hold, top_up


@njit(cache=True)
def rls(theta, factor, gamma, floor, pull, x, y, weight, elapsed, out, loss, played):
    """Play the rounds (x, y), updating ``theta`` and ``factor`` in place.

    Shapes: theta (n, k), factor (n+3, n), x (T, n), y (T, k), weight and elapsed (T,)
    or empty for all ones, out (T, k), loss (T,), played (T, n, k) or empty.
    All of one dtype and C-contiguous; the caller has checked them.
    """
    work = np.empty((2, len(theta)), theta.dtype)
    for t in range(len(y)):
        if len(played):
            played[t] = theta
        w = weight[t] if len(weight) else 1.0
        e = elapsed[t] if len(elapsed) else 1.0
        loss[t] = step(
            theta, factor, gamma, floor, pull, x[t], y[t], w, e, out[t], work
        )


@njit(cache=True)
def step(theta, factor, gamma, floor, pull, x, y, weight, elapsed, out, work):
    """One round; the prediction goes to ``out`` (k,) and the loss is returned."""
    n, targets = theta.shape
    v, image = work[0], work[1]
    root = theta.dtype.type(math.sqrt(weight))
    for i in range(n):
        v[i] = root * x[i]
    forget(factor, theta.dtype.type(gamma**elapsed))
    learn(factor, v, image)
    loss = theta.dtype.type(0)
    for j in range(targets):
        prediction = theta.dtype.type(0)
        for i in range(n):
            prediction += x[i] * theta[i, j]
        out[j] = prediction
        error = root * (y[j] - prediction)
        loss += theta.dtype.type(0.5) * error * error
        for i in range(n):
            theta[i, j] += image[i] * error
    hold(factor, image, v)
    if floor > 0:
        top_up(theta, factor, gamma, floor, pull, image, v)
    return loss
