"""Weights over experts, eight at a time: see learners/exponential_weights.py.

Experts sit in whole vectors; empty seats at the end have weight 0, say 0 and lose all.
"""

import math

import numpy as np

from thalweg.kernels import simd as lanes
from thalweg.kernels.jit import kernel
from thalweg.kernels.simd import WIDTH, larger, load, smaller, spread, store

LARGEST_LOSS = 1e300  # as in learners/exponential_weights.py


@kernel
def mixture(log_weights, predictions, out):
    """Σ w_i p_i as in a run: log_weights (N,), predictions (N, k), out (1, k)."""
    seats = seated(log_weights)
    said = np.zeros((1, out.shape[1], seats.size))
    for i in range(len(predictions)):
        for j in range(out.shape[1]):
            said[0, j, i] = predictions[i, j]
    _mix(seats, said, 0, np.empty(seats.size), out, 0)


@kernel
def seated(log_weights):
    """The same with empty seats."""
    seats = np.full((log_weights.size + WIDTH - 1) // WIDTH * WIDTH, -np.inf)
    for i in range(log_weights.size):
        seats[i] = log_weights[i]
    return seats


@kernel(ieee_division=True)
def mix_rounds(log_weights, rate, heard, points, data, span, trace):
    """Fill in the trace of the rounds of ``span``, of which the experts were ``heard``.

    Shapes: said (R, k, seats) and incurred (R, seats) were heard; points (N, R, n, k)
    or (N, 0, n, k); log_weights (seats,). The rest as in rounds.py.
    """
    said, incurred = heard
    out, loss, played, weights = trace
    experts = len(points)
    shares = np.empty(log_weights.size)
    for i in range(experts, shares.size):
        for row in range(len(said)):
            incurred[row, i] = np.inf
            for j in range(said.shape[1]):
                said[row, j, i] = 0
    for t in range(*span):
        row = t - span[0]
        _mix(log_weights, said, row, shares, out, t)
        loss[t] = _incurred(data[1], data[2], out, t)
        if len(weights):
            for i in range(experts):
                weights[t, i] = shares[i]
        if len(played):
            _mean(shares, points, row, played, t)
        _hedge(log_weights, incurred, row, rate)


@kernel
def _mix(log_weights, said, row, shares, out, t):
    """Weights into ``shares`` (seats,), the weighted mean of said[row] into out[t]."""
    for i in range(0, shares.size, WIDTH):
        store(shares, i, lanes.exp(load(log_weights, i)))
    for j in range(out.shape[1]):
        total = spread(0.0)
        for i in range(0, shares.size, WIDTH):
            total = total + load(shares, i) * load(said, (row, j, i))
        out[t, j] = lanes.total(total)


@kernel(ieee_division=True)
def _incurred(y, weight, out, t):
    root, loss = math.sqrt(weight[t]) if len(weight) else 1.0, 0.0
    for j in range(y.shape[1]):
        loss += 0.5 * (root * (y[t, j] - out[t, j])) ** 2
    return loss


@kernel
def _mean(shares, points, row, played, t):
    """The weighted mean of the points that the experts play."""
    experts, _, n, targets = points.shape
    for i in range(n):
        for j in range(targets):
            mean = 0.0
            for expert in range(experts):
                mean += shares[expert] * points[expert, row, i, j]
            played[t, i, j] = mean


@kernel
def _hedge(log_weights, incurred, row, rate):
    """log w_i ← log w_i - rate·loss_i, normalised."""
    least = spread(LARGEST_LOSS)
    for i in range(0, log_weights.size, WIDTH):
        least = smaller(load(incurred, (row, i)), least)
    best, most = lanes.least(least), spread(-np.inf)
    for i in range(0, log_weights.size, WIDTH):
        loss = smaller(load(incurred, (row, i)), LARGEST_LOSS)
        new = load(log_weights, i) - rate * (loss - best)
        store(log_weights, i, new)
        most = larger(new, most)
    highest, total = lanes.most(most), spread(0.0)
    for i in range(0, log_weights.size, WIDTH):
        new = load(log_weights, i) - highest
        store(log_weights, i, new)
        total = total + lanes.exp(new)
    log_total = math.log(lanes.total(total))
    for i in range(0, log_weights.size, WIDTH):
        store(log_weights, i, load(log_weights, i) - log_total)
