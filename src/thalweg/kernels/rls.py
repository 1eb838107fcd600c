"""Recursive least squares over whole arrays: the inner loop of learners/rls.py.

Also known as: exponentially weighted RLS with the forgetting factor γ (λ in filtering
texts). With e_t = y_t - x_t·θ_t, the innovation or a priori error,

    P_t = γP_{t-1} + w_t x_t x_tᵀ,    θ_{t+1} = θ_t + w_t e_t P_t⁻¹x_t,

where P_t⁻¹x_t is the gain. P⁻¹ is kept as UD factors (kernels/ud_factor.py) and bounded
against covariance windup (kernels/windup.py). θ stays within ``max_coefficient``, so
that predictions are finite. rls_live.py has the same round for single
calls.
"""

import math

import numpy as np

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.layout import view
from thalweg.kernels.ud_factor import (
    GROWTH,
    bierman_update,
    clip,
    count_growth,
    drop_all_overflow,
    max_coefficient,
)
from thalweg.kernels.windup import CHECK_GROWTH, cap_covariance, restore_ridge


@kernel(ieee_division=True, nogil=True)
def rls(theta, factor, gamma, floor, leaky, x, y, weight, elapsed, out, loss, played):
    """Play the rounds (x, y), updating ``theta`` and ``factor`` in place.

    Shapes: theta (n, k), factor (n+3, n), x (T, n), y (T, k), weight and elapsed (T,)
    or empty for all ones, out (T, k), loss (T,), played (T, n, k) or empty.
    All of one dtype and C-contiguous; the caller has checked them. gamma is the
    forgetting factor, floor the retained ridge or 0, leaky whether it shrinks θ.
    """
    v, gain = np.empty(len(theta), theta.dtype), np.empty(len(theta), theta.dtype)
    data, results = (x, y, weight, elapsed), (out, loss, played)
    _play(theta, factor, gamma, floor, leaky, data, results, v, gain)
    drop_all_overflow(factor)


# Counting references to arrays takes a fifth of a round at n = 8.
@kernel(ieee_division=True, counts_references=False)
def _play(theta, factor, gamma, floor, leaky, data, results, v, gain):
    x, y, weight, elapsed = data
    out, loss, played = results
    n, t, discount = len(theta), 0, gamma
    while t < len(y):
        # Rounds in which nothing but the update is to be done: calls of other functions
        # out of this loop make it slower even where they are not made.
        while t < len(y):
            # Entry by entry: assigning to a slice takes the compiler seconds.
            for i in range(n if len(played) else 0):
                for j in range(theta.shape[1]):
                    played[t, i, j] = theta[i, j]
            root = math.sqrt(weight[t]) if len(weight) else 1.0
            discount = gamma ** elapsed[t] if len(elapsed) else gamma
            loss[t] = uncapped_round(
                theta, factor, discount, root, x, y, t, out, t, v, gain
            )
            t += 1
            if floor > 0 or factor[GROWTH, 0] >= CHECK_GROWTH:
                break
        cap_covariance(factor, gain, v)
        if floor > 0:
            restore_ridge(theta, factor, discount, gamma, floor, leaky, gain, v)


@kernel(ieee_division=True, inline=True)
def rls_round(theta, factor, discount, root, x, y, t, out, row, v, gain):
    """Round t of (x, y): its prediction goes to out[row], its loss is returned."""
    loss = uncapped_round(theta, factor, discount, root, x, y, t, out, row, v, gain)
    cap_covariance(factor, gain, v)
    return loss


@kernel(ieee_division=True, inline=True)
def uncapped_round(theta, factor, discount, root, x, y, t, out, row, v, gain):
    """``rls_round`` without ``cap_covariance``.

    ``discount`` is γ to the power of the time elapsed, ``root`` the square root of the
    weight; v and gain are (n,) to work in. Whole arrays and an index, since a slice
    costs more than all the arithmetic of a small n.
    """
    n, targets = theta.shape
    root = theta.dtype.type(root)
    for i in range(n):
        v[i] = root * x[t, i]
    # First what needs no factor: it is done while the rest waits for its own sums.
    if targets == 1:
        prediction = theta.dtype.type(0)
        for i in range(n):
            prediction += x[t, i] * theta[i, 0]
        out[row, 0] = prediction
    else:
        predict_targets(theta, x, t, out, row)
    growth = count_growth(factor, theta.dtype.type(discount))
    inverse_alpha = bierman_update(factor, v, gain, growth)
    if targets > 1:
        return _move_targets(theta, root, inverse_alpha, y, t, out, row, gain)
    largest = np.finfo(theta.dtype).max
    limit = theta.dtype.type(max_coefficient(largest))
    innovation = clip(root * (y[t, 0] - out[row, 0]), largest)
    error = clip(innovation, limit)
    step = theta.dtype.type(inverse_alpha * innovation)
    column = view(theta, 0, (n,))  # a plain vector: several are moved at a time
    for i in range(n):
        column[i] = clip(column[i] + gain[i] * step, limit)
    return theta.dtype.type(0.5) * error * error


@kernel(ieee_division=True, inline=True)
def predict_targets(theta, x, t, out, row):
    """The predictions of all targets in round t into out[row], each added up over i.

    Along the targets, which lie next to each other: several are computed at a time.
    """
    n, targets = theta.shape
    sums = view(out, row * targets, (targets,))
    for j in range(targets):
        sums[j] = 0
    for i in range(n):
        point, feature = view(theta, i * targets, (targets,)), x[t, i]
        for j in range(targets):
            sums[j] += feature * point[j]


@kernel(ieee_division=True, inline=True)
def _move_targets(theta, root, inverse_alpha, y, t, out, row, gain):
    """θ ← θ + gain · innovation, along the targets as above; returns the loss."""
    n, targets = theta.shape
    largest = np.finfo(theta.dtype).max
    limit = theta.dtype.type(max_coefficient(largest))
    labels = view(y, t * targets, (targets,))
    predictions = view(out, row * targets, (targets,))
    for i in range(n):
        point, own_gain = view(theta, i * targets, (targets,)), gain[i]
        for j in range(targets):
            # Computed again for every i, which costs less than storing it in an array.
            innovation = clip(root * (labels[j] - predictions[j]), largest)
            step = theta.dtype.type(inverse_alpha * innovation)
            point[j] = clip(point[j] + own_gain * step, limit)
    loss = theta.dtype.type(0)
    for j in range(targets):
        error = clip(clip(root * (labels[j] - predictions[j]), largest), limit)
        loss += theta.dtype.type(0.5) * error * error
    return loss
