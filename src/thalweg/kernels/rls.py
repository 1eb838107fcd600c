"""Inner loop of learners/rls.py."""

import math

import numpy as np

from thalweg.kernels.jit import kernel
from thalweg.kernels.ud_factor import forget, update
from thalweg.kernels.windup import LOOK, hold, top_up


@kernel(ieee_division=True, nogil=True)
def rls(theta, factor, gamma, floor, pull, x, y, weight, elapsed, out, loss, played):
    """Play the rounds (x, y), updating ``theta`` and ``factor`` in place.

    Shapes: theta (n, k), factor (n+3, n), x (T, n), y (T, k), weight and elapsed (T,)
    or empty for all ones, out (T, k), loss (T,), played (T, n, k) or empty.
    All of one dtype and C-contiguous; the caller has checked them.
    """
    v, image = np.empty(len(theta), theta.dtype), np.empty(len(theta), theta.dtype)
    data, results = (x, y, weight, elapsed), (out, loss, played)
    _rounds(theta, factor, gamma, floor, pull, data, results, v, image)


# Without counting references to arrays, which takes a fifth of a round at n = 8: all of
# them are held by the caller.
@kernel(ieee_division=True, counts_references=False)
def _rounds(theta, factor, gamma, floor, pull, data, results, v, image):
    x, y, weight, elapsed = data
    out, loss, played = results
    n, t, discount = len(theta), 0, gamma
    while t < len(y):
        # Rounds in which nothing but the step is to be done: calls of other functions
        # out of this loop make it slower even where they are not made.
        while t < len(y):
            # Entry by entry: assigning to a slice takes the compiler seconds.
            for i in range(n if len(played) else 0):
                for j in range(theta.shape[1]):
                    played[t, i, j] = theta[i, j]
            root = math.sqrt(weight[t]) if len(weight) else 1.0
            discount = gamma ** elapsed[t] if len(elapsed) else gamma
            loss[t] = advance(theta, factor, discount, root, x, y, t, out, t, v, image)
            t += 1
            if floor > 0 or factor[n + 2, 0] >= LOOK:
                break
        hold(factor, image, v)
        if floor > 0:
            top_up(theta, factor, discount, gamma, floor, pull, image, v)


@kernel(ieee_division=True, inline=True)
def step(theta, factor, discount, root, x, y, t, out, row, v, image):
    """One round, then ``hold``: its prediction goes to out[row], returns its loss."""
    loss = advance(theta, factor, discount, root, x, y, t, out, row, v, image)
    hold(factor, image, v)
    return loss


@kernel(ieee_division=True, inline=True)
def advance(theta, factor, discount, root, x, y, t, out, row, v, image):
    """Round t of (x, y) but for ``hold``: prediction to out[row], the loss returned.

    ``discount`` is γ to the power of the time elapsed, ``root`` the square root of the
    weight; v and image are (n,) to work in. Whole arrays and an index, since a slice
    costs more than all the arithmetic of a small n.
    """
    n, targets = theta.shape
    root = theta.dtype.type(root)
    for i in range(n):
        v[i] = root * x[t, i]
    # First what needs no factor: it is done while the rest waits for its own sums.
    for j in range(targets):
        prediction = theta.dtype.type(0)
        for i in range(n):
            prediction += x[t, i] * theta[i, j]
        out[row, j] = prediction
    forget(factor, theta.dtype.type(discount))
    per_alpha = update(factor, v, image)
    loss = theta.dtype.type(0)
    for j in range(targets):
        error = root * (y[t, j] - out[row, j])
        loss += theta.dtype.type(0.5) * error * error
        gain = theta.dtype.type(per_alpha * error)
        for i in range(n):
            theta[i, j] += image[i] * gain
    return loss
