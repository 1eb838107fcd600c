"""Inner loop of the logistic Tracker: experts on logistic loss, mixed by Bayes."""

import math

import numpy as np
from numba import njit

from thalweg.kernels.losses import sigmoid
from thalweg.kernels.ud_factor import forget, learn
from thalweg.kernels.windup import hold

LEAST_CURVATURE = 1e-3
"""σ(1-σ) is taken for at least this: where labels are all but certain, a Newton step
on next to no curvature would be boundless."""
RADIUS = 50.0
"""Features have unit spread, so that ‖θ‖ beyond this says no more than certainty."""


@njit(cache=True, error_model="numpy", nogil=True)
def odds(
    theta, factor, weights, scale, gamma, rate, certainty, x, y, weight, elapsed, out
):  # fmt: skip
    """Play the rounds (x, y), updating the first four in place; no y: only predict.

    Shapes: gamma (N,) of the Newton experts, rate (R,) of those that take gradient
    steps, theta (N+R, n+1), factor (N, n+4, n+1), weights (N+R,), scale (3, n): rounds
    seen, mean and summed squares of each feature; x (T, n), y, weight, elapsed (T,) or
    empty, out (T,): the probability of the label 1, within ``certainty`` of neither 0
    nor 1.
    """
    experts, size = theta.shape
    z, v, image = np.empty(size), np.empty(size), np.empty(size)
    said = np.empty(experts)
    for t in range(len(x)):
        standardise(scale, x, t, z)
        out[t] = 0.0
        for k in range(experts):
            p = 0.0
            for i in range(size):
                p += theta[k, i] * z[i]
            said[k] = min(max(sigmoid(p), certainty), 1 - certainty)
            out[t] += weights[k] * said[k]
        if len(y) == 0:
            continue
        w = weight[t] if len(weight) else 1.0
        e = elapsed[t] if len(elapsed) else 1.0
        notice(scale, x, t)
        bayes(weights, said, y[t], w, scale[0, 0])
        for k in range(gamma.size):
            newton(theta, factor, k, gamma[k] ** e, z, y[t], w, v, image)
        for k in range(rate.size):
            gradient(theta, gamma.size + k, rate[k], z, y[t], w)


@njit(cache=True, error_model="numpy")
def newton(theta, factor, k, discount, z, y, w, v, image):
    """A full Newton step of expert k."""
    p = 0.0
    for i in range(z.size):
        p += theta[k, i] * z[i]
    slope = sigmoid(p) - y
    root = math.sqrt(w * max(sigmoid(p) * sigmoid(-p), LEAST_CURVATURE))
    for i in range(z.size):
        v[i] = root * z[i]
    own = factor[k]
    forget(own, discount)
    learn(own, v, image)
    descend(theta, k, w * slope / root if root > 0 else 0.0, image)
    hold(own, image, v)


@njit(cache=True)
def gradient(theta, k, rate, z, y, w):
    """A gradient step of expert k, which is the better where θ walks."""
    p = 0.0
    for i in range(z.size):
        p += theta[k, i] * z[i]
    descend(theta, k, rate * w * (sigmoid(p) - y), z)


@njit(cache=True, error_model="numpy")
def descend(theta, k, length, direction):
    """θ_k less so much of ``direction``, held in the ball of radius ``RADIUS``."""
    square = 0.0
    for i in range(direction.size):
        theta[k, i] -= length * direction[i]
        square += theta[k, i] * theta[k, i]
    if square > RADIUS * RADIUS:
        for i in range(direction.size):
            theta[k, i] *= RADIUS / math.sqrt(square)


@njit(cache=True)
def bayes(weights, said, y, w, t):
    """w_k ← w_k times the probability it gave to y, then 1/(t+1) shared out to all."""
    best = -math.inf
    for k in range(said.size):
        said[k] = w * (y * math.log(said[k]) + (1 - y) * math.log(1 - said[k]))
        best = max(best, said[k])
    total = 0.0
    for k in range(said.size):
        weights[k] *= math.exp(said[k] - best)
        total += weights[k]
    share = 1 / (t + 1)
    for k in range(said.size):
        weights[k] = (1 - share) * weights[k] / total + share / said.size


@njit(cache=True)
def standardise(scale, x, t, z):
    """x in units of what was seen before it, and a constant 1 behind it."""
    n = x.shape[1]
    for i in range(n):
        spread = math.sqrt(scale[2, i] / scale[0, i]) if scale[0, i] > 1 else 0.0
        z[i] = (x[t, i] - scale[1, i]) / spread if spread > 0 else 0.0
        z[i] = min(max(z[i], -RADIUS), RADIUS)
    z[n] = 1.0


@njit(cache=True)
def notice(scale, x, t):
    """Running mean and summed squares of every feature (Welford)."""
    for i in range(x.shape[1]):
        scale[0, i] += 1
        away = x[t, i] - scale[1, i]
        scale[1, i] += away / scale[0, i]
        scale[2, i] += away * (x[t, i] - scale[1, i])
