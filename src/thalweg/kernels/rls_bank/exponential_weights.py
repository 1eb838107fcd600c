"""Exponential weights over experts (Hedge), in SIMD vectors of eight.

    prediction = Σ_i w_i p_i,    log w_i ← log w_i - rate·loss_i, normalised

as in learners/exponential_weights.py. Experts are padded to whole vectors: a padded
expert has the weight 0, predicts 0 and has an infinite loss.
"""

import math

import numpy as np

from thalweg.kernels.compiler import simd
from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.simd import (
    WIDTH,
    broadcast,
    load,
    maximum,
    minimum,
    store,
)
from thalweg.kernels.ud_factor import clip, max_coefficient

MAX_LOSS = 1e300
"""Upper limit of a loss, to keep differences finite: infinite ones count as this."""


@kernel
def mixture(log_weights, predictions, out):
    """Σ w_i p_i as in a run: log_weights (N,), predictions (N, k), out (1, k)."""
    padded = padded_log_weights(log_weights)
    expert_predictions = np.zeros((1, out.shape[1], padded.size))
    for i in range(len(predictions)):
        for j in range(out.shape[1]):
            expert_predictions[0, j, i] = predictions[i, j]
    _mix(padded, expert_predictions, 0, np.empty(padded.size), out, 0)


@kernel
def padded_log_weights(log_weights):
    """``log_weights``, with log 0 up to whole vectors."""
    padded = np.full((log_weights.size + WIDTH - 1) // WIDTH * WIDTH, -np.inf)
    for i in range(log_weights.size):
        padded[i] = log_weights[i]
    return padded


@kernel(ieee_division=True, nogil=True)
def mix_rounds(log_weights, rate, results, points, span, trace):
    """Mix the rounds of ``span`` from the ``results`` of the experts, but for the loss.

    Shapes, with N experts padded to M: results are expert_predictions (R, k, M) and
    expert_losses (R, M); points (N, R, n, k') or (N, 0, n, k'); log_weights (M,), which
    are updated in place. The trace is filled in: out (T, k), played (T, n, k') or
    empty, weights (T, N) or empty. k and k' differ where a point itself is predicted.
    """
    expert_predictions, expert_losses = results
    out, played, weights = trace
    experts = len(points)
    expert_weights = np.empty(log_weights.size)
    for i in range(experts, expert_weights.size):
        for row in range(len(expert_predictions)):
            expert_losses[row, i] = np.inf
            for j in range(expert_predictions.shape[1]):
                expert_predictions[row, j, i] = 0
    for t in range(*span):
        row = t - span[0]
        _mix(log_weights, expert_predictions, row, expert_weights, out, t)
        if len(weights):
            for i in range(experts):
                weights[t, i] = expert_weights[i]
        if len(played):
            _set_mean_point(expert_weights, points, row, played, t)
        _update_log_weights(log_weights, expert_losses, row, rate)


@kernel
def _mix(log_weights, expert_predictions, row, expert_weights, out, t):
    """Set ``expert_weights`` (M,) to w, and out[t] to Σ w_i p_i of this row."""
    for i in range(0, expert_weights.size, WIDTH):
        store(expert_weights, i, simd.exp(load(log_weights, i)))
    for j in range(out.shape[1]):
        sums = broadcast(0.0)
        for i in range(0, expert_weights.size, WIDTH):
            predictions = load(expert_predictions, (row, j, i))
            sums = sums + load(expert_weights, i) * predictions
        out[t, j] = simd.reduce_sum(sums)


@kernel(ieee_division=True)
def mixture_loss(y, weight, out, t):
    """½ w_t ‖y_t - out_t‖²."""
    root, loss = math.sqrt(weight[t]) if len(weight) else 1.0, 0.0
    limit = max_coefficient(np.finfo(y.dtype).max)
    for j in range(y.shape[1]):
        loss += 0.5 * clip(root * (y[t, j] - out[t, j]), limit) ** 2
    return loss


@kernel
def _set_mean_point(expert_weights, points, row, played, t):
    """Set played[t] to the weighted mean of the points that the experts play."""
    experts, _, n, targets = points.shape
    for i in range(n):
        for j in range(targets):
            mean = 0.0
            for expert in range(experts):
                mean += expert_weights[expert] * points[expert, row, i, j]
            played[t, i, j] = mean


@kernel
def _update_log_weights(log_weights, expert_losses, row, rate):
    """The Hedge update: log w_i ← log w_i - rate·loss_i, normalised.

    No logarithm falls below -``MAX_LOSS``: from -∞ an expert could not come back.
    """
    lowest = broadcast(MAX_LOSS)
    for i in range(0, log_weights.size, WIDTH):
        lowest = minimum(load(expert_losses, (row, i)), lowest)
    best, largest = simd.reduce_min(lowest), broadcast(-np.inf)
    for i in range(0, log_weights.size, WIDTH):
        loss = minimum(load(expert_losses, (row, i)), MAX_LOSS)
        new = load(log_weights, i) - minimum(rate * (loss - best), MAX_LOSS)
        store(log_weights, i, new)
        largest = maximum(new, largest)
    highest, sums = simd.reduce_max(largest), broadcast(0.0)
    for i in range(0, log_weights.size, WIDTH):
        new = load(log_weights, i) - highest
        store(log_weights, i, new)
        sums = sums + simd.exp(new)
    log_total = math.log(simd.reduce_sum(sums))
    for i in range(0, log_weights.size, WIDTH):
        store(log_weights, i, maximum(load(log_weights, i) - log_total, -MAX_LOSS))
